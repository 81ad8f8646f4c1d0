//! Being told how far a run is.

/// Is told how far a run is. Called from many tasks; must not block.
pub trait Progress: Send + Sync {
    /// The directory was listed: so many files will be looked at, none was yet.
    fn found(&self, files: usize);

    /// One of them was dealt with, indexed or skipped.
    fn done(&self);

    /// All were, and the locks are at rest.
    fn finished(&self);
}

/// Nobody wants to know.
impl Progress for () {
    fn found(&self, _: usize) {}
    fn done(&self) {}
    fn finished(&self) {}
}
