//! The same code over embassy-sync's locks and over ours: a firmware changes its `use` lines, and nothing else.

/// The code, given the `use` lines.
macro_rules! firmware {
    ($module:ident: $($use:item)+) => {
        mod $module {
            use core::fmt::Debug;
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

            /// As drivers keep them.
            struct Device<'a, M: RawMutex + 'static> {
                bus: &'a Mutex<M, Bus>,
            }

            impl<M: RawMutex + 'static> Device<'_, M> {
                async fn write(&mut self, byte: u8) -> u8 {
                    let mut bus = self.bus.lock().await;
                    bus.data[0] = byte;
                    bus.address += 1;
                    bus.address
                }

                async fn byte(&self) -> MappedMutexGuard<'_, M, u8> {
                    let guard: MutexGuard<'_, M, Bus> = self.bus.lock().await;
                    let data: MappedMutexGuard<'_, M, [u8; 2]> = MutexGuard::map(guard, |bus| &mut bus.data);
                    MappedMutexGuard::map(data, |data| &mut data[0])
                }
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
