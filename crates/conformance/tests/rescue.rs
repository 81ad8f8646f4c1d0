//! The rules of the rescue, on every platform. Those about time run on the manual clock.

fifolock_conformance::on_every_platform!(rescue_rules; rescue_timed_rules);
