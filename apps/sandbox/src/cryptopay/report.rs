//! The oracle: which invoices were made and paid, whatever anybody else believes.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::Effect;
use crate::{SandboxError, journal};

/// The simulator's journal, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CryptopayReport {
    /// Invoices ever made.
    pub invoices: u64,
    /// Invoices that were paid.
    pub paid: u64,
    /// Invoices that were withdrawn.
    pub deleted: u64,
    /// Ids of all invoices of each payload (our order id), in order of making.
    pub invoices_by_payload: BTreeMap<String, Vec<i64>>,
    /// Ids of the paid invoices of each payload.
    pub paid_by_payload: BTreeMap<String, Vec<i64>>,
    /// Invoices beyond the first of their payload.
    pub duplicate_invoices: u64,
    /// Webhooks that a receiver acknowledged.
    pub webhooks_acknowledged: u64,
    /// Webhooks whose tries were used up.
    pub webhooks_given_up: u64,
}

/// Reads the journal of a data directory. A sandbox may be running on it.
///
/// # Errors
/// The journal cannot be read.
pub fn cryptopay_report(data_dir: &Path) -> Result<CryptopayReport, SandboxError> {
    of_journal(&journal::path(&journal::dir(data_dir), "cryptopay"))
}

pub(super) fn of_journal(path: &Path) -> Result<CryptopayReport, SandboxError> {
    let mut report = CryptopayReport::default();
    let mut payloads: BTreeMap<i64, String> = BTreeMap::new();
    let one_more = |count: &mut u64| *count = count.saturating_add(1);
    journal::read_entries::<Effect>(path, |entry| match &entry.effect {
        Effect::InvoiceCreated { invoice } => {
            one_more(&mut report.invoices);
            if let Some(payload) = &invoice.payload {
                payloads.insert(invoice.id, payload.clone());
                report
                    .invoices_by_payload
                    .entry(payload.clone())
                    .or_default()
                    .push(invoice.id);
            }
        }
        Effect::InvoicePaid { invoice_id, .. } => {
            one_more(&mut report.paid);
            if let Some(payload) = payloads.get(invoice_id) {
                report
                    .paid_by_payload
                    .entry(payload.clone())
                    .or_default()
                    .push(*invoice_id);
            }
        }
        Effect::InvoiceDeleted { .. } => one_more(&mut report.deleted),
        Effect::WebhookAcknowledged { .. } => one_more(&mut report.webhooks_acknowledged),
        Effect::WebhookGivenUp { .. } => one_more(&mut report.webhooks_given_up),
        Effect::InvoiceExpired { .. } | Effect::WebhookSet { .. } => {}
    })?;
    let beyond_first = |ids: &Vec<i64>| u64::try_from(ids.len().saturating_sub(1)).unwrap_or(u64::MAX);
    report.duplicate_invoices = report.invoices_by_payload.values().map(beyond_first).sum();
    Ok(report)
}
