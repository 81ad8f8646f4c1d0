//! Peers whose locks have the usual methods.

/// A mutex: name, type, constructor, guard, and the conversion of `try_lock`'s result into an `Option`.
macro_rules! mutex {
    ($name:ident, $mutex:ty, $new:ident($($arg:expr),*), $guard:ty, |$tried:ident| $option:expr) => {
        /// A peer's mutex.
        pub struct $name($mutex);

        impl scenarios::lock::Mutex for $name {
            type Guard<'a> = $guard;

            fn new() -> Self {
                Self(<$mutex>::$new($($arg),*))
            }

            #[inline(always)]
            fn lock(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
                self.0.lock()
            }

            #[inline(always)]
            fn try_lock(&self) -> Option<Self::Guard<'_>> {
                let $tried = self.0.try_lock();
                $option
            }
        }
    };
}

/// A read-write lock: name, type and guards.
macro_rules! rwlock {
    ($name:ident, $lock:ty, $read:ty, $write:ty) => {
        /// A peer's read-write lock.
        pub struct $name($lock);

        impl scenarios::lock::RwLock for $name {
            type Read<'a> = $read;
            type Write<'a> = $write;

            fn new() -> Self {
                Self(<$lock>::new(0))
            }

            #[inline(always)]
            fn read(&self) -> impl Future<Output = Self::Read<'_>> + Send {
                self.0.read()
            }

            #[inline(always)]
            fn write(&self) -> impl Future<Output = Self::Write<'_>> + Send {
                self.0.write()
            }
        }
    };
}

pub(crate) use {mutex, rwlock};
