//! What a waiter remembers of a suspicion, and the scan.

use super::super::rescue::{POLLS_TO_STEAL, SCAN_BATCH};
use super::*;
use core::pin::{Pin, pin};

const BATCH: usize = SCAN_BATCH as usize;

/// What a poll has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Poll {
    /// It waits, and suspects nothing.
    Waits,
    /// It waits, and wakes its task once more.
    Suspects,
    /// It may steal this one's grant.
    Steals(usize),
}
use Poll::{Steals, Suspects, Waits};

/// A scan that ends as that of a poll does: with its cursor out.
macro_rules! scan {
    ($($name:ident),+) => {
        $(let $name = pin!(Scan::default()); let $name = $name.as_ref();)+
    };
}

impl Bench {
    /// One section of a poll of `i`, which waits and scans the set. It may steal any kind.
    fn section_of(&mut self, i: usize, scan: Pin<&Scan>) -> Found<'static> {
        self.section_for(i, scan, |_| true)
    }

    fn section_for(&mut self, i: usize, scan: Pin<&Scan>, helps: impl Fn(Mode) -> bool) -> Found<'static> {
        // SAFETY: I7: each test ends its scans.
        unsafe { self.granted.scan(self.members[i].member(), scan, &mut self.grants, helps) }
    }

    /// The rest of a poll of `i`: in how many sections, and what it has come to.
    fn poll_on(&mut self, i: usize, scan: Pin<&Scan>) -> (usize, Poll) {
        for sections in 1..10_000 {
            match self.section_of(i, scan) {
                Found::More => assert!(scan.is_cut(), "there is more, and no cursor"),
                found => {
                    assert!(!scan.is_cut() && !self.has_cursor_of(scan), "the cursor outlives its poll");
                    return (sections, self.come_to(found));
                }
            }
        }
        panic!("a poll would scan for ever");
    }

    fn poll_in_sections(&mut self, i: usize) -> (usize, Poll) {
        scan!(scan);
        self.poll_on(i, scan)
    }

    fn poll(&mut self, i: usize) -> Poll {
        self.poll_in_sections(i).1
    }

    /// A poll of `i`, which waits, where the word names one grant.
    fn poll_at(&mut self, i: usize, granted: usize) -> Poll {
        let found = visit(self.members[i].member(), self.members[granted].member(), self.grants);
        self.come_to(found)
    }

    fn come_to(&self, found: Found<'_>) -> Poll {
        match found {
            Found::More => unreachable!("the scan goes on"),
            Found::Due(node) => Steals(self.number(node)),
            Found::Suspect => Suspects,
            Found::Nothing => Waits,
        }
    }

    /// So many polls that suspect.
    #[track_caller]
    fn suspects(&mut self, i: usize, polls: usize) {
        for poll in 1..=polls {
            assert_eq!(self.poll(i), Suspects, "poll {poll}");
        }
    }

    fn stop(&mut self, scan: Pin<&Scan>) {
        // SAFETY: I7: each test scans the set of its bench.
        unsafe { self.granted.stop_scan(scan, section()) };
    }

    fn places(&self) -> Vec<Option<usize>> {
        self.places_of(&self.granted.0)
    }

    fn has_cursor_of(&self, scan: Pin<&Scan>) -> bool {
        let cursor = scan.cursor();
        let Some(mut node) = self.granted.0.head(section()) else { return false };
        for _ in 0..self.places().len() {
            if ptr::eq(node.as_ptr(), cursor.as_ptr()) {
                return true;
            }
            // SAFETY: I1: linked.
            node = unsafe { linked(node.links().next, section()) };
        }
        false
    }

    fn grant_number(&self, i: usize) -> u32 {
        self.members[i].member().numbers().number
    }

    /// The set is in the order of numbers, each its own and odd.
    #[track_caller]
    fn assert_in_order(&self) {
        let numbers: Vec<_> = self.granted().into_iter().map(|i| self.grant_number(i)).collect();
        for pair in numbers.windows(2) {
            assert!(pair[1].wrapping_sub(pair[0]).cast_signed() > 0, "out of order: {numbers:?}");
        }
        assert!(numbers.iter().all(|number| number % 2 == 1), "0 stands for none: {numbers:?}");
    }

    fn level(&self, i: usize) -> u16 {
        self.members[i].member().role().level()
    }

    fn polls(&self, i: usize) -> u16 {
        self.members[i].member().role().polls()
    }

    /// The task of a granted member is now that of another one, without a new grant.
    fn give_task_of(&mut self, from: usize, to: usize) {
        let owners = Arc::clone(&self.members[from].owners);
        let member = self.members[to].member();
        // Granted, so its waker was taken.
        member.slot().put(owners.waker());
        // SAFETY: I3: put in above, and taken once. The addresses stay.
        drop(unsafe { member.take_waker() });
        self.members[to].owners = owners;
    }

    /// A member whose grant was stolen waits again.
    fn steal(&mut self, victim: usize) {
        self.remove(victim);
        let waker = self.members[victim].waker();
        self.push_again(victim, waker, 0);
    }

    /// A robbed member is polled.
    fn prove_alive(&mut self, i: usize) {
        self.members[i].member().prove_alive(&mut self.grants);
    }

    /// The last of the queue leaves it, so that those before it can be granted and it comes again.
    fn grant_again(&mut self, victim: usize) {
        let rest: Vec<_> = self.waiting().into_iter().filter(|i| *i != victim).collect();
        let wakers: Vec<_> = rest.iter().map(|i| self.leave(*i)).collect();
        assert_eq!(self.grant_first_reader(), victim);
        for (i, waker) in rest.into_iter().zip(wakers) {
            let member = self.members[i].member();
            member.slot().put(waker);
            // SAFETY: I1: it was unlinked above, and its waker taken.
            unsafe { self.queue.0.link_last(member) };
        }
    }
}

impl Grants {
    /// So many more numbers are left before they wrap.
    fn before_the_wrap(left: u32) -> Self {
        let mut grants = Self::NONE;
        grants.advance_to(1_u32.wrapping_sub(64 * (left + 1)));
        grants
    }
}

/// Members of tasks by number. The first ones are granted, and in the set.
fn bench_of(granted: &[usize], waiting: &[usize]) -> Bench {
    bench_from(Grants::NONE, granted, waiting)
}

/// The same; so many grants were made before.
fn bench_from(grants: Grants, granted: &[usize], waiting: &[usize]) -> Bench {
    let mut bench = Bench::new(0);
    bench.grants = grants;
    let tasks = granted.iter().chain(waiting).max().map_or(0, |last| last + 1);
    let tasks: Vec<_> = (0..tasks).map(|_| Arc::new(Nobody)).collect();
    for task in granted.iter().chain(waiting) {
        bench.members.push(Entry { owners: Arc::clone(&tasks[*task]), ..Entry::new() });
        bench.push(bench.members.len() - 1);
    }
    (0..granted.len()).for_each(|i| assert_eq!(bench.grant_first_reader(), i));
    bench
}

/// A member of that member's task is granted.
fn join(bench: &mut Bench, of: usize) -> usize {
    let joined = bench.members.len();
    let owners = Arc::clone(&bench.members[of].owners);
    bench.members.push(Entry { owners, ..Entry::new() });
    // To the head, so that it is the next.
    bench.push_as(joined, Mode::Upgrade);
    assert_eq!(bench.grant_first_reader(), joined);
    joined
}

/// So many of task 0 are granted; one of task 1 is the `own`th. A waiter of task 1 is the last.
fn hidden(members: usize, own: usize) -> Bench {
    let mut granted = vec![0; members];
    granted[own] = 1;
    bench_of(&granted, &[1])
}

#[test]
fn r1_the_third_poll_steals() {
    assert_eq!(POLLS_TO_STEAL, 3);
    let mut bench = bench_of(&[0, 1], &[0]);
    for _ in 0..2 {
        assert_eq!(bench.poll_at(2, 0), Suspects);
        let may = bench.members[2].member().may_steal();
        assert_eq!(may, bench.polls(2) == 2);
    }
    assert_eq!(bench.poll_at(2, 0), Steals(0));
    // Another task's.
    assert_eq!(bench.poll_at(2, 1), Waits);

    let mut bench = bench_of(&[0, 1], &[0]);
    bench.suspects(2, 2);
    assert_eq!(bench.poll(2), Steals(0));
}

#[test]
fn r1_polls_in_a_row() {
    // A poll that finds nothing ends the suspicion.
    let mut bench = bench_of(&[0], &[0]);
    bench.suspects(1, 2);
    bench.remove(0);
    assert_eq!(bench.poll(1), Waits);
    let newer = join(&mut bench, 1);
    bench.suspects(1, 2);
    // So does one at which the grant would not help.
    scan!(scan);
    let found = bench.section_for(1, scan, |_| false);
    assert_eq!(bench.come_to(found), Waits);
    bench.suspects(1, 2);
    assert_eq!(bench.poll(1), Steals(newer));
}

#[test]
fn r1_a_newer_grant_is_a_suspicion_of_its_own() {
    for in_set in [false, true] {
        let mut bench = bench_of(&[0], &[0]);
        let poll = |bench: &mut Bench, at| if in_set { bench.poll(1) } else { bench.poll_at(1, at) };
        assert_eq!(poll(&mut bench, 0), Suspects);
        assert_eq!(poll(&mut bench, 0), Suspects);
        // The first has been claimed; the other one was not there at the first poll.
        let newer = join(&mut bench, 1);
        bench.remove(0);
        assert_eq!(poll(&mut bench, newer), Suspects);
        assert_eq!(poll(&mut bench, newer), Suspects);
        assert_eq!(poll(&mut bench, newer), Steals(newer));
    }
}

#[test]
fn r1_the_older_of_two_is_due_first() {
    let mut bench = bench_of(&[0], &[0]);
    bench.suspects(1, 1);
    let newer = join(&mut bench, 1);
    bench.suspects(1, 1);
    assert_eq!(bench.poll(1), Steals(0));
    bench.remove(0);
    bench.suspects(1, 2);
    assert_eq!(bench.poll(1), Steals(newer));
}

#[test]
fn r1_each_waiter_has_its_own_suspicion() {
    let mut bench = bench_of(&[0], &[0, 0]);
    bench.suspects(1, 2);
    bench.suspects(2, 1);
    assert_eq!(bench.poll(1), Steals(0));
    bench.suspects(2, 1);
    assert_eq!(bench.poll(2), Steals(0));
}

#[test]
fn r1_the_next_grant_of_the_same_waiter_starts_anew() {
    let mut bench = bench_of(&[0], &[0]);
    bench.suspects(1, 2);
    // It is stolen from by somebody else, not polled since, and granted before the other one again.
    bench.steal(0);
    bench.grant_again(0);
    bench.suspects(1, 2);
    assert_eq!(bench.poll(1), Steals(0));
}

#[test]
fn r1_a_task_is_told_by_its_last_waker() {
    let mut bench = bench_of(&[0], &[1]);
    assert_eq!(bench.poll(1), Waits);
    // The waiter has moved to the task of the grant.
    let waker = bench.members[0].waker();
    // SAFETY: I3: it waits.
    drop(unsafe { replace_waker(bench.members[1].member(), waker) });
    assert_eq!(bench.poll_at(1, 0), Suspects);
}

/// A theft that turns out to be wrong doubles what the next one takes, up to 384 polls.
#[test]
fn r1_a_victim_that_is_polled_doubles_the_polls_to_steal() {
    let mut bench = bench_of(&[0], &[0]);
    let levels = if cfg!(miri) { 3 } else { 9 };
    for level in 0..levels {
        let polls = (3 << level.min(7)) as usize;
        assert_eq!(usize::from(bench.level(0)), level.min(7));
        bench.suspects(1, polls - 1);
        assert_eq!(bench.poll(1), Steals(0), "after {polls} polls");
        bench.steal(0);
        assert!(bench.queue.is_first_robbed(section()) == (bench.waiting()[0] == 0));
        bench.prove_alive(0);
        assert!(!bench.members[0].waiter.is_robbed());
        bench.grant_again(0);
    }
    assert!(cfg!(miri) || bench.level(0) == 7);
}

#[test]
fn r1_a_victim_that_is_not_polled_is_stolen_from_as_before() {
    let mut bench = bench_of(&[0], &[0]);
    for _ in 0..3 {
        bench.suspects(1, 2);
        assert_eq!(bench.poll(1), Steals(0));
        bench.steal(0);
        bench.grant_again(0);
        assert_eq!(bench.level(0), 0);
    }
}

/// A victim keeps its level through a trade, and a grant; its own suspicion is over.
#[test]
fn r1_a_trade_keeps_the_level_and_ends_the_suspicion() {
    let mut bench = bench_of(&[0, 0], &[0]);
    bench.steal(0);
    bench.prove_alive(0);
    bench.suspects(0, 2);
    bench.grant_again(0);
    bench.remove(0);
    // [2] ^0: the thief is 2.
    bench.trade(2, 0);
    assert_eq!((bench.waiting(), bench.level(0)), (vec![0], 1));
    assert!(bench.members[0].waiter.is_robbed());
    // 1 is of its task: it suspects anew.
    bench.suspects(0, 2);
    assert_eq!(bench.poll(0), Steals(1));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic = "nobody has doubted it"]
fn r1_only_a_victim_proves_that_it_is_alive() {
    bench_of(&[], &[0]).prove_alive(0);
}

/// Four waits in which a victim proves its task alive before anybody else is granted: each later theft takes six polls.
#[test]
fn r1_a_lock_whose_waits_were_disturbed_takes_more_polls() {
    let mut bench = bench_of(&[0], &[0]);
    for disturbed in 0..4 {
        assert_eq!(bench.grants.level(), 0, "after {disturbed}");
        bench.steal(0);
        bench.prove_alive(0);
        // A new wait.
        let role = bench.members[0].member().role();
        bench.members[0].member().set_role(Role(role.0 & 0b11));
        bench.grant_again(0);
    }
    assert_eq!(bench.grants.level(), 1);
    // A new waiter, which nobody has robbed.
    bench.suspects(1, 5);
    assert_eq!(bench.poll(1), Steals(0));
    // One that was granted since was not about to claim.
    bench.steal(0);
    let _ = bench.grants.next();
    let before = bench.grants;
    bench.prove_alive(0);
    assert_eq!(bench.grants, before);
}

#[test]
fn r1_a_role_has_room_for_all_of_its_parts() {
    // The highest level takes 384 polls.
    assert_eq!(POLLS_TO_STEAL << 7, 384);
    for mode in [Mode::Read, Mode::Upgradable, Mode::Write, Mode::Upgrade] {
        for flag in [0, Role::RENUMBERED] {
            let mut role = Role(Role::new(mode).0 | flag);
            for level in 0..10 {
                assert_eq!(role.level(), level.min(7), "no more than seven");
                for polls in [0, 1, 2, 383, 384, 1023] {
                    let with_polls = role.with_polls(polls);
                    assert_eq!((with_polls.polls(), with_polls.level()), (polls, role.level()));
                    assert_eq!((with_polls.mode(), with_polls.0 & Role::RENUMBERED), (mode, flag));
                    assert_eq!(with_polls.with_polls(0).0, role.0, "all else is as before");
                }
                role = role.raise_level();
            }
        }
    }
}

#[test]
fn r1_a_role_keeps_its_kind() {
    for mode in [Mode::Read, Mode::Upgradable, Mode::Write, Mode::Upgrade] {
        let mut bench = Bench::new(1);
        bench.push_as(0, mode);
        bench.wake_first();
        let waker = bench.members[0].waker();
        bench.push_again(0, waker, 0);
        for level in 1..9 {
            let role = |bench: &Bench| bench.members[0].member().role();
            bench.members[0].member().set_role(role(&bench).with_polls(1023));
            bench.prove_alive(0);
            assert_eq!((bench.mode(0), bench.level(0)), (mode, level.min(7)));
            assert_eq!(role(&bench).polls(), 1023);
            bench.wake_first();
            let waker = bench.members[0].waker();
            bench.push_again(0, waker, 0);
            assert_eq!(role(&bench).polls(), 0);
        }
    }
}

#[test]
fn r8_nobody_is_found_in_an_empty_set() {
    let mut bench = bench_of(&[], &[0]);
    assert_eq!(bench.poll_in_sections(0), (1, Waits));
    assert_eq!(bench.places(), []);
}

/// All are of the task: the newest is visited first, and so gets the lowest of the new numbers.
#[test]
fn r8_each_member_is_visited_once_from_the_newest_on() {
    for members in [1, 2, 31, 32, 33, 64, 65] {
        let mut bench = bench_of(&vec![0; members], &[0]);
        let mut order: Vec<_> = (0..members).collect();
        for _ in 0..2 {
            let before = bench.grants.newest();
            let sections = members.div_ceil(BATCH).max(1);
            assert_eq!(bench.poll_in_sections(members), (sections, Suspects));
            assert_eq!(bench.grants.newest(), before + 64 * members as u32, "each gets one number");
            order.reverse();
            assert_eq!(bench.granted(), order);
            let numbers: Vec<_> = order.iter().map(|i| bench.grant_number(*i)).collect();
            assert_eq!(numbers, (0..members as u32).map(|n| before + 64 + 64 * n).collect::<Vec<_>>());
        }
    }
}

/// Among others': they keep their places, the own go to the end.
#[test]
fn r8_own_members_are_renumbered_and_found_again() {
    let mut bench = bench_of(&[1, 0, 1, 0, 1], &[0]);
    let others = [0, 2, 4].map(|i| bench.grant_number(i));
    assert_eq!(bench.poll(5), Suspects);
    assert_eq!(bench.granted(), [0, 2, 4, 3, 1]);
    assert_eq!(bench.poll(5), Suspects);
    assert_eq!(bench.granted(), [0, 2, 4, 1, 3]);
    assert_eq!(others, [0, 2, 4].map(|i| bench.grant_number(i)));
    bench.assert_in_order();
    // The newest of those that are due.
    assert_eq!(bench.poll(5), Steals(3));
    bench.remove(3);
    assert_eq!(bench.poll(5), Steals(1));
    bench.remove(1);
    assert_eq!(bench.poll(5), Waits);
}

/// A member that became the waiter's own without a new grant tells: a poll that visited it would suspect.
#[test]
fn r8_a_poll_stops_at_what_an_earlier_one_has_visited() {
    for members in [1, 2, BATCH, BATCH + 1, 2 * BATCH + 1] {
        for disguised in [0, members / 2, members - 1] {
            let mut bench = bench_of(&vec![0; members], &[1]);
            assert_eq!(bench.poll_in_sections(members), (members.div_ceil(BATCH), Waits));
            bench.give_task_of(members, disguised);
            assert_eq!(bench.poll_in_sections(members), (1, Waits), "visited twice");
            // Another waiter of the task has not visited it yet.
            let owners = Arc::clone(&bench.members[members].owners);
            bench.members.push(Entry { owners, ..Entry::new() });
            bench.push(members + 1);
            assert_eq!(bench.poll(members + 1), Suspects);
        }
    }
}

#[test]
fn r8_a_later_poll_visits_the_new_ones_only() {
    let members = 3 * BATCH;
    let mut bench = bench_of(&vec![0; members], &[1, 0]);
    assert_eq!(bench.poll_in_sections(members), (3, Waits));
    for new in 1..4 {
        (0..new).for_each(|_| {
            join(&mut bench, members + 1);
        });
        assert_eq!(bench.poll_in_sections(members), (1, Waits));
    }
    let own = join(&mut bench, members);
    for _ in 0..2 {
        assert_eq!(bench.poll_in_sections(members), (1, Suspects));
    }
    assert_eq!(bench.poll_in_sections(members), (1, Steals(own)));
}

#[test]
fn r8_a_section_visits_a_bounded_number() {
    assert_eq!(BATCH, 32);
    for members in [0, 1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 2 * BATCH + 1] {
        let mut bench = bench_of(&vec![0; members], &[1]);
        scan!(scan);
        let mut left = members;
        while left > BATCH {
            assert_eq!(bench.section_of(members, scan), Found::More);
            left -= BATCH;
            let places = bench.places();
            assert_eq!(places.iter().position(Option::is_none), Some(left), "{places:?}");
            assert_eq!(places.len(), members + 1, "one cursor");
        }
        assert_eq!(bench.section_of(members, scan), Found::Nothing);
        assert!(!scan.is_cut());
    }
}

#[test]
fn r8_the_own_grant_is_found_wherever_it_is() {
    let step = if cfg!(miri) { 15 } else { 1 };
    let sizes: &[usize] = if cfg!(miri) { &[1, 33] } else { &[1, 2, 31, 32, 33, 64, 65, 100] };
    for &members in sizes {
        for own in (0..members).step_by(step) {
            let mut bench = hidden(members, own);
            let sections = (members - own).div_ceil(BATCH);
            let (took, found) = bench.poll_in_sections(members);
            assert!((sections..=members.div_ceil(BATCH)).contains(&took));
            assert_eq!(found, Suspects, "{own} of {members}");
            // Now it is the newest.
            assert_eq!(bench.granted().last(), Some(&own));
            assert_eq!(bench.poll_in_sections(members), (1, Suspects));
            assert_eq!(bench.poll_in_sections(members), (1, Steals(own)));
        }
    }
}

#[test]
fn r8_a_scan_ends_if_there_is_nothing() {
    let many: &[usize] = if cfg!(miri) { &[] } else { &[96, 100, 1023, 1024, 1025] };
    for &members in [1, 2, 31, 32, 33, 64, 65].iter().chain(many) {
        let mut bench = bench_of(&vec![0; members], &[1]);
        assert_eq!(bench.poll_in_sections(members), (members.div_ceil(BATCH), Waits));
        assert_eq!(bench.poll_in_sections(members), (1, Waits));
        bench.assert_in_order();
    }
}

/// What would not help the waiter is visited, renumbered, and no reason for a suspicion.
#[test]
fn r8_a_grant_that_does_not_help_is_no_suspect() {
    let mut bench = bench_of(&[0, 1], &[0]);
    for _ in 0..5 {
        scan!(scan);
        assert_eq!(bench.section_for(2, scan, |_| false), Found::Nothing);
        assert_eq!(bench.granted(), [1, 0]);
    }
    // It may help at a later poll.
    bench.suspects(2, 2);
    assert_eq!(bench.poll(2), Steals(0));
}

#[test]
fn r8_a_scan_asks_of_the_kind_of_each_grant() {
    let mut bench = bench_of(&[], &[0, 0]);
    bench.members.push(Entry { owners: Arc::clone(&bench.members[0].owners), ..Entry::new() });
    bench.push_as(2, Mode::Upgrade);
    assert_eq!((bench.grant_first_reader(), bench.grant_first_reader()), (2, 0));
    for _ in 0..2 {
        scan!(scan);
        assert_eq!(bench.section_for(1, scan, |mode| mode == Mode::Upgrade), Found::Suspect);
    }
    scan!(scan);
    let upgrade = bench.members[2].member();
    assert_eq!(bench.section_for(1, scan, |mode| mode == Mode::Upgrade), Found::Due(upgrade));
}

#[test]
fn r8_numbers_wrap_past_zero() {
    for last in 0..12 {
        let mut bench = bench_from(Grants::before_the_wrap(last), &[0, 1, 0], &[1, 0]);
        bench.assert_in_order();
        for _ in 0..2 {
            assert_eq!((bench.poll(3), bench.poll(4)), (Suspects, Suspects));
            bench.assert_in_order();
        }
        let newer = join(&mut bench, 3);
        assert_eq!(bench.poll(3), Steals(1));
        bench.remove(1);
        bench.suspects(3, 2);
        assert_eq!(bench.poll(3), Steals(newer));
        assert!(matches!(bench.poll(4), Steals(0 | 2)));
        bench.assert_in_order();
    }
}

/// What was visited before the wrap is not visited after it.
#[test]
fn r8_a_scan_stops_at_what_was_visited_while_numbers_wrap() {
    for last in 0..6 {
        let mut bench = bench_from(Grants::before_the_wrap(last), &[0, 0, 0], &[1]);
        assert_eq!(bench.poll(3), Waits);
        bench.give_task_of(3, 1);
        join(&mut bench, 0);
        assert_eq!(bench.poll(3), Waits, "visited twice");
        let own = join(&mut bench, 3);
        bench.suspects(3, 2);
        assert_eq!(bench.poll(3), Steals(own));
    }
}

#[test]
fn r8_a_claimed_suspect_is_forgotten() {
    let mut bench = hidden(40, 35);
    assert_eq!(bench.poll(40), Suspects);
    bench.remove(35);
    assert_eq!(bench.poll(40), Waits);
}

#[test]
fn r8_several_of_one_task_are_found_one_after_the_other() {
    for own in [[0, 1], [0, 99], [40, 41], [40, 80], [98, 99]] {
        let mut granted = vec![0; 100];
        own.iter().for_each(|i| granted[*i] = 1);
        let mut bench = bench_of(&granted, &[1]);
        bench.suspects(100, 2);
        let mut found = [0, 1].map(|_| {
            let Steals(victim) = bench.poll(100) else { panic!("one is due") };
            bench.remove(victim);
            victim
        });
        found.sort_unstable();
        assert_eq!(found, own);
        assert_eq!(bench.poll(100), Waits);
    }
}

/// A scan of two sections, in whose middle something happens to the set.
#[track_caller]
fn disturbed(members: usize, own: usize, disturb: impl FnOnce(&mut Bench)) -> (Bench, Poll) {
    let mut bench = hidden(members, own);
    scan!(scan);
    assert_eq!(bench.section_of(members, scan), Found::More);
    disturb(&mut bench);
    assert!(bench.has_cursor_of(scan));
    let found = bench.poll_on(members, scan).1;
    bench.assert_in_order();
    (bench, found)
}

/// Every set of members around the cursor leaves.
#[test]
fn r8_the_cursor_survives_claims() {
    let members = BATCH + 4;
    // The cursor stands behind the fourth: [0 1 2 3 | 4 5 6 …].
    for gone in (0..1 << 6).step_by(if cfg!(miri) { 7 } else { 1 }) {
        for own in [0, 2, 3] {
            let claims = |i: &usize| gone >> i & 1 == 1;
            let (bench, found) = disturbed(members, own, |bench| (0..6).filter(claims).for_each(|i| bench.remove(i)));
            assert_eq!(found, if claims(&own) { Waits } else { Suspects }, "{own} of {gone:b}");
            let mut rest: Vec<_> = (0..members).filter(|i| *i >= 6 || !claims(i)).collect();
            if !claims(&own) {
                rest.retain(|i| *i != own);
                rest.push(own);
            }
            assert_eq!(bench.granted(), rest);
        }
    }
}

#[test]
fn r8_the_cursor_is_left_at_the_head_at_the_tail_and_alone() {
    let members = BATCH + 2;
    let at_head = disturbed(members, 0, |bench| {
        (0..2).for_each(|i| bench.remove(i));
        assert_eq!(bench.places()[0], None);
    });
    assert_eq!((at_head.1, at_head.0.places().len()), (Waits, BATCH));
    let at_tail = disturbed(members, 1, |bench| {
        (2..members).for_each(|i| bench.remove(i));
        assert_eq!(bench.places(), [Some(0), Some(1), None]);
    });
    assert_eq!((at_tail.1, at_tail.0.granted()), (Suspects, vec![0, 1]));
    let alone = disturbed(members, 1, |bench| {
        (0..members).for_each(|i| bench.remove(i));
        assert_eq!(bench.places(), [None]);
        assert!(!bench.granted.is_empty());
    });
    assert_eq!((alone.1, alone.0.places()), (Waits, vec![]));
    assert!(alone.0.granted.is_empty());
    // MoreWait come to a cursor that is alone.
    let joined = disturbed(members, 1, |bench| {
        (0..members).for_each(|i| bench.remove(i));
        join(bench, members);
        assert_eq!(bench.places(), [None, Some(members + 1)]);
    });
    assert_eq!((joined.1, joined.0.granted()), (Waits, vec![members + 1]));
}

/// What comes between two sections is newer than all that the poll visits: the next poll finds it.
#[test]
fn r8_the_cursor_survives_grants() {
    for own in [0, 3] {
        let (mut bench, found) = disturbed(BATCH + 4, own, |bench| {
            join(bench, BATCH + 4);
        });
        let newer = BATCH + 5;
        assert_eq!(found, Suspects);
        assert_eq!(bench.poll_in_sections(BATCH + 4), (1, Suspects));
        assert_eq!(bench.poll_in_sections(BATCH + 4), (1, Steals(own)));
        bench.remove(own);
        bench.suspects(BATCH + 4, 2);
        assert_eq!(bench.poll(BATCH + 4), Steals(newer));
    }
}

/// Many are granted at once, behind a cursor that is the tail.
#[test]
fn r8_the_cursor_survives_a_batch() {
    let members = BATCH + 1;
    let mut bench = bench_of(&vec![0; members], &[1, 0, 0, 0]);
    let waker = bench.leave(members);
    let thief = Entry { owners: Arc::clone(&bench.members[members].owners), ..Entry::new() };
    drop(waker);
    bench.members.push(thief);
    let thief = members + 4;
    bench.push(thief);
    scan!(scan);
    assert_eq!(bench.section_of(thief, scan), Found::More);
    (1..members).for_each(|i| bench.remove(i));
    assert_eq!(bench.places(), [Some(0), None]);
    // SAFETY: I1: so many wait.
    unsafe { bench.queue.grant_many(3, &mut bench.grants, &mut bench.granted, section(), drop) };
    assert_eq!(bench.places(), [Some(0), None, Some(members + 1), Some(members + 2), Some(members + 3)]);
    assert_eq!(bench.poll_on(thief, scan), (1, Waits));
    bench.assert_in_order();
}

/// A victim is taken out of the set while others' cursors are in it.
#[test]
fn r8_the_cursor_survives_a_theft() {
    let mut granted = vec![0; BATCH + 2];
    granted[0] = 2;
    granted[1] = 1;
    let mut bench = bench_of(&granted, &[1, 2]);
    let [one, two] = [BATCH + 2, BATCH + 3];
    bench.suspects(one, 2);
    scan!(scan);
    assert_eq!(bench.section_of(two, scan), Found::More);
    let Steals(victim) = bench.poll(one) else { panic!("it is due") };
    bench.remove(victim);
    assert_eq!((victim, bench.poll_on(two, scan).1), (1, Suspects));
}

/// Two tasks scan between each other's sections, in any order of their ends.
#[test]
fn r8_two_scans_do_not_disturb_each_other() {
    let sizes = [BATCH + 1, BATCH + 8, 2 * BATCH, 3 * BATCH];
    for &members in if cfg!(miri) { &sizes[..2] } else { &sizes } {
        for own in [[0, 1], [1, 0], [0, members - 1], [members - 1, 0], [members / 2, 3]] {
            if own[0] == own[1] {
                continue;
            }
            for first in [0, 1] {
                let mut granted = vec![0; members];
                granted[own[0]] = 1;
                granted[own[1]] = 2;
                let mut bench = bench_of(&granted, &[1, 2]);
                for poll in 0..3 {
                    scan!(one, two);
                    let mut scans = [(members, one, None), (members + 1, two, None)];
                    // Section by section, by turns.
                    for turn in 0..200 {
                        let (i, scan, done) = &mut scans[(first + turn) % 2];
                        if done.is_some() {
                            continue;
                        }
                        let found = bench.section_of(*i, *scan);
                        bench.assert_in_order();
                        if found != Found::More {
                            *done = Some(bench.come_to(found));
                        }
                    }
                    let found = scans.map(|(_, _, done)| done.expect("it would scan for ever"));
                    let expected = if poll < 2 { [Suspects; 2] } else { own.map(Steals) };
                    assert_eq!(found, expected, "{own:?} of {members}, poll {poll}");
                    assert!(!one.is_cut() && !two.is_cut());
                }
            }
        }
    }
}

/// One cursor next to another; the one or the other goes first, or is stopped.
#[test]
fn r8_cursors_next_to_each_other() {
    for stops in [false, true] {
        for first in [0, 1] {
            let members = BATCH + 3;
            let mut granted = vec![0; members];
            granted[1] = 1;
            granted[2] = 2;
            let mut bench = bench_of(&granted, &[1, 2]);
            scan!(one, two);
            assert_eq!(bench.section_of(members, one), Found::More);
            assert_eq!(bench.section_of(members + 1, two), Found::More);
            assert_eq!(bench.places()[..6], [Some(0), Some(1), Some(2), None, None, Some(3)]);
            let mut ends = [(members, one), (members + 1, two)];
            if first == 1 {
                ends.reverse();
            }
            if stops {
                bench.stop(ends[0].1);
                assert!(!ends[0].1.is_cut());
                // A second stop does nothing.
                bench.stop(ends[0].1);
            } else {
                assert_eq!(bench.poll_on(ends[0].0, ends[0].1), (1, Suspects));
            }
            assert_eq!(bench.places().iter().filter(|call_site| call_site.is_none()).count(), 1);
            assert_eq!(bench.poll_on(ends[1].0, ends[1].1), (1, Suspects));
            assert_eq!(bench.places().len(), members);
            bench.assert_in_order();
        }
    }
}

/// More cursors of others stand in the way than a section visits.
#[test]
fn r8_cursors_of_others_are_passed() {
    let waiters: Vec<_> = (0..BATCH + 5).map(|i| i + 2).collect();
    // The last of the granted is claimed at once: the waiter has scanned before.
    let mut bench = bench_of(&[0], &[&[1, 0], &waiters[..]].concat());
    let (waiter, other) = (1, 2);
    assert_eq!(bench.poll(waiter), Waits);
    let own = join(&mut bench, waiter);
    (0..BATCH).for_each(|_| {
        join(&mut bench, other);
    });
    let scans: Vec<_> = waiters.iter().map(|_| Box::pin(Scan::default())).collect();
    for (n, scan) in scans.iter().enumerate() {
        assert_eq!(bench.section_of(3 + n, scan.as_ref()), Found::More);
    }
    let places = bench.places();
    assert_eq!(places[..2], [Some(0), Some(own)]);
    assert!(places[2..BATCH + 7].iter().all(Option::is_none), "all cursors stand in the way: {places:?}");
    let (sections, found) = bench.poll_in_sections(waiter);
    assert!(sections <= 3, "{sections} sections");
    assert_eq!(found, Suspects);
    scans.iter().for_each(|scan| bench.stop(scan.as_ref()));
    assert_eq!(bench.places().len(), BATCH + 2);
}

/// Some thousand random steps: grants, claims, thefts and the sections of some scans. The set stays in the order of
/// numbers, and each poll finds the task's own if one was there when the poll began and is there still.
#[test]
fn r8_the_set_stays_in_the_order_of_numbers() {
    const STEPS: usize = if cfg!(miri) { 150 } else { 1500 };
    const TASKS: usize = 3;
    let mut seed = 7_u32;
    let mut below = |limit: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % limit
    };
    // Some are of a task that does not scan.
    let mut bench = bench_from(Grants::before_the_wrap(100), &[TASKS; BATCH], &(0..TASKS).collect::<Vec<_>>());
    let thieves: Vec<_> = (BATCH..BATCH + TASKS).collect();
    let mut scans: Vec<_> = thieves.iter().map(|_| Box::pin(Scan::default())).collect();
    // The own members that were there when the scan began, and are there still.
    let mut there: Vec<Vec<usize>> = vec![Vec::new(); TASKS];
    let task_of = |bench: &Bench, i: usize| {
        thieves.iter().position(|thief| Arc::ptr_eq(&bench.members[*thief].owners, &bench.members[i].owners))
    };
    let mut polls = 0;
    for _ in 0..STEPS {
        match below(8) {
            0 | 1 if bench.granted().len() < 3 * BATCH => {
                let of = if below(4) == 0 { thieves[below(TASKS)] } else { 0 };
                join(&mut bench, of);
            }
            2 => {
                let granted = bench.granted();
                if !granted.is_empty() {
                    let claims = granted[below(granted.len())];
                    bench.remove(claims);
                    there.iter_mut().for_each(|there| there.retain(|i| *i != claims));
                }
            }
            _ => {
                let task = below(TASKS);
                if !scans[task].is_cut() {
                    scans[task] = Box::pin(Scan::default());
                    there[task] = bench.granted();
                    there[task].retain(|i| task_of(&bench, *i) == Some(task));
                }
                let found = bench.section_of(thieves[task], scans[task].as_ref());
                if found != Found::More {
                    polls += 1;
                    let seen = bench.come_to(found);
                    match seen {
                        Waits => assert_eq!(there[task], [], "missed"),
                        Suspects => {}
                        Steals(victim) => {
                            assert!(there[task].contains(&victim));
                            bench.remove(victim);
                            there.iter_mut().for_each(|there| there.retain(|i| *i != victim));
                        }
                    }
                }
            }
        }
        bench.assert_in_order();
    }
    assert!(polls > STEPS / 10, "there were only {polls}");
    scans.iter().for_each(|scan| bench.stop(scan.as_ref()));
}

#[test]
fn p3_an_upgrade_is_set_aside_for_a_section() {
    for waiting in 0..3 {
        let mut bench = Bench::queued(waiting);
        assert!(bench.queue.set_upgrade_aside(section()).is_none(), "nobody upgrades");
        assert_eq!(bench.waiting().len(), waiting);
        bench.members.push(Entry::new());
        bench.push_as(waiting, Mode::Upgrade);
        let upgrade = bench.queue.set_upgrade_aside(section()).expect("the head");
        assert_eq!((bench.number(upgrade), bench.waiting()), (waiting, (0..waiting).collect()));
        // The rest goes on without it.
        let granted = bench.grant_first();
        assert_eq!(granted.map(|(i, _)| i), (waiting > 0).then_some(0));
        // SAFETY: I1: it was set aside above.
        unsafe { bench.queue.put_upgrade_back(upgrade) };
        assert_eq!(bench.waiting()[0], waiting);
        assert_eq!(bench.queue.first_mode(section()), Some(Mode::Upgrade));
        assert_eq!((bench.batch_id(waiting), bench.members[waiting].wakers()), (waiting as u32 + 100, 1));
    }
}

#[test]
fn r7_the_queue_tells_whether_its_head_was_robbed() {
    let mut bench = bench_of(&[0], &[1, 2]);
    assert!(!bench.queue.is_first_robbed(section()));
    bench.steal(0);
    assert_eq!(bench.waiting(), [1, 2, 0]);
    assert!(!bench.queue.is_first_robbed(section()), "another one is the head");
    bench.wake_first();
    bench.wake_first();
    assert!(bench.queue.is_first_robbed(section()));
    bench.prove_alive(0);
    assert!(!bench.queue.is_first_robbed(section()), "it was polled");
    bench.wake_first();
    assert!(!bench.queue.is_first_robbed(section()), "nobody waits");
}
