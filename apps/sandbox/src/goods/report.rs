//! The oracle: what the gateway delivered, by recipient. The wire has no order id, so whoever judges gives every order a recipient of its
//! own; then more than one delivery to a name is a duplicate.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{Effect, Kind};
use crate::{SandboxError, journal};

/// The gateway's journal, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoodsReport {
    /// Submissions that were carried out.
    pub accepted: u64,
    /// Submissions that were refused with `{ok: false}`.
    pub rejected: u64,
    /// Accepted submissions by recipient, in lower case.
    pub by_recipient: BTreeMap<String, RecipientReport>,
    /// Accepted submissions beyond the first of their recipient.
    pub duplicates: u64,
    /// Recipients with more than one.
    pub duplicate_recipients: Vec<String>,
}

/// What one recipient got.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecipientReport {
    /// Accepted submissions.
    pub submissions: u64,
    /// Stars in all.
    pub stars: i64,
    /// Months of Premium in all.
    pub premium_months: i64,
}

impl GoodsReport {
    /// Accepted submissions to one recipient.
    pub fn submissions_to(&self, username: &str) -> u64 {
        self.by_recipient
            .get(&username.to_ascii_lowercase())
            .map_or(0, |report| report.submissions)
    }
}

/// Reads the gateway's journal of a data directory. A sandbox may be running on it.
///
/// # Errors
/// The journal cannot be read.
pub fn goods_report(data_dir: &Path) -> Result<GoodsReport, SandboxError> {
    of_journal(&journal::path(&journal::dir(data_dir), "goods"))
}

pub(super) fn of_journal(path: &Path) -> Result<GoodsReport, SandboxError> {
    let mut report = GoodsReport::default();
    journal::read_entries::<Effect>(path, |entry| match &entry.effect {
        Effect::Rejected { .. } => report.rejected = report.rejected.saturating_add(1),
        Effect::Delivered { sending } => {
            report.accepted = report.accepted.saturating_add(1);
            let recipient = report
                .by_recipient
                .entry(sending.username.to_ascii_lowercase())
                .or_default();
            recipient.submissions = recipient.submissions.saturating_add(1);
            let total = match sending.kind {
                Kind::Stars => &mut recipient.stars,
                Kind::Premium => &mut recipient.premium_months,
            };
            *total = total.saturating_add(sending.quantity);
        }
    })?;
    report.duplicates = report
        .by_recipient
        .values()
        .map(|one| one.submissions.saturating_sub(1))
        .sum();
    report.duplicate_recipients = report
        .by_recipient
        .iter()
        .filter(|(_, one)| one.submissions > 1)
        .map(|(name, _)| name.clone())
        .collect();
    Ok(report)
}
