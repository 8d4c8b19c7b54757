//! What operators are told: the kinds, and the policies of telling that need neither clock nor storage.

mod admission;
mod kind;
mod retry;

#[cfg(test)]
mod tests;

pub use admission::{
    Candidate, Cap, LONGEST_WAIT, MAX_UNANSWERED, OUTCOME_UNKNOWN, TOO_OLD, VOLUME_CAP, Verdict, admit,
};
pub use kind::{Kind, UnknownKind};
pub use retry::{MAX_ATTEMPTS, pause, retry_delay};
