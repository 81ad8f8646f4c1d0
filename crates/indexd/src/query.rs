//! Tasks that query the index while it is being rebuilt.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use tokio::task::yield_now;
use tokio::time::sleep;

use crate::index::Index;
use crate::shared::SharedIndex;

/// Between two queries of one task: people who ask also read the answer.
const PAUSE: Duration = Duration::from_millis(1);
/// One query in so many asks for the most frequent words, which takes far longer than looking one up.
const TOP_EVERY: u64 = 128;

/// Queries `index` at least once, and again and again until `stop` is set.
///
/// `number` makes each task look up words of its own.
pub(crate) async fn keep_asking(index: &SharedIndex, timeout: Duration, top: usize, number: u64, stop: &AtomicBool) {
    let mut known: Option<String> = None;
    for turn in 0_u64.. {
        let pick = mix(number << 32 | turn);
        // One that timed out is counted, and the next one is tried.
        if let Ok(word) =
            index.query(timeout, async |index: &Index| ask(index, known.as_deref(), turn, top, pick).await).await
        {
            known = word;
        }
        // Ordering: Relaxed, nothing is published by it.
        if stop.load(Ordering::Relaxed) {
            return;
        }
        sleep(PAUSE).await;
    }
}

/// Looks up a word, or the most frequent ones, and returns a word for the next time.
async fn ask(index: &Index, known: Option<&str>, turn: u64, top: usize, pick: u64) -> Option<String> {
    let found = known.and_then(|word| index.lookup(word));
    // Held across an await, as by a query that sends its answer somewhere: others may read meanwhile.
    yield_now().await;
    let next = if turn.is_multiple_of(TOP_EVERY) {
        index.top(top).first().copied()
    } else {
        let terms = index.terms();
        let place = pick.checked_rem(terms.len() as u64);
        place.map(|place| &terms[place as usize])
    };
    next.or(found).map(|term| term.word().to_owned())
}

/// Scatters numbers (the finisher of SplitMix64): good enough to pick words.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
