//! The goods gateway simulator: Basic auth, the price of a Star, sending Stars and Premium. No idempotency, as the real one: every accepted
//! call is another purchase, and its journal tells.
//!
//! Outcomes that are faults (429, 401, 5xx before or after delivery, a lost answer, garbage) come from the fault script around it; only
//! `{ok: false}` is its own.

mod control;
mod knobs;
mod report;
mod routes;
mod state;

use std::sync::Arc;

use crate::{
    Context, Parts, SandboxError,
    journal::{self, Ledger},
};

pub use knobs::GoodsKnobs;
pub use report::{GoodsReport, RecipientReport, goods_report};
pub use state::{Effect, Kind, Sending};

#[cfg(test)]
mod tests;

/// What every route sees.
#[derive(Debug)]
struct Gateway {
    ledger: Ledger<state::State>,
    knobs: knobs::KnobCell,
    context: Context,
    /// The whole `Authorization` header that is accepted.
    credential: String,
}

/// Opens the simulator on its journal.
///
/// # Errors
/// The journal cannot be used.
pub(crate) fn open(context: Context) -> Result<Parts, SandboxError> {
    let path = journal::path(&context.dir, "goods");
    let ledger = Ledger::open(&path, state::State::default())?;
    let credential = routes::credential(&context.token);
    let gateway = Arc::new(Gateway {
        ledger,
        knobs: knobs::KnobCell::default(),
        context,
        credential,
    });
    let report = Arc::new(move || {
        report::of_journal(&path).and_then(|report| {
            serde_json::to_value(report).map_err(|error| SandboxError::file(path.clone())(error.into()))
        })
    });
    Ok(Parts {
        service: routes::router(&gateway),
        control: control::router(&gateway),
        report,
    })
}
