//! The rules of the rescue, on every platform; those of time on the manual clock.

fifolock_conformance::on_every_platform!(rescue_rules; rescue_timed_rules);
