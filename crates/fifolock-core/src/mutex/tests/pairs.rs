//! Pairs of operations on a mutex; who is beside them is on the side of who can be missed.

use crate::queue::Mode::Write;
use crate::raw::{SpinLock, StdLock};
use crate::test_tools::Data;
use crate::test_tools::pairs::Beside::{Ahead, Behind, Held};
use crate::test_tools::pairs::Op::{
    Again, AnotherWaker, Claim, Drop, DropGranted, Expire, First, Look, Release, Rescue, Try,
};
use crate::test_tools::pairs::{Later, pairs};

type Mutex = crate::Mutex<Data, Later<StdLock>>;
type SpinMutex = crate::Mutex<Data, Later<SpinLock>>;

pairs! { Mutex:
    fn loom_m2_first_polls: [], First(Write), First(Write);
    fn loom_m2_first_polls_behind_an_owner: [Held(Write)], First(Write), First(Write);
    fn loom_m4_first_poll_against_try: [], First(Write), Try(Write);
    fn loom_m1_two_tries: [], Try(Write), Try(Write);
    fn loom_m3_release_against_try: [], Release(Write), Try(Write);
    fn loom_m2_first_poll_against_a_second_poll: [Held(Write)], First(Write), AnotherWaker(Write);
    fn loom_m4_first_poll_against_claim: [], First(Write), Claim(Write);
    fn loom_m5_first_poll_against_drop: [Held(Write)], First(Write), Drop(Write);
    fn loom_m6_first_poll_against_drop_of_the_granted: [], First(Write), DropGranted(Write);
    fn loom_t4_first_poll_against_timeout: [Held(Write)], First(Write), Expire(Write);
    fn loom_m10_first_poll_against_a_look: [], First(Write), Look;
    fn loom_r2_first_poll_against_rescue: [], First(Write), Rescue(Write, Write);

    fn loom_m2_two_second_polls: [Held(Write)], AnotherWaker(Write), AnotherWaker(Write);
    fn loom_m4_second_poll_against_claim: [], Again(Write), Claim(Write);
    fn loom_m5_second_poll_against_drop: [Held(Write)], AnotherWaker(Write), Drop(Write);
    fn loom_m6_second_poll_against_drop_of_the_granted: [], AnotherWaker(Write), DropGranted(Write);
    fn loom_m3_second_poll_against_release: [], Again(Write), Release(Write);
    fn loom_t4_second_poll_against_timeout: [Held(Write)], AnotherWaker(Write), Expire(Write);
    fn loom_r2_second_poll_against_rescue: [], AnotherWaker(Write), Rescue(Write, Write);

    fn loom_m5_claim_against_drop: [Behind(Write)], Claim(Write), Drop(Write);
    fn loom_m4_claim_against_try: [Behind(Write)], Claim(Write), Try(Write);
    fn loom_t4_claim_against_timeout: [], Claim(Write), Expire(Write);
    fn loom_m10_claim_against_a_look: [], Claim(Write), Look;

    fn loom_m5_two_drops: [Held(Write), Ahead(Write)], Drop(Write), Drop(Write);
    fn loom_m6_drop_against_drop_of_the_granted: [Behind(Write)], Drop(Write), DropGranted(Write);
    fn loom_m5_drop_against_release: [Ahead(Write)], Drop(Write), Release(Write);
    fn loom_t4_drop_against_timeout: [Held(Write)], Drop(Write), Expire(Write);
    fn loom_r2_drop_against_rescue_of_another: [], Drop(Write), Rescue(Write, Write);

    fn loom_m4_drop_of_the_granted_against_try: [], DropGranted(Write), Try(Write);
    fn loom_t4_drop_of_the_granted_against_timeout: [Behind(Write)], DropGranted(Write), Expire(Write);
    fn loom_m10_drop_of_the_granted_against_a_look: [], DropGranted(Write), Look;

    fn loom_t4_release_against_timeout_of_a_queued: [Behind(Write)], Release(Write), Expire(Write);
    fn loom_m10_release_against_a_look: [], Release(Write), Look;

    fn loom_t4_two_timeouts: [Held(Write)], Expire(Write), Expire(Write);
    fn loom_r2_timeout_against_rescue: [], Expire(Write), Rescue(Write, Write);
    fn loom_r2_try_against_rescue: [], Try(Write), Rescue(Write, Write);
    fn loom_r2_look_against_rescue: [], Look, Rescue(Write, Write);

    fn loom_m4_second_poll_against_try: [Held(Write)], AnotherWaker(Write), Try(Write);
    fn loom_m4_drop_against_try: [Held(Write)], Drop(Write), Try(Write);
    fn loom_m4_timeout_against_try: [Held(Write)], Expire(Write), Try(Write);
    fn loom_m10_second_poll_against_a_look: [Held(Write)], AnotherWaker(Write), Look;
    fn loom_m10_drop_against_a_look: [Held(Write)], Drop(Write), Look;
    fn loom_m10_timeout_against_a_look: [Held(Write)], Expire(Write), Look;
    fn loom_m10_try_against_a_look: [], Try(Write), Look;
}

pairs! { SpinMutex:
    fn loom_k7_spin_first_poll_against_release: [], First(Write), Release(Write);
    fn loom_k7_spin_second_poll_against_release: [Behind(Write)], AnotherWaker(Write), Release(Write);
    fn loom_k7_spin_first_poll_against_drop_of_the_granted: [], First(Write), DropGranted(Write);
    fn loom_k7_spin_try_against_release: [], Try(Write), Release(Write);
}
