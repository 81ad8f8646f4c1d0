//! Waiting for tasks.

use std::panic::resume_unwind;

use tokio::task::{JoinError, JoinSet};

/// What a task returned. Its panic goes on here.
pub(crate) fn joined<T>(result: Result<T, JoinError>) -> T {
    result.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

/// What all tasks returned, in no order.
pub(crate) async fn join_all<T: 'static>(mut tasks: JoinSet<T>) -> Vec<T> {
    let mut results = Vec::with_capacity(tasks.len());
    while let Some(result) = tasks.join_next().await {
        results.push(joined(result));
    }
    results
}
