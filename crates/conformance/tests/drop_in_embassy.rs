//! The same code over embassy-sync's locks and over this project's: a firmware changes its `use` lines, and nothing
//! else.

/// The code, for the given `use` lines.
macro_rules! firmware {
    ($module:ident: $($use:item)+) => {
        mod $module {
            use core::fmt::Debug;
            use core::marker::PhantomData;
            use embassy_sync::blocking_mutex::raw::{CriticalSectionRawMutex, NoopRawMutex, RawMutex};
            use fifolock_conformance::tools::Task;
            $($use)+

            #[derive(Debug, Default, PartialEq)]
            struct Bus {
                address: u8,
                data: [u8; 2],
            }

            static BUS: Mutex<CriticalSectionRawMutex, Bus> = Mutex::new(Bus { address: 0, data: [0; 2] });
            static CONFIG: RwLock<CriticalSectionRawMutex, u32> = RwLock::new(7);

            /// A device as drivers keep it.
            struct Device<'a, M: RawMutex> {
                bus: &'a Mutex<M, Bus>,
            }

            impl<'a, M: RawMutex> Device<'a, M> {
                async fn write(&mut self, byte: u8) -> u8 {
                    let mut bus = self.bus.lock().await;
                    bus.data[0] = byte;
                    bus.address += 1;
                    bus.address
                }

                /// The guard borrows the bus, not the driver.
                async fn lend(&self) -> MutexGuard<'a, M, Bus> {
                    self.bus.lock().await
                }

                async fn byte(&self) -> MappedMutexGuard<'_, M, u8> {
                    let guard: MutexGuard<'_, M, Bus> = self.bus.lock().await;
                    let data: MappedMutexGuard<'_, M, [u8; 2]> = MutexGuard::map(guard, |bus| &mut bus.data);
                    MappedMutexGuard::map(data, |data| &mut data[0])
                }
            }

            /// A sensor with readers, as a type with all of its parameters.
            struct Sensor<'a, M: RawMutex, T> {
                config: &'a RwLock<M, T>,
            }

            impl<'a, M: RawMutex, T> Sensor<'a, M, T> {
                fn new(config: &'a RwLock<M, T>) -> Self {
                    Self { config }
                }

                async fn read(&self) -> RwLockReadGuard<'a, M, T> {
                    self.config.read().await
                }

                async fn write(&self) -> RwLockWriteGuard<'a, M, T> {
                    self.config.write().await
                }

                fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
                    self.config.try_read().ok().map(|guard| look(&guard))
                }
            }

            async fn change<M: RawMutex, T>(lock: &RwLock<M, T>, value: T) {
                *lock.write().await = value;
            }

            /// A raw mutex with a lifetime, which is never `'static` in these tests.
            struct Scoped<'a>(NoopRawMutex, PhantomData<&'a u8>);

            // SAFETY: `NoopRawMutex` keeps the contract, and the field keeps the type on its thread.
            unsafe impl RawMutex for Scoped<'_> {
                const INIT: Self = Self(NoopRawMutex::INIT, PhantomData);

                fn lock<R>(&self, f: impl FnOnce() -> R) -> R {
                    self.0.lock(f)
                }
            }

            /// Locks whose raw mutex must not outlive `_of`.
            fn scoped<'a>(_of: &'a u8) -> (Mutex<Scoped<'a>, Bus>, RwLock<Scoped<'a>, u8>) {
                (Mutex::new(Bus::default()), RwLock::new(1))
            }

            #[test]
            fn drivers_over_any_raw_mutex() {
                let local = 0;
                let (bus, config) = scoped(&local);
                let mut device = Device { bus: &bus };
                assert_eq!(Task::new(device.write(5)).ready(), 1);
                assert_eq!(Task::new(device.lend()).ready().data, [5, 0]);
                assert_eq!(*Task::new(device.byte()).ready(), 5);
                let sensor = Sensor::new(&config);
                let first = Task::new(sensor.read()).ready();
                let mut change = Task::queued(change(&config, 2));
                drop(first);
                change.ready();
                let guard = Task::new(sensor.write()).ready();
                assert!(sensor.peek(|_| ()).is_none());
                drop(guard);
                assert_eq!(sensor.peek(|value| *value), Some(2));
            }

            fn is_sync(_: &(impl Sync + Send)) {}

            #[test]
            fn a_mutex_in_a_static() {
                is_sync(&BUS);
                let mut device = Device { bus: &BUS };
                assert_eq!(Task::new(device.write(5)).ready(), 1);
                let guard = BUS.try_lock().unwrap();
                assert!(BUS.try_lock().is_err());
                let mut waiting = Task::queued(device.write(6));
                drop(guard);
                assert_eq!(waiting.wakes(), 1);
                assert_eq!(waiting.ready(), 2);
                drop(waiting);
                let mut byte = Task::new(device.byte()).ready();
                assert_eq!((*byte, format!("{byte:?} {byte}")), (6, "6 6".into()));
                *byte += 1;
                assert!(BUS.try_lock().is_err());
                drop(byte);
                assert_eq!(BUS.try_lock().unwrap().data, [7, 0]);
            }

            #[test]
            fn a_mutex_of_one_executor() {
                let mut mutex: Mutex<NoopRawMutex, Bus> = Mutex::default();
                mutex.get_mut().address = 3;
                {
                    let mut guard = mutex.try_lock().expect("an error that can be printed");
                    guard.data = [1, 2];
                    assert!(format!("{mutex:?}").contains("<locked>"));
                }
                assert!(format!("{mutex:?}").contains("address: 3"));
                assert_eq!(mutex.into_inner(), Bus { address: 3, data: [1, 2] });
                let mutex = Mutex::<NoopRawMutex, _>::from(1);
                let unsized_data: &Mutex<NoopRawMutex, dyn Debug> = &mutex;
                assert!(unsized_data.try_lock().is_ok());
            }

            #[test]
            fn a_read_write_lock_in_a_static() {
                is_sync(&CONFIG);
                let first: RwLockReadGuard<'_, _, _> = Task::new(CONFIG.read()).ready();
                let second = CONFIG.try_read().unwrap();
                assert_eq!((*first, *second), (7, 7));
                assert!(CONFIG.try_write().is_err());
                let mut writer = Task::queued(async {
                    let mut guard: RwLockWriteGuard<'_, _, _> = CONFIG.write().await;
                    *guard += 1;
                    format!("{guard:?} {guard}")
                });
                drop((first, second));
                assert_eq!(writer.ready(), "8 8");
                let guard = CONFIG.try_write().unwrap();
                assert!(CONFIG.try_read().is_err());
                let mut reader = Task::queued(CONFIG.read());
                drop(guard);
                assert_eq!(*reader.ready(), 8);
            }

            #[test]
            fn a_read_write_lock_of_one_executor() {
                let mut lock: RwLock<NoopRawMutex, [u8; 2]> = RwLock::default();
                lock.get_mut()[0] = 1;
                lock.try_write().expect("an error that can be printed")[1] = 2;
                assert!(format!("{lock:?}").contains("[1, 2]"));
                assert_eq!(lock.into_inner(), [1, 2]);
                assert_eq!(*RwLock::<NoopRawMutex, _>::from(1).try_read().unwrap(), 1);
            }
        }
    };
}

firmware! { over_embassy_sync:
    use embassy_sync::mutex::{MappedMutexGuard, Mutex, MutexGuard};
    use embassy_sync::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
}

firmware! { over_fifolock:
    use fifolock::embassy::{MappedMutexGuard, Mutex, MutexGuard};
    use fifolock::embassy::{RwLock, RwLockReadGuard, RwLockWriteGuard};
}

/// What embassy-sync does not have: named futures, upgradable reads, and limits of time, also for any raw mutex.
mod timed_drivers {
    use core::future::Future;
    use embassy_sync::blocking_mutex::raw::{NoopRawMutex, RawMutex};
    use embassy_time::{Duration, Instant};
    use fifolock::embassy::{
        Lock, LockDeadline, LockTimeout, LockUntil, Mutex, MutexGuard, ReadTimeout, RwLock, RwLockReadGuard,
        RwLockUpgradableReadGuard, RwLockWriteGuard, TimeoutError, Upgrade, WriteDeadline,
    };
    use fifolock_conformance::tools::Task;

    struct Driver<'a, M: RawMutex, T> {
        bus: &'a Mutex<M, T>,
        config: &'a RwLock<M, T>,
    }

    impl<'a, M: RawMutex, T: Copy> Driver<'a, M, T> {
        fn lock(&self) -> Lock<'a, M, T> {
            self.bus.lock()
        }

        fn lock_within(&self, limit: Duration) -> LockTimeout<'a, M, T> {
            self.bus.lock_timeout(limit)
        }

        fn lock_by(&self, deadline: Instant) -> LockDeadline<'a, M, T> {
            self.bus.lock_deadline(deadline)
        }

        fn lock_unless<F: Future>(&self, other: F) -> LockUntil<'a, M, T, F> {
            self.bus.lock_until(other)
        }

        fn read_within(&self, limit: Duration) -> ReadTimeout<'a, M, T> {
            self.config.read_timeout(limit)
        }

        fn write_by(&self, deadline: Instant) -> WriteDeadline<'a, M, T> {
            self.config.write_deadline(deadline)
        }

        async fn replace(&self, value: T) -> Result<T, TimeoutError> {
            let guard: RwLockUpgradableReadGuard<'a, M, T> = self.config.upgradable_read().await;
            let old = *guard;
            let upgrade: Upgrade<'a, M, T> = RwLockUpgradableReadGuard::upgrade(guard);
            let mut guard: RwLockWriteGuard<'a, M, T> = upgrade.await;
            *guard = value;
            let _read: RwLockReadGuard<'a, M, T> = RwLockWriteGuard::downgrade(guard);
            self.bus.run_exclusive_timeout(Duration::from_millis(1), async |data: &mut T| *data = value).await?;
            Ok(old)
        }
    }

    #[test]
    fn limits_of_time_over_any_raw_mutex() {
        let (bus, config) = (Mutex::<NoopRawMutex, _>::new(1), RwLock::<NoopRawMutex, _>::new(1));
        let driver = Driver { bus: &bus, config: &config };
        let limit = Duration::from_millis(5);
        assert_eq!(Task::new(driver.replace(2)).ready(), Ok(1));
        let guard: MutexGuard<'_, NoopRawMutex, i32> = Task::new(driver.lock()).ready();
        assert_eq!(Task::new(driver.lock_unless(core::future::ready(7))).ready().unwrap_err(), 7);
        assert!(Task::new(driver.lock_by(Instant::MIN)).ready().unwrap_err().is_elapsed());
        drop(guard);
        assert_eq!(*Task::new(driver.lock_within(limit)).ready().expect("free"), 2);
        assert_eq!(*Task::new(driver.read_within(limit)).ready().expect("free"), 2);
        assert_eq!(*Task::new(driver.write_by(Instant::MIN)).ready().expect("free"), 2);
    }
}
