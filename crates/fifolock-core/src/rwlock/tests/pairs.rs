//! Pairs of operations on a read-write lock.

use crate::queue::Mode::{Read, Upgradable, Write};
use crate::raw::StdLock;
use crate::test_tools::Data;
use crate::test_tools::pairs::Beside::{Ahead, Behind, Held};
use crate::test_tools::pairs::Op::{
    Again, AnotherWaker, Claim, Convert, Drop, DropGranted, DropUpgrade, Expire, First, Look, Release, Rescue, Try,
    Upgrade,
};
use crate::test_tools::pairs::{Later, To, pairs};

type RwLock = crate::RwLock<Data, Later<StdLock>>;

pairs! { RwLock:
    fn loom_w1_two_first_reads: [], First(Read), First(Read);
    fn loom_w2_two_first_writes: [], First(Write), First(Write);
    fn loom_u1_first_upgradable_reads: [], First(Upgradable), First(Upgradable);
    fn loom_u2_first_upgradable_read_against_first_write: [], First(Upgradable), First(Write);
    fn loom_u2_first_upgradable_read_against_first_read: [], First(Upgradable), First(Read);
    fn loom_w1_first_read_behind_a_writer_against_its_second_poll: [Held(Read)], First(Read), AnotherWaker(Write);
    fn loom_w2_first_write_against_a_second_poll: [Held(Read)], First(Write), AnotherWaker(Write);
    fn loom_w4_first_read_against_claim_of_a_read: [], First(Read), Claim(Read);
    fn loom_w4_first_write_against_claim_of_a_read: [], First(Write), Claim(Read);
    fn loom_w4_first_read_against_claim_of_a_write: [], First(Read), Claim(Write);
    fn loom_w4_first_write_against_claim_of_a_write: [], First(Write), Claim(Write);
    fn loom_w5_first_write_against_drop_of_a_write: [Held(Read), Behind(Read)], First(Write), Drop(Write);
    fn loom_w8_first_write_against_drop_of_a_granted_read: [], First(Write), DropGranted(Read);
    fn loom_w8_first_read_against_drop_of_a_granted_write: [], First(Read), DropGranted(Write);
    fn loom_w4_first_upgradable_read_against_release_of_a_write: [], First(Upgradable), Release(Write);
    fn loom_w4_first_write_against_release_of_a_write: [], First(Write), Release(Write);
    fn loom_u1_first_upgradable_read_against_release_of_one: [], First(Upgradable), Release(Upgradable);
    fn loom_u1_first_write_against_release_of_an_upgradable_read: [], First(Write), Release(Upgradable);
    fn loom_w1_first_read_against_try_write: [], First(Read), Try(Write);
    fn loom_w2_first_write_against_try_read: [], First(Write), Try(Read);
    fn loom_t4_first_read_against_timeout_of_a_write: [Held(Read)], First(Read), Expire(Write);
    fn loom_t4_first_write_against_timeout_of_a_write: [Held(Read), Behind(Read)], First(Write), Expire(Write);
    fn loom_u5_first_write_against_downgrade_to_upgradable: [], First(Write), Convert(Write, To::Upgradable);
    fn loom_u5_first_upgradable_read_against_downgrade_to_upgradable:
        [], First(Upgradable), Convert(Write, To::Upgradable);
    fn loom_u5_first_upgradable_read_against_downgrade_of_one: [], First(Upgradable), Convert(Upgradable, To::Read);
    fn loom_u3_upgrade_against_a_first_read: [], First(Read), Upgrade;
    fn loom_u3_upgrade_against_a_first_write: [], First(Write), Upgrade;
    fn loom_u3_upgrade_against_a_first_upgradable_read: [], First(Upgradable), Upgrade;
    fn loom_u4_dropped_upgrade_against_a_first_read: [Held(Read)], First(Read), DropUpgrade;
    fn loom_u4_dropped_upgrade_against_a_first_write: [Held(Read)], First(Write), DropUpgrade;
    fn loom_u6_try_upgrade_against_a_first_read: [], First(Read), Convert(Upgradable, To::Write);
    fn loom_u6_try_upgrade_against_a_first_write: [], First(Write), Convert(Upgradable, To::Write);
    fn loom_r2_first_write_against_rescue: [Ahead(Write)], First(Write), Rescue(Read, Read);
    fn loom_r4_first_read_against_rescue: [], First(Read), Rescue(Read, Write);
    fn loom_w1_first_read_against_a_look: [], First(Read), Look;

    fn loom_w4_second_poll_of_a_read_against_release_of_a_write: [], Again(Read), Release(Write);
    fn loom_w3_second_poll_of_a_write_against_release_of_a_read: [], AnotherWaker(Write), Release(Read);
    fn loom_w4_second_poll_of_a_write_against_release_of_a_write: [Behind(Read)], Again(Write), Release(Write);
    fn loom_w6_second_poll_of_a_read_against_downgrade: [], AnotherWaker(Read), Convert(Write, To::Read);
    fn loom_w5_second_poll_of_a_read_against_drop_of_a_write: [Held(Read), Ahead(Write)], AnotherWaker(Read), Drop(Read);
    fn loom_w4_second_poll_of_a_write_against_claim: [], AnotherWaker(Write), Claim(Read);
    fn loom_u3_second_poll_of_a_write_against_upgrade: [], AnotherWaker(Write), Upgrade;

    fn loom_w8_two_claims_of_a_batch: [Behind(Write)], Claim(Read), Claim(Read);
    fn loom_w8_claim_of_a_read_against_drop_of_another: [Behind(Write)], Claim(Read), DropGranted(Read);
    fn loom_w8_claim_of_a_read_against_timeout_of_a_write: [Behind(Read)], Claim(Read), Expire(Write);
    fn loom_w5_claim_of_a_read_against_drop_of_a_write: [Behind(Read)], Claim(Read), Drop(Write);
    fn loom_w5_claim_of_a_write_against_drop_of_a_read: [], Claim(Write), Drop(Read);
    fn loom_w4_claim_of_a_read_against_try_read: [], Claim(Read), Try(Read);
    fn loom_w4_claim_of_a_write_against_try_write: [], Claim(Write), Try(Write);
    fn loom_w3_claim_of_a_read_against_release_of_a_read: [Behind(Write)], Claim(Read), DropGranted(Upgradable);
    fn loom_w4_claim_of_a_read_against_a_look: [], Claim(Read), Look;

    fn loom_w8_two_granted_reads_are_dropped: [Behind(Write)], DropGranted(Read), DropGranted(Read);
    fn loom_w8_drop_of_a_granted_write_against_drop_of_a_read: [Behind(Write)], DropGranted(Write), Drop(Read);
    fn loom_w8_drop_of_a_granted_read_against_timeout_of_a_write: [Behind(Read)], DropGranted(Read), Expire(Write);
    fn loom_w8_drop_of_a_granted_write_against_try_read: [Behind(Read)], DropGranted(Write), Try(Read);

    fn loom_w5_drop_of_a_write_against_release_of_a_read: [Behind(Read)], Drop(Write), Release(Read);
    fn loom_w4_drop_of_a_read_against_release_of_a_write: [Behind(Read)], Drop(Read), Release(Write);
    fn loom_w5_two_writers_are_dropped: [Held(Read), Behind(Read)], Drop(Write), Drop(Write);
    fn loom_w5_drop_of_a_write_against_try_read: [Held(Read)], Drop(Write), Try(Read);
    fn loom_t4_drop_of_a_write_against_timeout_of_a_write: [Held(Read), Behind(Read)], Drop(Write), Expire(Write);
    fn loom_w6_drop_of_a_write_against_downgrade: [Behind(Read)], Drop(Write), Convert(Write, To::Read);
    fn loom_u5_drop_of_a_write_against_downgrade_to_upgradable:
        [Behind(Read)], Drop(Write), Convert(Write, To::Upgradable);
    fn loom_u5_drop_against_downgrade_of_an_upgradable_read:
        [Behind(Upgradable)], Drop(Write), Convert(Upgradable, To::Read);
    fn loom_u3_drop_of_a_write_against_upgrade: [], Drop(Write), Upgrade;
    fn loom_u4_drop_of_a_write_against_drop_of_the_upgrade: [Held(Read), Behind(Read)], Drop(Write), DropUpgrade;
    fn loom_u6_drop_of_a_write_against_try_upgrade: [Behind(Read)], Drop(Write), Convert(Upgradable, To::Write);

    fn loom_w3_two_reads_are_released: [Behind(Write)], Release(Read), Release(Read);
    fn loom_w3_release_of_a_read_against_try_write: [], Release(Read), Try(Write);
    fn loom_w4_release_of_a_write_against_try_read: [Behind(Read)], Release(Write), Try(Read);
    fn loom_t4_release_of_a_read_against_timeout_of_a_write: [Behind(Read)], Release(Read), Expire(Write);
    fn loom_t4_release_of_a_write_against_timeout_of_a_read: [Behind(Read)], Release(Write), Expire(Read);
    fn loom_t4_release_of_a_write_against_timeout_of_a_write: [Behind(Read)], Release(Write), Expire(Write);
    fn loom_u1_release_of_a_read_against_release_of_an_upgradable_read:
        [Behind(Write)], Release(Read), Release(Upgradable);
    fn loom_u5_release_of_a_read_against_downgrade_of_an_upgradable_read:
        [Behind(Write)], Release(Read), Convert(Upgradable, To::Read);
    fn loom_u4_release_of_a_read_against_drop_of_the_upgrade: [Held(Read), Behind(Read)], Release(Read), DropUpgrade;
    fn loom_u3_release_of_the_last_read_against_upgrade: [Behind(Write)], Release(Read), Upgrade;
    fn loom_u6_release_of_a_read_against_try_upgrade: [], Release(Read), Convert(Upgradable, To::Write);
    fn loom_w3_release_of_a_read_against_a_look: [], Release(Read), Look;

    fn loom_w1_try_read_against_try_write: [], Try(Read), Try(Write);
    fn loom_u1_two_tries_of_an_upgradable_read: [], Try(Upgradable), Try(Upgradable);
    fn loom_w6_try_write_against_downgrade: [], Try(Write), Convert(Write, To::Read);
    fn loom_u5_try_upgradable_against_downgrade_to_upgradable: [], Try(Upgradable), Convert(Write, To::Upgradable);
    fn loom_u5_try_upgradable_against_downgrade_of_one: [], Try(Upgradable), Convert(Upgradable, To::Read);
    fn loom_u3_try_read_against_upgrade: [], Try(Read), Upgrade;
    fn loom_u4_try_read_against_drop_of_the_upgrade: [Held(Read)], Try(Read), DropUpgrade;
    fn loom_u6_try_read_against_try_upgrade: [], Try(Read), Convert(Upgradable, To::Write);
    fn loom_r4_try_read_against_rescue: [], Try(Read), Rescue(Read, Write);

    fn loom_t4_two_writers_time_out: [Held(Read), Behind(Read)], Expire(Write), Expire(Write);
    fn loom_w6_timeout_of_a_write_against_downgrade: [Behind(Read)], Expire(Write), Convert(Write, To::Read);
    fn loom_u5_timeout_of_a_write_against_downgrade_to_upgradable:
        [Behind(Read)], Expire(Write), Convert(Write, To::Upgradable);
    fn loom_u5_timeout_of_an_upgradable_read_against_downgrade_of_one:
        [Behind(Write)], Expire(Upgradable), Convert(Upgradable, To::Read);
    fn loom_u3_timeout_of_a_write_against_upgrade: [Held(Read), Behind(Read)], Expire(Write), Upgrade;
    fn loom_u4_timeout_of_a_write_against_drop_of_the_upgrade: [Held(Read), Behind(Read)], Expire(Write), DropUpgrade;
    fn loom_u6_timeout_of_a_write_against_try_upgrade: [Behind(Read)], Expire(Write), Convert(Upgradable, To::Write);
    fn loom_r5_timeout_of_a_write_against_rescue: [Behind(Read)], Expire(Write), Rescue(Write, Read);
    fn loom_r5_drop_of_a_write_against_rescue: [Behind(Read)], Drop(Write), Rescue(Write, Read);

    fn loom_f20_first_read_against_first_write: [], First(Read), First(Write);
    fn loom_f20_first_read_against_drop: [Held(Read)], First(Read), Drop(Write);
    fn loom_f20_first_read_against_release_of_a_read: [], First(Read), Release(Read);
    fn loom_f20_first_read_against_release_of_an_upgradable_read: [], First(Read), Release(Upgradable);
    fn loom_f20_first_read_against_release_of_a_write: [], First(Read), Release(Write);
    fn loom_f20_first_read_against_downgrade: [], First(Read), Convert(Write, To::Read);
    fn loom_f20_first_read_against_downgrade_to_upgradable: [], First(Read), Convert(Write, To::Upgradable);
    fn loom_f20_first_read_against_downgrade_of_an_upgradable_read: [], First(Read), Convert(Upgradable, To::Read);
    fn loom_f20_first_upgradable_read_against_second_poll:
        [Held(Read), Behind(Read)], First(Upgradable), AnotherWaker(Write);
    fn loom_f20_first_upgradable_read_against_claim: [], First(Upgradable), Claim(Write);
    fn loom_f20_first_upgradable_read_against_drop: [Held(Read), Behind(Read)], First(Upgradable), Drop(Write);
    fn loom_f20_first_upgradable_read_against_drop_of_the_granted: [], First(Upgradable), DropGranted(Write);
    fn loom_f20_first_upgradable_read_against_release_of_a_read: [], First(Upgradable), Release(Read);
    fn loom_f20_first_upgradable_read_against_try: [], First(Upgradable), Try(Write);
    fn loom_f20_first_upgradable_read_against_timeout: [Held(Read), Behind(Read)], First(Upgradable), Expire(Write);
    fn loom_f20_first_upgradable_read_against_downgrade: [], First(Upgradable), Convert(Write, To::Read);
    fn loom_f20_first_upgradable_read_against_drop_of_the_upgrade: [Held(Read)], First(Upgradable), DropUpgrade;
    fn loom_f20_first_upgradable_read_against_try_upgrade: [], First(Upgradable), Convert(Upgradable, To::Write);
    fn loom_f20_first_upgradable_read_against_rescue: [], First(Upgradable), Rescue(Write, Write);
    fn loom_f20_first_upgradable_read_against_look: [], First(Upgradable), Look;
    fn loom_f20_first_write_against_release_of_a_read: [], First(Write), Release(Read);
    fn loom_f20_first_write_against_downgrade: [], First(Write), Convert(Write, To::Read);
    fn loom_f20_first_write_against_downgrade_of_an_upgradable_read: [], First(Write), Convert(Upgradable, To::Read);
    fn loom_f20_first_write_against_look: [], First(Write), Look;
    fn loom_f20_two_second_polls: [Held(Read)], AnotherWaker(Write), AnotherWaker(Write);
    fn loom_f20_second_poll_against_drop_of_the_granted: [Behind(Write)], AnotherWaker(Read), DropGranted(Write);
    fn loom_f20_second_poll_against_release_of_an_upgradable_read:
        [Held(Read), Behind(Read)], AnotherWaker(Write), Release(Upgradable);
    fn loom_f20_second_poll_against_try: [Held(Read), Behind(Read)], AnotherWaker(Write), Try(Read);
    fn loom_f20_second_poll_against_timeout: [Held(Read)], AnotherWaker(Write), Expire(Write);
    fn loom_f20_second_poll_against_downgrade_to_upgradable: [], AnotherWaker(Read), Convert(Write, To::Upgradable);
    fn loom_f20_second_poll_against_downgrade_of_an_upgradable_read:
        [Held(Read), Behind(Read)], AnotherWaker(Write), Convert(Upgradable, To::Read);
    fn loom_f20_second_poll_against_drop_of_the_upgrade: [Held(Read), Behind(Read)], AnotherWaker(Write), DropUpgrade;
    fn loom_f20_second_poll_against_try_upgrade:
        [Held(Read), Behind(Read)], AnotherWaker(Write), Convert(Upgradable, To::Write);
    fn loom_f20_second_poll_against_rescue: [Behind(Write)], AnotherWaker(Read), Rescue(Write, Write);
    fn loom_f20_second_poll_against_look: [Held(Read), Behind(Read)], AnotherWaker(Write), Look;
    fn loom_f20_claim_against_release_of_a_read: [Behind(Write)], Claim(Read), Release(Read);
    fn loom_f20_claim_against_release_of_an_upgradable_read: [Behind(Write)], Claim(Read), Release(Upgradable);
    fn loom_f20_claim_against_downgrade_of_an_upgradable_read:
        [Behind(Write)], Claim(Read), Convert(Upgradable, To::Read);
    fn loom_f20_claim_against_upgrade: [Behind(Write)], Claim(Read), Upgrade;
    fn loom_f20_claim_against_drop_of_the_upgrade: [Behind(Write)], Claim(Read), DropUpgrade;
    fn loom_f20_claim_against_try_upgrade: [Behind(Write)], Claim(Read), Convert(Upgradable, To::Write);
    fn loom_f20_claim_against_rescue: [], Claim(Read), Rescue(Write, Read);
    fn loom_f20_drop_against_release_of_an_upgradable_read:
        [Held(Read), Behind(Read)], Drop(Write), Release(Upgradable);
    fn loom_f20_drop_against_look: [Held(Read), Behind(Read)], Drop(Write), Look;
    fn loom_f20_drop_of_the_granted_against_release_of_a_read: [Behind(Write)], DropGranted(Read), Release(Read);
    fn loom_f20_drop_of_the_granted_against_release_of_an_upgradable_read:
        [Behind(Write)], DropGranted(Read), Release(Upgradable);
    fn loom_f20_drop_of_the_granted_against_downgrade_of_an_upgradable_read:
        [Behind(Write)], DropGranted(Read), Convert(Upgradable, To::Read);
    fn loom_f20_drop_of_the_granted_against_upgrade: [Behind(Write)], DropGranted(Read), Upgrade;
    fn loom_f20_drop_of_the_granted_against_drop_of_the_upgrade: [Behind(Write)], DropGranted(Read), DropUpgrade;
    fn loom_f20_drop_of_the_granted_against_try_upgrade:
        [Behind(Write)], DropGranted(Read), Convert(Upgradable, To::Write);
    fn loom_f20_drop_of_the_granted_against_rescue: [], DropGranted(Read), Rescue(Write, Read);
    fn loom_f20_drop_of_the_granted_against_look: [], DropGranted(Write), Look;
    fn loom_f20_release_of_a_read_against_rescue: [Behind(Write)], Release(Read), Rescue(Write, Read);
    fn loom_f20_release_of_an_upgradable_read_against_try: [], Release(Upgradable), Try(Read);
    fn loom_f20_release_of_an_upgradable_read_against_timeout:
        [Held(Read), Behind(Read)], Release(Upgradable), Expire(Write);
    fn loom_f20_release_of_an_upgradable_read_against_rescue: [Behind(Write)], Release(Upgradable), Rescue(Write, Read);
    fn loom_f20_release_of_an_upgradable_read_against_look: [], Release(Upgradable), Look;
    fn loom_f20_release_of_a_write_against_look: [], Release(Write), Look;
    fn loom_f20_try_against_timeout: [Held(Read), Behind(Read)], Try(Read), Expire(Write);
    fn loom_f20_try_against_look: [], Try(Write), Look;
    fn loom_u1_try_upgradable_against_a_look: [], Try(Upgradable), Look;
    fn loom_f20_timeout_against_look: [Held(Read), Behind(Read)], Expire(Write), Look;
    fn loom_f20_downgrade_against_look: [], Convert(Write, To::Read), Look;
    fn loom_f20_downgrade_to_upgradable_against_look: [], Convert(Write, To::Upgradable), Look;
    fn loom_f20_downgrade_of_an_upgradable_read_against_rescue:
        [Behind(Write)], Convert(Upgradable, To::Read), Rescue(Write, Read);
    fn loom_f20_downgrade_of_an_upgradable_read_against_look: [], Convert(Upgradable, To::Read), Look;
    fn loom_f20_upgrade_against_rescue: [Behind(Write)], Upgrade, Rescue(Write, Read);
    fn loom_f20_upgrade_against_look: [], Upgrade, Look;
    fn loom_f20_drop_of_the_upgrade_against_rescue: [Behind(Write)], DropUpgrade, Rescue(Write, Read);
    fn loom_f20_drop_of_the_upgrade_against_look: [Held(Read)], DropUpgrade, Look;
    fn loom_f20_try_upgrade_against_rescue: [Behind(Write)], Convert(Upgradable, To::Write), Rescue(Write, Read);
    fn loom_f20_try_upgrade_against_look: [], Convert(Upgradable, To::Write), Look;
    fn loom_f20_two_rescues: [], Rescue(Write, Read), Rescue(Write, Read);
    fn loom_f20_rescue_against_look: [], Rescue(Write, Write), Look;
}
