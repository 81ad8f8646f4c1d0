//! Measures nanoseconds per operation.

use std::rc::Rc;

use clock::round::{Case, Plan, time};
use clock::runtime::{Runtime, Smol, TokioCurrent, TokioMulti};
use clock::{Args, for_each_mutex, for_each_rwlock, tasks, thread};
use scenarios::lock::{Mutex, RwLock};

const NO_RUNTIME: &str = "no runtime";
/// The row without a lock.
const FLOOR: &str = "bare atomics";
const TASKS: [u64; 4] = [2, 8, 64, 1_024];

fn main() {
    let args = Args::read();
    let mut cases = vec![
        Case::new("mutex: lock, unlock", NO_RUNTIME, FLOOR, |count| Some(thread::bare(count))),
        Case::new("read, unlock", NO_RUNTIME, FLOOR, |count| Some(thread::bare_read(count))),
    ];
    macro_rules! mutex {
        ($name:expr, $mutex:ty) => {
            on_thread::<$mutex>($name, &mut cases);
        };
    }
    for_each_mutex!(mutex);
    macro_rules! rwlock {
        ($name:expr, $lock:ty) => {
            rwlock_on_thread::<$lock>($name, &mut cases);
        };
    }
    for_each_rwlock!(rwlock);
    on_runtime::<TokioCurrent>(&mut cases);
    on_runtime::<TokioMulti>(&mut cases);
    on_runtime::<Smol>(&mut cases);
    cases.retain(|case| args.only.as_ref().is_none_or(|only| case.title().contains(only)));
    let timings = time(&cases, Plan::new(args.is_quick));
    results::write(&args.file, &timings).expect("the file can be written");
}

fn on_thread<M: Mutex>(name: &'static str, cases: &mut Vec<Case>) {
    cases.push(Case::new("mutex: lock, unlock", NO_RUNTIME, name, |count| Some(thread::lock::<M>(count))));
    let row = format!("mutex: turn, {} queued", thread::QUEUED);
    cases.push(Case::new(row, NO_RUNTIME, name, thread::turn::<M>));
}

fn rwlock_on_thread<L: RwLock>(name: &'static str, cases: &mut Vec<Case>) {
    cases.push(Case::new("read, unlock", NO_RUNTIME, name, |count| Some(thread::read::<L>(count))));
    cases.push(Case::new("write, unlock", NO_RUNTIME, name, |count| Some(thread::write::<L>(count))));
}

fn on_runtime<R: Runtime>(cases: &mut Vec<Case>) {
    let runtime = Rc::new(R::new());
    for (count, yields, row) in mutex_rows() {
        let runtime = Rc::clone(&runtime);
        let run = move |turns| Some(tasks::relay(&*runtime, count, yields, turns));
        cases.push(Case::new(row, R::NAME, FLOOR, run));
    }
    macro_rules! mutex {
        ($name:expr, $mutex:ty) => {
            mutex_on_runtime::<R, $mutex>(&runtime, $name, cases);
        };
    }
    for_each_mutex!(mutex);
    macro_rules! rwlock {
        ($name:expr, $lock:ty) => {
            rwlock_on_runtime::<R, $lock>(&runtime, $name, cases);
        };
    }
    for_each_rwlock!(rwlock);
}

/// The number of tasks that contend, whether they hold the mutex over a yield, and the name of the row.
fn mutex_rows() -> impl Iterator<Item = (u64, bool, String)> {
    let holding = [(true, "hold over a yield"), (false, "no await inside")];
    TASKS.into_iter().flat_map(move |count| {
        holding.map(|(yields, holding)| (count, yields, format!("mutex: {count} tasks, {holding}")))
    })
}

fn mutex_on_runtime<R: Runtime, M: Mutex>(runtime: &Rc<R>, name: &'static str, cases: &mut Vec<Case>) {
    for (count, yields, row) in mutex_rows() {
        let runtime = Rc::clone(runtime);
        let run = move |turns| Some(tasks::mutex::<R, M>(&runtime, count, yields, turns));
        cases.push(Case::new(row, R::NAME, name, run));
    }
    let runtime = Rc::clone(runtime);
    cases.push(Case::new("mutex: ping-pong", R::NAME, name, move |turns| {
        Some(tasks::ping_pong::<R, M>(&runtime, turns))
    }));
}

fn rwlock_on_runtime<R: Runtime, L: RwLock>(runtime: &Rc<R>, name: &'static str, cases: &mut Vec<Case>) {
    for reads in [95, 50] {
        let runtime = Rc::clone(runtime);
        let row = format!("read-write lock: 64 tasks, {reads} % read, hold over a yield");
        cases.push(Case::new(row, R::NAME, name, move |turns| Some(tasks::rwlock::<R, L>(&runtime, 64, reads, turns))));
    }
}
