//! The rules by which the two runs of a program must agree.

use super::run::{Event, Outcome, Side, run};
use super::shrink::smallest;
use super::{Child, Executor, Kind, Program, Shape, Task};
use core::fmt::Write;

/// A rule about one program.
pub type Rule = fn(&Program) -> Result<(), String>;

/// Asserts a rule of a program.
///
/// # Panics
///
/// If the program breaks the rule. The message has the smallest program that was found to break the rule, and the end
/// of its run.
#[track_caller]
pub fn check(program: &Program, rule: Rule) {
    let Err(fault) = rule(program) else { return };
    let (small, fault) = smallest(program, fault, rule);
    panic!("{fault}\n{small}{small:?}\nfound as\n{program}");
}

fn no_fault(outcome: &Outcome, side: Side) -> Result<(), String> {
    outcome.fault.as_ref().map_or(Ok(()), |fault| Err(format!("{side:?} the rescue: {fault}")))
}

/// Asserts that the reference predicted each poll of a run without the rescue.
fn no_rescue(outcome: &Outcome, side: Side) -> Result<(), String> {
    no_fault(outcome, side)?;
    let Some(child) = outcome.rescued else { return Ok(()) };
    Err(format!("{side:?}: child {child} is not served in its turn\n{}", tail(outcome)))
}

/// The last events of a run.
fn tail(outcome: &Outcome) -> String {
    let mut text = String::new();
    let shown = outcome.trace.len().saturating_sub(EVENTS_SHOWN);
    for (round, child, event) in &outcome.trace[shown..] {
        let _ = writeln!(text, "  round {round}: child {child} {event:?}");
    }
    text
}

const EVENTS_SHOWN: usize = 12;

/// Runs the program with the rescue and without it.
fn both(program: &Program) -> Result<(Outcome, Outcome), String> {
    let (with, without) = (run(program, Side::With), run(program, Side::Without));
    no_rescue(&without, Side::Without)?;
    no_fault(&with, Side::With)?;
    Ok((with, without))
}

/// A child that has at least this many turns without the rescue, in the second half of a run, must have a tenth of them
/// with the rescue. With fewer turns a tenth says nothing.
const TURNS_MIN: u32 = 12;

/// The part of its turns that a child must keep at least, as a divisor.
///
/// A select loop may poll a hundred times in a round, and then is served more often than a sibling that polls once. The
/// doubling of R1 bounds how much more often. Below a tenth, the sibling starves.
/// doubling bounds how much more, and below a tenth is starvation.
const PART: u32 = 10;

/// R0: no child starves that would not starve without the rescue. The first half of a run does not count. In the second
/// half a child starves if it has less than a tenth of the turns that it has without the rescue.
///
/// [`no_harm_to_the_impatient`] tests the children that give up.
pub fn no_harm(program: &Program) -> Result<(), String> {
    no_harm_to(program, Shape::goes_on)
}

/// R0 for children that give up: by a timeout, or because a `select!` drops them. All children ask for the same kind.
///
/// A program with limits of some rounds can stay out of step with a child for good, and one guard out of turn can start
/// that. No rescue that acts at all could avoid this. So the rule counts as harm only that a child starves while guards
/// still go out of turn in the second half of a run.
pub fn no_harm_to_the_impatient(program: &Program) -> Result<(), String> {
    let goes_on = |program: &Program| {
        let (with, without) = both(program)?;
        if with.late_swaps == 0 { Ok(()) } else { harm(program, &with, &without, |shape| !shape.goes_on()) }
    };
    // A lock learns only from some tens of disturbed waits, so the longer run decides.
    goes_on(program).or_else(|_| goes_on(&Program { rounds: program.rounds * 8, ..program.clone() }))
}

fn no_harm_to(program: &Program, is_asked: fn(Shape) -> bool) -> Result<(), String> {
    let (with, without) = both(program)?;
    harm(program, &with, &without, is_asked)
}

fn harm(program: &Program, with: &Outcome, without: &Outcome, is_asked: fn(Shape) -> bool) -> Result<(), String> {
    let turns = with.late_turns.iter().zip(&without.late_turns);
    for ((child, plan), (with_it, without_it)) in program.children().enumerate().zip(turns) {
        if is_asked(plan.shape) && *without_it >= TURNS_MIN && with_it * PART < *without_it {
            return Err(format!(
                "child {child} starves: turns with the rescue {:?}, without {:?}; in the second half {:?} and {:?}",
                with.turns, without.turns, with.late_turns, without.late_turns
            ));
        }
    }
    Ok(())
}

/// R0: no rescue happens. If each task is polled in each round, the two traces are equal. Otherwise a wake that the
/// rescue adds may move a round, and only the reference can tell.
pub fn nothing_is_rescued(program: &Program) -> Result<(), String> {
    let (with, without) = both(program)?;
    no_rescue(&with, Side::With)?;
    if with.swaps > 0 {
        return Err(format!("{} guards went to a sibling", with.swaps));
    }
    if program.executor == Executor::EachRound && with.trace != without.trace {
        let differs = with.trace.iter().zip(&without.trace).find(|(with, without)| with != without);
        return Err(format!("the traces differ, first at {differs:?} (with, without)"));
    }
    Ok(())
}

/// R10 and R11: children with a waker each are served as on a platform without the rescue, up to the last event.
pub fn apart_is_without(program: &Program) -> Result<(), String> {
    let (apart, without) = (run(program, Side::Apart), run(program, Side::Without));
    no_rescue(&without, Side::Without)?;
    no_rescue(&apart, Side::Apart)?;
    let differs = apart.trace.iter().zip(&without.trace).find(|(apart, without)| apart != without);
    if apart.trace.len() != without.trace.len() || differs.is_some() {
        return Err(format!("the traces differ, first at {differs:?} (apart, without)"));
    }
    Ok(())
}

/// R1: a program ends if each task waits for its own parked futures only.
///
/// The rounds are bounded. A theft takes three polls of the thief, and each parked future may be robbed once for each
/// guard. Where thefts can be wrong, a theft takes up to 384 polls. The children that poll least often set the pace.
///
/// R5: an upgradable read takes nothing while another task has the upgradable share. A task that parks a read beside an
/// upgradable read may so wait for a task that waits for the parked read. The rule leaves such programs out.
pub fn ends(program: &Program) -> Result<(), String> {
    if program.tasks.iter().any(parks_a_read_beside_an_upgradable_one) {
        return Ok(());
    }
    let with = run(program, Side::With);
    no_fault(&with, Side::With)?;
    let waiting = &with.waiting;
    if !with.ended {
        return Err(format!("hangs: {waiting:?} wait, turns {:?}\n{}", with.turns, tail(&with)));
    }
    let guards = with.trace.iter().filter(|(_, _, event)| *event == Event::Guard).count();
    let pace = program.children().map(pace).max().unwrap_or(0);
    let can_be_wrong = program.children().any(|child| !matches!(child.shape, Shape::Polls(1) | Shape::ForEver));
    let per_guard = if can_be_wrong { ROUNDS_PER_GUARD + POLLS_MAX } else { ROUNDS_PER_GUARD };
    let limit = per_guard * pace * u32::try_from(guards + program.tasks.len()).expect("a small number");
    if with.rounds > limit + START_MAX {
        return Err(format!("{} rounds for {guards} guards, at most {limit}", with.rounds));
    }
    Ok(())
}

/// The largest number of rounds for each guard of a child that polls in each round.
const ROUNDS_PER_GUARD: u32 = 6;

/// The largest number of polls of a theft.
const POLLS_MAX: u32 = 384;

/// Whether a task has a read that is not polled in each round, and another child that asks for the upgradable share.
fn parks_a_read_beside_an_upgradable_one(task: &Task) -> bool {
    let parks = |child: &Child| child.kind == Kind::Read && !child.shape.polls_each_round();
    let asks = |child: &Child| matches!(child.kind, Kind::Upgradable | Kind::Upgrade);
    task.children.iter().any(parks) && task.children.iter().any(asks)
}

/// The latest round in which a task starts.
const START_MAX: u32 = 60;

/// The largest number of rounds between two steps of a child.
fn pace(child: &Child) -> u32 {
    let waits = match child.shape {
        Shape::Polls(_) | Shape::ForEver => 1,
        Shape::Parks(rounds) | Shape::Drops(rounds, _) | Shape::Timed(rounds) => rounds + 1,
    };
    waits.max(child.hold).max(child.rest)
}

/// Whether a program hangs without the rescue.
#[must_use]
pub fn hangs_without(program: &Program) -> bool {
    !run(program, Side::Without).ended
}

/// R3: the ledger of a run asserts the order between tasks, and that guards exclude each other.
pub fn order_between_tasks(program: &Program) -> Result<(), String> {
    both(program).map(|_| ())
}
