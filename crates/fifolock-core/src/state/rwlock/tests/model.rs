//! All sequences of transitions against a naive model: lists instead of counts, the rules as they are written.

use super::*;
use std::vec;

/// Whose place it is. Only the rescue tests tell one from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Name {
    Somebody,
    Thief,
    Victim,
}

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Waiting {
    pub(super) mode: Mode,
    pub(super) name: Name,
    /// Its grant was stolen, and it has not been polled since. Of readers that queue apart nobody asks.
    robbed: bool,
    /// It was there when the last batch was let in, some of which is still unmarked.
    in_batch: bool,
}

/// Who has a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inside {
    pub(super) mode: Mode,
    pub(super) name: Name,
}

/// Who has the lock for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    Nobody,
    Granted(Mode, Name),
    Claimed(Name),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Model {
    policy: RwLockPolicy,
    max: usize,
    pub(super) owner: Owner,
    /// Those who were marked, claimed or not.
    pub(super) inside: Vec<Inside>,
    /// Shares promised to the batch.
    pub(super) promised: usize,
    /// Task-fair: a run of readers goes on in another section, and its next place is kept.
    run_open: bool,
    /// All who wait, in order of arrival; an upgrade has come before everybody.
    pub(super) line: Vec<Waiting>,
}

impl Model {
    fn new(policy: RwLockPolicy, max: usize) -> Self {
        Self { policy, max, owner: Owner::Nobody, inside: Vec::new(), promised: 0, run_open: false, line: Vec::new() }
    }

    fn readers_apart(&self) -> bool {
        self.policy != TaskFair
    }

    fn shares(&self) -> usize {
        self.inside.len() + self.promised + usize::from(self.run_open)
    }

    fn count(&self, mode: Mode) -> usize {
        self.line.iter().filter(|waiting| waiting.mode == mode).count()
    }

    fn count_inside(&self, mode: Mode) -> usize {
        self.inside.iter().filter(|inside| inside.mode == mode).count()
    }

    fn writers_wait(&self) -> bool {
        self.count(Write) + self.count(Upgrade) > 0
    }

    /// Whether there is a place for it, whoever waits.
    fn fits(&self, mode: Mode) -> bool {
        let room = self.shares() < self.max;
        self.owner == Owner::Nobody
            && match mode {
                Read => room,
                Upgradable => room && self.count_inside(Upgradable) == 0,
                Write => self.shares() == 0,
                Upgrade => self.shares() == 1,
            }
    }

    /// Whether a newcomer may enter before one who waits.
    fn may_pass(&self, newcomer: Mode, other: Mode) -> bool {
        match (newcomer, other) {
            (Upgrade, _) => true,
            _ if !self.readers_apart() => false,
            // A reader that has its promise is not passed.
            (Read | Upgradable, Read) => self.promised == self.count(Read),
            // Nor one that could not enter now.
            (Read, Upgradable) => !self.fits(Upgradable),
            _ => false,
        }
    }

    fn may_enter(&self, newcomer: Mode) -> bool {
        let passes_run = !self.run_open || newcomer == Upgrade;
        self.fits(newcomer) && passes_run && self.line.iter().all(|waiting| self.may_pass(newcomer, waiting.mode))
    }

    fn take(&mut self, mode: Mode, name: Name, owner: Owner) {
        match mode {
            Read | Upgradable => self.inside.push(Inside { mode, name }),
            Write => self.owner = owner,
            Upgrade => {
                let share = self.inside.pop();
                assert!(share.is_some_and(|share| share.mode == Upgradable) && self.inside.is_empty());
                self.owner = owner;
            }
        }
    }

    fn queue(&mut self, mode: Mode, name: Name, robbed: bool) {
        let at = if mode == Upgrade { 0 } else { self.line.len() };
        let robbed = robbed && !(mode == Read && self.readers_apart());
        self.line.insert(at, Waiting { mode, name, robbed, in_batch: false });
    }

    /// The first of those that are served one by one, by its place in the line.
    fn head(&self) -> Option<usize> {
        self.line.iter().position(|waiting| waiting.mode != Read || !self.readers_apart())
    }

    /// After a writer: whether it is the readers' turn.
    fn is_turn_of_readers(&self) -> bool {
        match self.policy {
            TaskFair => false,
            PhaseFair => true,
            // R7: a task could pass the readers by again and again.
            WriterPreferring => self.head().is_some_and(|head| self.line[head].robbed),
        }
    }

    /// One of this kind gives its share up.
    fn give_up(&mut self, mode: Mode, name: Name) {
        let share = self.inside.iter().position(|inside| *inside == Inside { mode, name });
        self.inside.remove(share.expect("a share"));
    }

    /// All readers that wait now are promised shares, as far as there is room. Whether there was any.
    fn promise(&mut self) -> bool {
        if self.owner != Owner::Nobody {
            return false;
        }
        let more = (self.count(Read) - self.promised).min(self.max - self.shares());
        self.promised += more;
        if more > 0 {
            for waiting in &mut self.line {
                waiting.in_batch = waiting.mode == Read;
            }
        }
        more > 0
    }

    /// The same, where it needs no turn.
    fn promise_if_no_writer_waits(&mut self) -> bool {
        self.readers_apart() && !self.writers_wait() && self.promise()
    }

    /// There are not more promises than members. Without promises there is no batch.
    fn settle_promises(&mut self) {
        let members = self.line.iter().filter(|waiting| waiting.in_batch).count();
        self.promised = self.promised.min(members);
        if self.promised == 0 {
            self.line.iter_mut().for_each(|waiting| waiting.in_batch = false);
        }
    }

    /// Lets one more in; whether a writer has left in this section, and the first of the line that is let in.
    fn admit(&mut self, after_writer: bool, first: usize) -> Option<Mode> {
        if self.promised == 0 && after_writer && self.is_turn_of_readers() {
            self.promise();
        }
        if self.promised == 0 {
            let next = self.head().map(|head| head.max(first)).filter(|next| *next < self.line.len());
            if let Some(next) = next
                && self.fits(self.line[next].mode)
            {
                let Waiting { mode, name, .. } = self.line.remove(next);
                self.take(mode, name, Owner::Granted(mode, name));
                return Some(mode);
            }
            self.promise_if_no_writer_waits();
        }
        if self.promised == 0 {
            return None;
        }
        let member = self.line.iter().position(|waiting| waiting.mode == Read).expect("a promise has a member");
        let member = self.line.remove(member);
        assert!(member.in_batch, "the batch is at the head");
        self.promised -= 1;
        self.inside.push(Inside { mode: Read, name: member.name });
        self.settle_promises();
        Some(Read)
    }

    /// As many as one section may let in.
    fn admit_chunk(&mut self, chunk: usize, after_writer: bool) -> Vec<Mode> {
        self.admit_from(chunk, after_writer, 0)
    }

    fn admit_from(&mut self, chunk: usize, after_writer: bool, first: usize) -> Vec<Mode> {
        let mut granted: Vec<Mode> = Vec::new();
        while granted.len() < chunk && granted.last().is_none_or(|last| last.is_shared()) {
            let Some(mode) = self.admit(after_writer, first) else { return granted };
            granted.push(mode);
        }
        // P3: nobody gets between the readers of a run.
        let next = self.line.get(first).map(|next| next.mode);
        let goes_on = !self.readers_apart() && next.is_some_and(|next| next.is_shared() && self.fits(next));
        if granted.len() == chunk && goes_on {
            self.run_open = true;
        }
        granted
    }

    /// Who was on the way goes on. P3: an upgrade that has come since the run began does not end the run.
    fn go_on(&mut self, chunk: usize) -> Vec<Mode> {
        let in_a_run = core::mem::take(&mut self.run_open);
        let upgrade = self.line.first().is_some_and(|first| first.mode == Upgrade);
        if !(in_a_run && upgrade) {
            return self.admit_chunk(chunk, false);
        }
        let mut granted = self.admit_from(chunk, false, 1);
        if !self.run_open {
            granted.extend(self.admit_chunk(chunk - granted.len(), false));
        }
        granted
    }

    /// Somebody has given something up. While a batch is marked readers may join it; who is on the way lets others in.
    fn admit_others(&mut self, chunk: usize, after_writer: bool) -> Vec<Mode> {
        let nobody_on_the_way = self.promised == 0 && !self.run_open;
        if nobody_on_the_way || self.promise_if_no_writer_waits() {
            self.admit_chunk(chunk, after_writer)
        } else {
            Vec::new()
        }
    }

    fn leave(&mut self, i: usize) {
        let left = self.line.remove(i);
        self.settle_promises();
        if left.mode == Upgrade {
            self.give_up(Upgradable, Name::Somebody);
        }
    }

    /// What the rules of the rescue say.
    fn expected_theft(&self, thief: Mode, victim: Mode) -> Theft {
        let mut without = self.clone();
        match victim {
            Read | Upgradable => {
                let share = without.inside.iter().position(|inside| inside.mode == victim);
                without.inside.remove(share.expect("a share"));
            }
            Write => without.owner = Owner::Nobody,
            Upgrade => {
                without.owner = Owner::Nobody;
                without.inside.push(Inside { mode: Upgradable, name: Name::Somebody });
            }
        }
        match (thief, victim) {
            _ if thief == victim => Theft::Trade,
            (Read | Upgradable, _) if without.fits(thief) => Theft::TakeOver,
            // Another upgradable reader is inside: R5.
            (Upgradable, Read) => Theft::Nothing,
            (_, Read | Upgradable) => Theft::GiveBack,
            // The upgrade's own share keeps it out.
            _ => Theft::Nothing,
        }
    }
}

/// The machine and the model, after the same steps.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) machine: Machine,
    pub(super) model: Model,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Arrive(Mode),
    Release(Mode, Name),
    Claim,
    Downgrade(Mode),
    DowngradeUpgradable,
    /// By its place in the line.
    Leave(usize),
    /// By its place in the line: a robbed one is polled.
    ProveAlive(usize),
    /// Who is on the way goes on.
    Mark,
    /// The thief by its place in the line; what the victim has.
    Steal(usize, Mode, Name),
}

/// Of the steps before there were upgradable readers and the rescue.
fn is_plain(step: &Step) -> bool {
    !matches!(
        step,
        Step::Arrive(Upgradable | Upgrade)
            | Step::Downgrade(Upgradable)
            | Step::DowngradeUpgradable
            | Step::ProveAlive(_)
            | Step::Steal(..)
    )
}

impl Pair {
    pub(super) fn new(policy: RwLockPolicy, max_readers: u32, chunk: usize) -> Self {
        let mut machine = Machine::new(policy, max_readers);
        machine.chunk = chunk;
        Self { machine, model: Model::new(policy, max_readers as usize) }
    }

    pub(super) fn with_ticket(mut self, batch_id: u32) -> Self {
        self.machine.state.counts.batch_id = batch_id;
        self
    }

    /// All that may happen next, with at most so many people, inside or waiting.
    pub(super) fn steps(&self, people: usize) -> Vec<Step> {
        let model = &self.model;
        let robbed = (0..model.line.len()).filter(|i| model.line[*i].robbed).map(Step::ProveAlive);
        let has_upgradable = model.count_inside(Upgradable) > 0;
        let may_upgrade = has_upgradable && model.count(Upgrade) == 0;
        let mut steps: Vec<_> = (0..model.line.len()).map(Step::Leave).collect();
        let there = model.inside.len() + model.line.len() - model.count(Upgrade);
        let crowded = there + usize::from(model.owner != Owner::Nobody) >= people;
        let somebody = Name::Somebody;
        let claimed = matches!(model.owner, Owner::Claimed(_));
        let steps_if = [
            (Step::Arrive(Read), !crowded),
            (Step::Arrive(Upgradable), !crowded),
            (Step::Arrive(Write), !crowded),
            (Step::Arrive(Upgrade), may_upgrade),
            (Step::Release(Read, somebody), model.count_inside(Read) > 0),
            (Step::Release(Upgradable, somebody), may_upgrade),
            (Step::Release(Write, somebody), model.owner != Owner::Nobody),
            (Step::Claim, matches!(model.owner, Owner::Granted(..))),
            (Step::Downgrade(Read), claimed),
            (Step::Downgrade(Upgradable), claimed),
            (Step::DowngradeUpgradable, may_upgrade),
            (Step::Mark, self.machine.on_the_way),
        ];
        steps.extend(robbed);
        steps.extend(steps_if.iter().filter(|(_, may)| *may).map(|(step, _)| *step));
        for victim in self.grants() {
            for (i, thief) in model.line.iter().enumerate() {
                let steal = Step::Steal(i, victim.mode, victim.name);
                if self.may_steal(thief.mode, victim.mode) && !steps.contains(&steal) {
                    steps.push(steal);
                }
            }
        }
        steps
    }

    /// What may be granted and unclaimed.
    pub(super) fn grants(&self) -> Vec<Inside> {
        match self.model.owner {
            Owner::Granted(mode, name) => vec![Inside { mode, name }],
            Owner::Claimed(_) => Vec::new(),
            Owner::Nobody => self.model.inside.clone(),
        }
    }

    /// The share of who upgrades was claimed before.
    fn may_steal(&self, thief: Mode, victim: Mode) -> bool {
        victim != Upgradable || (thief != Upgrade && self.model.count(Upgrade) == 0)
    }

    /// Takes the step on both sides, and compares.
    pub(super) fn take(&mut self, step: Step) {
        *self = self.after(step);
    }

    #[track_caller]
    fn after(&self, step: Step) -> Self {
        let before = self;
        let mut next = self.clone();
        let Self { machine, model } = &mut next;
        let chunk = machine.chunk;
        let somebody = Name::Somebody;
        let (granted, expected) = match step {
            Step::Arrive(mode) => {
                let entered = machine.arrive(mode);
                let may = model.may_enter(mode);
                // While a batch is marked a newcomer may as well queue.
                let must = may && (model.promised == 0 || mode == Upgrade);
                assert!(entered == may || !(entered || must), "{step:?}: {entered}, not {may}, {before:?}");
                if entered {
                    model.take(mode, somebody, Owner::Claimed(somebody));
                } else {
                    model.queue(mode, somebody, false);
                }
                (Vec::new(), Vec::new())
            }
            Step::Release(Write | Upgrade, _) => {
                model.owner = Owner::Nobody;
                (machine.release(Write), model.admit_others(chunk, true))
            }
            Step::Release(mode, name) => {
                model.give_up(mode, name);
                (machine.release(mode), model.admit_others(chunk, false))
            }
            Step::Claim => {
                machine.claim();
                let Owner::Granted(_, name) = model.owner else { unreachable!() };
                model.owner = Owner::Claimed(name);
                (Vec::new(), Vec::new())
            }
            Step::Downgrade(to) => {
                model.owner = Owner::Nobody;
                model.inside.push(Inside { mode: to, name: somebody });
                (machine.downgrade(to), model.admit_others(chunk, true))
            }
            Step::DowngradeUpgradable => {
                model.give_up(Upgradable, somebody);
                model.inside.push(Inside { mode: Read, name: somebody });
                (machine.downgrade_upgradable(), model.admit_others(chunk, false))
            }
            Step::Leave(i) => {
                let (mode, n) = call_site(model, i);
                model.leave(i);
                (machine.leave(mode, n), model.admit_others(chunk, false))
            }
            Step::ProveAlive(i) => {
                model.line[i].robbed = false;
                machine.prove_alive(call_site(model, i).1);
                (Vec::new(), Vec::new())
            }
            Step::Mark => (machine.go_on(), model.go_on(chunk)),
            Step::Steal(i, victim, name) => steal(machine, model, i, Inside { mode: victim, name }, before),
        };
        assert_eq!(granted, expected, "{step:?} of {before:?}");
        next.compare(step, before);
        next
    }

    #[track_caller]
    fn compare(&self, step: Step, before: &Self) {
        let Self { machine, model } = self;
        let sizes = [model.shares(), model.count(Read) - model.promised, model.count(Write) + model.count(Upgrade)];
        let [readers, waiting_readers, waiting_writers] = sizes.map(|n| u32::try_from(n).unwrap());
        let writer = model.owner != Owner::Nobody;
        let reserved = model.promised as u32 + u32::from(model.run_open);
        let expected = (readers, writer, waiting_readers, waiting_writers, reserved);
        assert_eq!(machine.summary(), expected, "{step:?} of {before:?}");
        let state = &machine.state;
        assert_eq!(state.upgradable, model.count_inside(Upgradable) > 0, "{step:?} of {before:?}");
        assert_eq!(state.readers() as usize, model.inside.len() + model.promised, "{step:?} of {before:?}");
        assert_eq!(state.counts.waiting_upgradable as usize, model.count(Upgradable), "{step:?} of {before:?}");
        let granted = matches!(model.owner, Owner::Granted(..));
        assert_eq!(!state.granted.is_null(), granted, "{step:?} of {before:?}");
        assert!(model.shares() <= model.max && !(writer && model.shares() > 0));

        let apart = model.readers_apart();
        let line = model.line.iter().filter(|waiting| !(apart && waiting.mode == Read));
        assert!(
            machine
                .queue
                .iter()
                .map(|queued| (queued.mode, queued.robbed))
                .eq(line.map(|waiting| (waiting.mode, waiting.robbed))),
            "{step:?} of {before:?}"
        );
        if model.promised > 0 {
            let members = model.line.iter().filter(|waiting| waiting.mode == Read).map(|waiting| waiting.in_batch);
            let window = machine.readers.iter().map(|batch_id| *batch_id != state.counts.batch_id);
            assert!(members.eq(window), "{step:?} of {before:?}");
        }
        check(machine);
    }

    /// What the future depends on: of the batch numbers, only whether they are the current one.
    fn key(&self) -> impl Eq + core::hash::Hash + use<> {
        let Self { machine, model } = self;
        let mut model = model.clone();
        model.inside.sort_by_key(|inside| (inside.mode as u8, inside.name));
        if model.policy != WriterPreferring {
            // Nobody asks.
            model.line.iter_mut().for_each(|waiting| waiting.robbed = false);
        }
        if model.readers_apart() {
            model.line.sort_by_key(|waiting| waiting.mode == Read);
        }
        let Counts { window, batch_id, .. } = machine.state.counts;
        let stale: Vec<_> = machine.readers.iter().map(|own| *own != batch_id).collect();
        (model, stale, window, machine.on_the_way)
    }

    /// Whoever has something gives it up, until nobody has anything, except for those of one name.
    pub(super) fn drain(&mut self, but: Name) {
        loop {
            let model = &self.model;
            let upgrades = model.count(Upgrade) > 0;
            let share =
                model.inside.iter().find(|inside| inside.name != but && !(upgrades && inside.mode == Upgradable));
            let step = match (model.owner, share) {
                _ if self.machine.on_the_way => Step::Mark,
                (Owner::Granted(_, name) | Owner::Claimed(name), _) if name == Name::Somebody => {
                    Step::Release(Write, name)
                }
                (Owner::Nobody, Some(share)) if share.name == Name::Somebody => Step::Release(share.mode, share.name),
                _ => return,
            };
            self.take(step);
        }
    }
}

/// What the `i`th of the line waits for, and its place in its queue.
fn call_site(model: &Model, i: usize) -> (Mode, usize) {
    let mode = model.line[i].mode;
    let same_queue = |waiting: &&Waiting| !model.readers_apart() || (waiting.mode == Read) == (mode == Read);
    (mode, model.line[..i].iter().filter(same_queue).count())
}

/// A theft; returns whom both sides have granted besides.
fn steal(machine: &mut Machine, model: &mut Model, i: usize, victim: Inside, before: &Pair) -> (Vec<Mode>, Vec<Mode>) {
    let Waiting { mode: thief, name, .. } = model.line[i];
    let chunk = machine.chunk;
    let rule = model.expected_theft(thief, victim.mode);
    let (theft, granted) = machine.steal(thief, call_site(model, i).1, victim.mode);
    assert_eq!(theft, rule, "{thief:?} steals from {victim:?}: {before:?}");
    let step_back = |model: &mut Model| match victim.mode {
        Read | Upgradable => model.give_up(victim.mode, victim.name),
        Write => model.owner = Owner::Nobody,
        Upgrade => {
            model.owner = Owner::Nobody;
            model.inside.push(Inside { mode: Upgradable, name: Name::Somebody });
        }
    };
    let expected = match theft {
        Theft::Nothing => Vec::new(),
        Theft::Trade => {
            model.line[i].name = victim.name;
            model.line[i].robbed = !(thief == Read && model.readers_apart());
            match victim.mode {
                Read | Upgradable => {
                    model.give_up(victim.mode, victim.name);
                    model.inside.push(Inside { mode: victim.mode, name });
                }
                Write | Upgrade => model.owner = Owner::Claimed(name),
            }
            Vec::new()
        }
        Theft::TakeOver => {
            step_back(model);
            model.inside.push(Inside { mode: thief, name });
            model.leave(i);
            model.queue(victim.mode, victim.name, true);
            if !victim.mode.is_shared() && model.readers_apart() {
                // R7: the writer's turn is over, though it has not been used.
                model.promise();
                model.admit_chunk(chunk, true)
            } else {
                model.admit_others(chunk, false)
            }
        }
        Theft::GiveBack => {
            step_back(model);
            model.queue(victim.mode, victim.name, true);
            model.admit_others(chunk, false)
        }
    };
    (granted, expected)
}

/// All states that can be reached by any sequence of steps, once each.
pub(super) fn explore(first: Pair, people: usize, mut visit: impl FnMut(&Pair)) -> usize {
    let mut seen = HashSet::new();
    let mut open = vec![first];
    while let Some(pair) = open.pop() {
        if !seen.insert(pair.key()) {
            continue;
        }
        visit(&pair);
        for step in pair.steps(people) {
            open.push(pair.after(step));
        }
    }
    seen.len()
}

/// Every state of the policy, by limit and chunk. The last limit leaves room for all.
pub(super) fn explore_all(policy: RwLockPolicy, people: usize, mut visit: impl FnMut(&Pair)) {
    let (people, limits, least) = if cfg!(miri) { (2, &[1, 9][..], 15) } else { (people, &[1, 2, 3, 9][..], 50) };
    for &max in limits {
        for chunk in [1, 2, usize::MAX] {
            let states = explore(Pair::new(policy, max, chunk), people, &mut visit);
            assert!(states > least, "the search has seen only {states} states");
        }
    }
}

/// Nobody is forgotten: when everybody gives up what it has, everybody has had its turn, and the lock is free.
fn ends_free(pair: &Pair) {
    let mut pair = pair.clone();
    pair.drain(Name::Thief);
    assert!(pair.machine.state.encode() == Word::INIT, "somebody is left: {pair:?}");
    assert_eq!(pair.model.line.len() + pair.model.inside.len(), 0);
}

#[test]
fn every_sequence_agrees_with_the_model_writer_preferring() {
    explore_all(WriterPreferring, 6, ends_free);
}

#[test]
fn every_sequence_agrees_with_the_model_task_fair() {
    explore_all(TaskFair, 6, ends_free);
}

#[test]
fn every_sequence_agrees_with_the_model_phase_fair() {
    explore_all(PhaseFair, 6, ends_free);
}

#[test]
fn every_sequence_agrees_with_more_people() {
    for policy in POLICIES {
        for max in [2, 4] {
            // Where it counts whether a waiter was robbed there are many more states.
            let people = if policy == WriterPreferring { 6 } else { 7 };
            explore(Pair::new(policy, max, 1), if cfg!(miri) { 2 } else { people }, |_| ());
        }
    }
}

#[test]
fn every_sequence_agrees_while_the_ticket_wraps() {
    for policy in POLICIES {
        let tickets = [u32::MAX, u32::MAX - 1, u32::MAX - 2];
        for &batch_id in if cfg!(miri) { &tickets[..1] } else { &tickets } {
            explore(Pair::new(policy, 2, 1).with_ticket(batch_id), if cfg!(miri) { 2 } else { 5 }, |_| ());
        }
    }
}

#[test]
fn every_short_sequence_agrees_without_merging_states() {
    // Nothing is assumed of what the future depends on.
    fn walk(pair: &Pair, depth: u32, may: fn(&Step) -> bool) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut sequences = 0;
        for step in pair.steps(8) {
            if may(&step) {
                sequences += walk(&pair.after(step), depth - 1, may);
            }
        }
        sequences
    }
    for policy in POLICIES {
        for max in [1, 2, 9] {
            let pair = Pair::new(policy, max, 1).with_ticket(u32::MAX);
            let (depth, least) = if cfg!(miri) { (3, 10) } else { (7, 1000) };
            assert!(walk(&pair, depth, is_plain) > least);
            let (depth, least) = if cfg!(miri) { (2, 5) } else { (5, 1000) };
            assert!(walk(&pair, depth, |_| true) > least);
        }
    }
}

/// In every state the end of a write lets in all waiting readers that there is room for, and grants no second writer
/// before them.
#[test]
fn p5_the_bound_holds_in_every_state() {
    let mut turns = 0;
    explore_all(PhaseFair, 6, |pair| {
        let readers = pair.machine.readers.len() as u32;
        for step in [Step::Release(Write, Name::Somebody), Step::Downgrade(Read), Step::Downgrade(Upgradable)] {
            let may = match pair.model.owner {
                Owner::Nobody => false,
                Owner::Granted(..) => matches!(step, Step::Release(..)),
                Owner::Claimed(_) => true,
            };
            if !may {
                continue;
            }
            let mut next = pair.clone();
            next.take(step);
            let room = pair.machine.state.config.max_readers() - u32::from(!matches!(step, Step::Release(..)));
            let state = next.machine.state;
            assert_eq!(state.counts.waiting_readers, readers.saturating_sub(room), "{step:?} of {pair:?}");
            assert!(!(readers > 0 && room > 0 && state.writer), "{step:?} of {pair:?}");
            turns += 1;
        }
    });
    assert!(turns > if cfg!(miri) { 20 } else { 100 }, "there were only {turns}");
}
