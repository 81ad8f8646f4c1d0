//! Where in the source a lock was asked for.

/// The place of a call. Without the feature `diagnostics` it is of size zero, and its functions do nothing.
#[cfg(not(feature = "diagnostics"))]
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct CallSite;

#[cfg(not(feature = "diagnostics"))]
impl CallSite {
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Self
    }
}

/// The place of a call.
#[cfg(feature = "diagnostics")]
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct CallSite(&'static core::panic::Location<'static>);

#[cfg(feature = "diagnostics")]
impl CallSite {
    /// The caller's place; through functions that are `track_caller` themselves, that of their caller.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self(core::panic::Location::caller())
    }

    pub(crate) fn location(self) -> &'static core::panic::Location<'static> {
        self.0
    }

    /// One call can have several `Location`s: each instance of a generic function has its own.
    pub(crate) fn is(self, other: Self) -> bool {
        let (a, b) = (self.0, other.0);
        core::ptr::eq(a, b) || (a.line(), a.column(), a.file()) == (b.line(), b.column(), b.file())
    }
}
