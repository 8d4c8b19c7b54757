//! The Bot API simulator: `getMe`, `sendMessage`, `createForumTopic`, `editForumTopic`. As the real one it has no idempotency: every
//! accepted call is another text in the group, and its journal tells.
//!
//! What a group refuses (no forum, no right, a deleted topic, too much a minute) are knobs; everything else that can go wrong comes from
//! the fault script round it. Paths are `/bot<token>/<method>`, so a fault's route is `POST /*/sendMessage`.

mod answer;
mod change;
mod control;
mod knobs;
mod markup;
mod report;
mod routes;
mod state;

use std::sync::Arc;

use crate::{
    Context, Parts, SandboxError,
    journal::{self, Ledger},
};

pub use knobs::{GroupKnobs, TelegramKnobs};
pub use report::{TelegramReport, telegram_report};
pub use state::{Effect, Sent, Topic};

#[cfg(test)]
mod tests;

/// The operators' group of a sandbox whose settings name none.
pub const OPERATOR_GROUP: i64 = -1_001_000_000_001;

/// What every route sees.
#[derive(Debug)]
struct BotServer {
    ledger: Ledger<state::State>,
    knobs: knobs::KnobCell,
    context: Context,
}

/// Opens the simulator on its journal.
///
/// # Errors
/// The journal cannot be used.
pub(crate) fn open(context: Context) -> Result<Parts, SandboxError> {
    let path = journal::path(&context.dir, "telegram");
    let ledger = Ledger::open(&path, state::State::default())?;
    let server = Arc::new(BotServer {
        ledger,
        knobs: knobs::KnobCell::default(),
        context,
    });
    let report = Arc::new(move || {
        report::of_journal(&path).and_then(|report| {
            serde_json::to_value(report).map_err(|error| SandboxError::file(path.clone())(error.into()))
        })
    });
    Ok(Parts {
        service: routes::router(&server),
        control: control::router(&server),
        report,
    })
}
