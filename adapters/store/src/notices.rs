//! What operators should be told, once per kind and key: queued with the change it is about, leased, sent outside, recorded.
//!
//! Every time here is the database's. A row under a lease that is `pending` was surely not sent; one that is `sending` may have been.

mod claim;
mod listing;
mod queue;
mod record;
mod topics;
mod turn;

pub use claim::{Claimed, Limits, Settled, claim, give_back};
pub use listing::{Filter, NoticeRow, Waiting, find, list, retry_failed_in, retry_in, waiting};
pub use queue::insert_in;
pub use record::{Outcome, begin, record};
pub use topics::{Topic, bound, fail_pending, failed, forget, prepare, topics};
pub use turn::{Group, Turn, end_turn, group, moved, pause, resume, take_turn};

use crate::StoreError;

fn known<T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    place: &str,
    text: &str,
) -> Result<T, StoreError> {
    text.parse().map_err(|reason| StoreError::corrupt(place, reason))
}
