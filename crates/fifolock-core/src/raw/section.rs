//! A section as a type: the proof that a section runs, demanded by each accessor that may be used in a section only.

use super::{RawLock, Refusal, Word};
use core::fmt;
use core::marker::PhantomData;

/// Proof that a section of one lock runs, for as long as `'s`.
///
/// The lifetime is the section's own, since [`in_section`] makes the proof for any lifetime: the proof of another section
/// has another one, and no proof outlives its section. It stays in the thread of the section.
#[derive(Clone, Copy)]
#[allow(unnameable_types, reason = "a part of sealed traits")]
pub struct InSection<'s> {
    /// Invariant: a proof is never taken for one of a shorter or longer section.
    section: PhantomData<fn(&'s ()) -> &'s ()>,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*mut ()>,
}

impl InSection<'_> {
    /// # Safety
    ///
    /// Rule K9: a section runs for as long as the lifetime, and the proof is used for what belongs to the section's lock.
    #[inline(always)]
    pub(crate) const unsafe fn new() -> Self {
        Self { section: PhantomData, thread: PhantomData }
    }
}

impl fmt::Debug for InSection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("InSection")
    }
}

/// Runs `f` as a section, with its proof.
#[inline(always)]
pub(crate) fn in_section<R: RawLock, T>(
    raw: &R,
    refusal: Refusal,
    f: impl for<'s> FnOnce(InSection<'s>, &'s mut Word) -> T,
) -> T {
    raw.with_refusal(refusal, |word| {
        // SAFETY: rule K9: the raw lock runs this closure as a section. `f` takes any lifetime, so it can't keep the proof.
        f(unsafe { InSection::new() }, word)
    })
}
