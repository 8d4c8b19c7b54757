//! What one run came to.

use domain::notices::Kind;
use serde::Serialize;
use store::notices::Settled;

/// What one run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// It was this process's turn.
    pub has_turn: bool,
    /// The group was left alone for so long yet; 0 when it was not.
    pub paused_seconds: u64,
    /// Topics that were made.
    pub topics_made: u32,
    /// Notices that stand in the group.
    pub sent: u32,
    /// Notices that are never sent, as they should not be.
    pub suppressed: u32,
    /// Notices that are tried again later.
    pub retrying: u32,
    /// Notices that a person has to look at.
    pub failed: u32,
}

impl Report {
    /// A notice ended without a request.
    pub(super) fn settled(&mut self, one: &Settled) {
        if one.status == "suppressed" {
            tracing::info!(kind = %one.kind, code = one.code, "a notice to operators is not sent");
        } else {
            tracing::warn!(kind = %one.kind, code = one.code, "a notice to operators failed");
        }
        self.count(one.kind, one.status);
    }

    /// Counts what became of a notice: `sent`, `suppressed`, `retrying` or `failed`.
    pub(super) fn count(&mut self, kind: Kind, outcome: &'static str) {
        let figure = match outcome {
            "sent" => &mut self.sent,
            "suppressed" => &mut self.suppressed,
            "retrying" => &mut self.retrying,
            _ => &mut self.failed,
        };
        *figure = figure.saturating_add(1);
        metrics::counter!("omniflow_notices_total", "kind" => kind.as_str(), "outcome" => outcome).increment(1);
    }
}
