//! Measures how often each task gets the lock, and how long the tasks wait.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use clock::runtime::{Runtime, TokioCurrent, TokioMulti};
use clock::{Args, for_each_mutex};
use results::Fairness;
use scenarios::lock::Mutex;

/// The tasks, all of which want the lock all the time.
const TASKS: usize = 16;

fn main() {
    let args = Args::read();
    let (time, rounds) = if args.is_quick { (Duration::from_millis(20), 1) } else { (Duration::from_millis(200), 9) };
    let mut points: Vec<Fairness> = Vec::new();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        macro_rules! mutex {
            ($name:expr, $mutex:ty) => {
                points.push(serve::<TokioCurrent, $mutex>($name, time));
                points.push(serve::<TokioMulti, $mutex>($name, time));
            };
        }
        for_each_mutex!(mutex);
    }
    results::write(&args.file, &typical(points, rounds)).expect("the file can be written");
}

/// For each lock, the round whose longest wait is the median. Of many thousand waits, the longest comes from the
/// scheduler as often as from the lock.
fn typical(mut points: Vec<Fairness>, rounds: usize) -> Vec<Fairness> {
    let mut typical = Vec::new();
    while let Some(first) = points.first() {
        let (lock, runtime) = (first.lock.clone(), first.runtime.clone());
        let (mut of_this, others): (Vec<_>, Vec<_>) =
            points.into_iter().partition(|point| point.lock == lock && point.runtime == runtime);
        of_this.sort_by(|a, b| a.wait_max_us.total_cmp(&b.wait_max_us));
        typical.push(of_this.swap_remove(rounds / 2));
        points = others;
    }
    typical
}

/// All tasks take the mutex again and again, and hold it over a yield, until the time is over.
fn serve<R: Runtime, M: Mutex>(name: &str, time: Duration) -> Fairness {
    let (mutex, is_over) = (Arc::new(M::new()), Arc::new(AtomicBool::new(false)));
    let (sender, receiver) = mpsc::channel();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (mutex, is_over, sender) = (Arc::clone(&mutex), Arc::clone(&is_over), sender.clone());
            async move {
                let mut waits = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    let guard = mutex.lock().await;
                    waits.push(start.elapsed());
                    // A turn that begins after the end does not count.
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    R::yield_now().await;
                    drop(guard);
                }
                sender.send(waits).expect("the receiver is there");
            }
        })
        .collect();
    drop(sender);
    let runtime = R::new();
    let end = thread::spawn(move || {
        thread::sleep(time);
        is_over.store(true, Ordering::Relaxed);
    });
    let took = runtime.run(tasks);
    end.join().expect("the thread only sleeps");
    let waits: Vec<Vec<Duration>> = receiver.iter().collect();
    let turns: Vec<u64> = waits.iter().map(|waits| waits.len() as u64 - 1).collect();
    let mut waits: Vec<Duration> = waits.into_iter().flatten().collect();
    waits.sort_unstable();
    let wait_us = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_nanos() as f64 / 1e3;
    let sum: u64 = turns.iter().sum();
    let squares: f64 = turns.iter().map(|&turns| (turns as f64).powi(2)).sum();
    Fairness {
        runtime: R::NAME.to_owned(),
        lock: name.to_owned(),
        turns_per_s: sum as f64 / took.as_secs_f64(),
        most: turns.iter().copied().max().unwrap_or(0),
        least: turns.iter().copied().min().unwrap_or(0),
        jain: (sum as f64).powi(2) / (squares * TASKS as f64),
        wait_p50_us: wait_us(0.5),
        wait_p99_us: wait_us(0.99),
        wait_max_us: wait_us(1.0),
    }
}
