//! The Remnawave panel 3.3 simulator: the part of it that Omniflow speaks to, with its rules and its quirks.
//!
//! `EXPIRED` and `LIMITED` are decided when a user is read, by the clock; the real panel's watchdogs do the same up to 45 s late.

mod access;
mod answer;
mod change;
mod control;
mod field;
mod input;
mod knobs;
mod report;
mod routes;
mod shown;
mod state;
#[cfg(test)]
mod tests;
mod user;

use std::sync::Arc;

use uuid::Uuid;

use crate::{
    Context, Parts, SandboxError,
    journal::{self, Ledger},
};

pub use knobs::Knobs;
pub use report::{PanelReport, PanelUserState, panel_report};
pub use state::Effect;
pub use user::{Status, User};

/// The squads that every panel simulator has, by id and name. A sample catalog may use them.
pub const DEFAULT_SQUADS: [(Uuid, &str); 3] = [
    (Uuid::from_u128(0x5a1d_b0c0_0001_4e5a_8b1e_0000_0000_0001), "Standard"),
    (Uuid::from_u128(0x5a1d_b0c0_0002_4e5a_8b1e_0000_0000_0002), "Premium"),
    (Uuid::from_u128(0x5a1d_b0c0_0003_4e5a_8b1e_0000_0000_0003), "Streaming"),
];

/// What every route sees.
#[derive(Debug)]
struct Panel {
    ledger: Ledger<state::State>,
    knobs: knobs::KnobCell,
    context: Context,
    webhook_secret: String,
}

impl Panel {
    fn now(&self) -> domain::time::Timestamp {
        self.context.clock.now()
    }
}

/// Opens the simulator on its journal.
///
/// # Errors
/// The journal cannot be used.
pub(crate) fn open(context: Context, webhook_secret: String) -> Result<Parts, SandboxError> {
    let path = journal::path(&context.dir, "panel");
    let ledger = Ledger::open(&path, state::State::default())?;
    let panel = Arc::new(Panel {
        ledger,
        knobs: knobs::KnobCell::default(),
        context,
        webhook_secret,
    });
    let report = Arc::new(move || {
        report::of_journal(&path).and_then(|report| {
            serde_json::to_value(report).map_err(|error| SandboxError::file(path.clone())(error.into()))
        })
    });
    Ok(Parts {
        service: routes::router(&panel),
        control: control::router(&panel),
        report,
    })
}
