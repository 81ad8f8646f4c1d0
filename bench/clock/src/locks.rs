//! All locks, by name.

/// Calls `$visit!(name, Mutex)` for every mutex, fifolock's first.
#[macro_export]
macro_rules! for_each_mutex {
    ($visit:ident) => {
        $visit!("fifolock", ours::Mutex<ours::Std>);
        $visit!("tokio", peers::TokioMutex);
        $visit!("async-lock", peers::AsyncLockMutex);
        $visit!("futures", peers::FuturesMutex);
        $visit!("futures-intrusive", peers::IntrusiveMutex);
        $visit!("maitake-sync", peers::MaitakeMutex);
        $visit!("embassy-sync", peers::EmbassyMutex);
        $visit!("asyncband", peers::AsyncbandMutex);
        $visit!("saa", peers::SaaMutex);
    };
}

/// Calls `$visit!(name, RwLock)` for every read-write lock, fifolock's first.
#[macro_export]
macro_rules! for_each_rwlock {
    ($visit:ident) => {
        $visit!("fifolock", ours::RwLock<ours::Std>);
        $visit!("tokio", peers::TokioRwLock);
        $visit!("async-lock", peers::AsyncLockRwLock);
        $visit!("maitake-sync", peers::MaitakeRwLock);
        $visit!("embassy-sync", peers::EmbassyRwLock);
        $visit!("asyncband", peers::AsyncbandRwLock);
        $visit!("saa", peers::SaaRwLock);
    };
}
