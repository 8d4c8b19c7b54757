//! Reading the log: the streams that a unit of work needs (in one query), and pages for people.

mod load;
mod read;

pub(crate) use load::{Found, MOST_STREAMS, StreamRow, Wanted, load};
pub use read::{StoredEvent, read_facts, read_last, read_range, read_stream};
