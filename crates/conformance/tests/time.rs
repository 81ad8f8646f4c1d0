//! The rules of time on the manual clock, over every raw lock.

fifolock_conformance::on_every_platform!(; time_rules, time_foreign_rules, until_rules);
