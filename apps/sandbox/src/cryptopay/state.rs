//! Invoices and owed webhooks as a fold over effects.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::invoice::{Invoice, Status};
use crate::journal::{Entry, Replay};

/// One line of `cryptopay.journal.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Effect {
    /// By a seller.
    InvoiceCreated {
        /// As it was made.
        invoice: Invoice,
    },
    /// By a payer. From here on update `update_id` is owed.
    InvoicePaid {
        /// Which invoice.
        invoice_id: i64,
        /// Which webhook.
        update_id: i64,
    },
    /// Before its time, by a test.
    InvoiceExpired {
        /// Which invoice.
        invoice_id: i64,
    },
    /// By its seller.
    InvoiceDeleted {
        /// Which invoice.
        invoice_id: i64,
    },
    /// Where webhooks go from here on.
    WebhookSet {
        /// Nowhere when absent.
        url: Option<String>,
    },
    /// A receiver answered 2xx.
    WebhookAcknowledged {
        /// Which webhook.
        update_id: i64,
    },
    /// The tries were used up.
    WebhookGivenUp {
        /// Which webhook.
        update_id: i64,
    },
}

/// Everything that the simulator remembers.
#[derive(Debug, Default)]
pub(super) struct State {
    invoices: BTreeMap<i64, Invoice>,
    /// Invoice of each update, also of those that are done.
    updates: BTreeMap<i64, i64>,
    owed: BTreeMap<i64, i64>,
    last_invoice: i64,
    last_update: i64,
    webhook_url: Option<String>,
}

impl State {
    pub(super) const fn next_invoice(&self) -> i64 {
        self.last_invoice.saturating_add(1)
    }

    pub(super) const fn next_update(&self) -> i64 {
        self.last_update.saturating_add(1)
    }

    pub(super) fn get(&self, id: i64) -> Option<&Invoice> {
        self.invoices.get(&id)
    }

    /// Youngest first, as the API lists them.
    pub(super) fn youngest_first(&self) -> impl Iterator<Item = &Invoice> {
        self.invoices.values().rev()
    }

    /// The paid invoice that an update tells of.
    pub(super) fn of_update(&self, update_id: i64) -> Option<&Invoice> {
        self.updates.get(&update_id).and_then(|id| self.invoices.get(id))
    }

    /// Updates that no receiver has acknowledged, oldest first.
    pub(super) fn owed(&self) -> Vec<i64> {
        self.owed.keys().copied().collect()
    }

    pub(super) fn owes(&self, update_id: i64) -> bool {
        self.owed.contains_key(&update_id)
    }

    pub(super) fn update_of(&self, invoice_id: i64) -> Option<i64> {
        self.updates
            .iter()
            .find(|(_, invoice)| **invoice == invoice_id)
            .map(|(update, _)| *update)
    }

    pub(super) fn webhook_url(&self) -> Option<&str> {
        self.webhook_url.as_deref()
    }
}

impl Replay for State {
    type Effect = Effect;

    fn apply(&mut self, entry: &Entry<Effect>) {
        match &entry.effect {
            Effect::InvoiceCreated { invoice } => {
                self.last_invoice = self.last_invoice.max(invoice.id);
                self.invoices.insert(invoice.id, invoice.clone());
            }
            Effect::InvoicePaid { invoice_id, update_id } => {
                if let Some(invoice) = self.invoices.get_mut(invoice_id) {
                    invoice.status = Status::Paid;
                    invoice.paid_at = Some(entry.at);
                }
                self.last_update = self.last_update.max(*update_id);
                self.updates.insert(*update_id, *invoice_id);
                self.owed.insert(*update_id, *invoice_id);
            }
            Effect::InvoiceExpired { invoice_id } => {
                if let Some(invoice) = self.invoices.get_mut(invoice_id) {
                    invoice.status = Status::Expired;
                }
            }
            Effect::InvoiceDeleted { invoice_id } => {
                self.invoices.remove(invoice_id);
            }
            Effect::WebhookSet { url } => self.webhook_url.clone_from(url),
            Effect::WebhookAcknowledged { update_id } | Effect::WebhookGivenUp { update_id } => {
                self.owed.remove(update_id);
            }
        }
    }
}
