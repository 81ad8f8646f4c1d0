//! Smaller programs that fail in the same way.

use super::{Child, Executor, Lock, Order, Program, Raw, Shape};

/// All children that are one step smaller than this one.
fn children(child: Child) -> Vec<Child> {
    let shapes = match child.shape {
        Shape::Polls(polls) => [1, 2, 3, polls / 2, polls.saturating_sub(1)].map(Shape::Polls).to_vec(),
        Shape::Parks(rounds) => vec![Shape::Polls(1), Shape::Parks(1), Shape::Parks(rounds / 2)],
        Shape::ForEver => vec![Shape::Polls(1)],
        Shape::Drops(rounds, how) => vec![Shape::Polls(1), Shape::Drops(1, how), Shape::Drops(rounds / 2, how)],
        Shape::Timed(rounds) => vec![Shape::Polls(1), Shape::Timed(1), Shape::Timed(rounds / 2)],
    };
    let mut smaller: Vec<Child> = shapes
        .into_iter()
        .filter(|shape| match (shape, child.shape) {
            (Shape::Polls(new), Shape::Polls(old))
            | (Shape::Parks(new), Shape::Parks(old))
            | (Shape::Timed(new), Shape::Timed(old))
            | (Shape::Drops(new, _), Shape::Drops(old, _)) => *new > 0 && *new < old,
            _ => true,
        })
        .map(|shape| Child { shape, ..child })
        .collect();
    smaller.extend([
        Child { hold: 1, ..child },
        Child { hold: 2, ..child },
        Child { rest: 0, ..child },
        Child { own_waker: false, ..child },
    ]);
    smaller.retain(|new| *new != child && new.hold <= child.hold);
    smaller
}

/// All programs that are one step smaller than this one.
fn steps(program: &Program) -> Vec<Program> {
    let mut smaller = Vec::new();
    let mut add = |change: &dyn Fn(&mut Program)| {
        let mut new = program.clone();
        change(&mut new);
        if new != *program && new.tasks.iter().all(|task| !task.children.is_empty()) && !new.tasks.is_empty() {
            smaller.push(new);
        }
    };
    for n in 0..program.tasks.len() {
        add(&|new| drop(new.tasks.remove(n)));
        add(&|new| new.tasks[n].start = 0);
        add(&|new| new.tasks[n].start /= 2);
        add(&|new| new.tasks[n].order = Order::Biased);
        for at in 0..program.tasks[n].children.len() {
            add(&|new| {
                new.tasks[n].children.remove(at);
            });
            for child in children(program.tasks[n].children[at]) {
                add(&|new| new.tasks[n].children[at] = child);
            }
        }
    }
    add(&|new| new.raw = Raw::Local);
    add(&|new| new.executor = Executor::EachRound);
    add(&|new| new.turns = new.turns.map(|turns| turns.div_ceil(2)));
    add(&|new| {
        if let Lock::RwLock(_, max_readers) = &mut new.lock {
            *max_readers = 1000;
        }
    });
    smaller
}

/// The smallest failing program that is found, and its failure.
#[must_use]
pub(super) fn smallest(
    program: &Program,
    fault: String,
    rule: impl Fn(&Program) -> Result<(), String>,
) -> (Program, String) {
    let mut found = (program.clone(), fault);
    while let Some(next) = steps(&found.0).into_iter().find_map(|new| rule(&new).err().map(|fault| (new, fault))) {
        found = next;
    }
    found
}
