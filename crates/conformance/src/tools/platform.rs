//! The bounds of a platform that the rules can run on.

use fifolock_core::platform;

/// A platform whose locks the rules may give to threads and put into trait objects.
///
/// The locks themselves need no `'static`.
pub trait Platform: platform::Platform + 'static {}

impl<P: platform::Platform + 'static> Platform for P {}
