//! The Crypto Pay simulator: invoices, signed webhooks, and what a payer or time does to an invoice. Served at the root and under `/api`.
//!
//! `createInvoice` has no idempotency, as the real one: two calls are two invoices. A paid invoice owes one webhook until a receiver
//! answers 2xx or the tries are used up; what is owed survives a restart. `expired` is decided by the clock when an invoice is read.

mod change;
mod control;
mod failure;
mod invoice;
mod knobs;
mod lookup;
mod parameters;
mod payer;
mod report;
mod routes;
mod state;
mod webhook;

use std::sync::Arc;

use crate::{
    Context, Parts, SandboxError,
    journal::{self, Ledger},
};

pub use invoice::{Invoice, Pricing, Status};
pub use knobs::CryptopayKnobs;
pub use report::{CryptopayReport, cryptopay_report};
pub use state::Effect;

#[cfg(test)]
mod tests;

/// What every route sees.
#[derive(Debug)]
struct CryptoPay {
    ledger: Ledger<state::State>,
    knobs: knobs::KnobCell,
    context: Context,
}

impl CryptoPay {
    fn now(&self) -> domain::time::Timestamp {
        self.context.clock.now()
    }
}

/// Opens the simulator on its journal and goes on with the webhooks that it owes.
///
/// # Errors
/// The journal cannot be used.
pub(crate) fn open(context: Context) -> Result<Parts, SandboxError> {
    let path = journal::path(&context.dir, "cryptopay");
    let ledger = Ledger::open(&path, state::State::default())?;
    let service = Arc::new(CryptoPay {
        ledger,
        knobs: knobs::KnobCell::default(),
        context,
    });
    webhook::resume(&service);
    let report = Arc::new(move || {
        report::of_journal(&path).and_then(|report| {
            serde_json::to_value(report).map_err(|error| SandboxError::file(path.clone())(error.into()))
        })
    });
    Ok(Parts {
        service: routes::router(&service),
        control: control::router(&service),
        report,
    })
}
