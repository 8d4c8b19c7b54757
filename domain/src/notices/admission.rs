//! Which of the notices that wait may go out now (spec/operations 8).

use std::{collections::BTreeMap, time::Duration};

use super::Kind;

/// A notice that waited longer says nothing new: what it is about is found where it happened. It also keeps a group that is configured
/// late from being flooded with the past.
pub const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Requests of which nobody knows whether they were carried out, after which a notice is not sent again by itself: one may stand twice
/// in the group, never more.
pub const MAX_UNANSWERED: i32 = 2;

/// Code of a notice that was over the cap.
pub const VOLUME_CAP: &str = "volume_cap";
/// Code of a notice that waited longer than [`LONGEST_WAIT`].
pub const TOO_OLD: &str = "too_old";
/// Code of a notice that may have arrived twice already.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// How many notices of one kind may be sent in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// `None` is no cap.
    pub most: Option<u32>,
    /// Length of the sliding window.
    pub window: Duration,
}

impl Default for Cap {
    fn default() -> Self {
        Self {
            most: Some(30),
            window: Duration::from_mins(5),
        }
    }
}

/// A notice that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it is about.
    pub kind: Kind,
    /// Since it was queued, or queued again by a person.
    pub age: Duration,
    /// Requests for it that nobody answered.
    pub unanswered: i32,
}

/// What becomes of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes out.
    Send,
    /// It stays; its turn comes when the group may be written to again.
    Wait,
    /// It is never sent, and that is as it should be. With its code.
    Suppress(&'static str),
    /// It is never sent by itself, and somebody should look. With its code.
    Fail(&'static str),
}

/// Judges candidates in their order. `sent` counts by kind what was sent within the window, or is being sent now; `budget` is how many
/// requests the group takes for the moment. A suppressed notice counts against neither.
pub fn admit(candidates: &[Candidate], sent: &BTreeMap<Kind, u32>, cap: Cap, budget: u32) -> Vec<Verdict> {
    let mut sent = sent.clone();
    let mut budget = budget;
    candidates
        .iter()
        .map(|candidate| {
            if candidate.unanswered >= MAX_UNANSWERED {
                return Verdict::Fail(OUTCOME_UNKNOWN);
            }
            if candidate.age > LONGEST_WAIT {
                return Verdict::Suppress(TOO_OLD);
            }
            let count = sent.entry(candidate.kind).or_default();
            if cap.most.is_some_and(|most| *count >= most) {
                return Verdict::Suppress(VOLUME_CAP);
            }
            let Some(rest) = budget.checked_sub(1) else {
                return Verdict::Wait;
            };
            budget = rest;
            *count = count.saturating_add(1);
            Verdict::Send
        })
        .collect()
}
