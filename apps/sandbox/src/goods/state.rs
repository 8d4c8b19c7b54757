//! Sendings as a fold over effects; all it keeps is their number.

use serde::{Deserialize, Serialize};

use crate::journal::{Entry, Replay};

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// In pieces.
    Stars,
    /// In months.
    Premium,
}

/// One call, as it came over the wire. It bears no order id: the gateway has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sending {
    /// From 1, never reused.
    pub id: u64,
    /// What was asked for.
    pub kind: Kind,
    /// Who receives it.
    pub username: String,
    /// Stars, or months.
    pub quantity: i64,
    /// Telegram id of the buyer, if the caller knew it.
    pub user_id: Option<i64>,
}

/// One line of `goods.journal.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Effect {
    /// Bought and delivered, whatever the caller got to see.
    Delivered {
        /// The call.
        sending: Sending,
    },
    /// Refused with `{ok: false}`; nothing was bought.
    Rejected {
        /// The call.
        sending: Sending,
    },
}

impl Effect {
    /// The call behind it.
    pub const fn sending(&self) -> &Sending {
        match self {
            Self::Delivered { sending } | Self::Rejected { sending } => sending,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    last_id: u64,
}

impl State {
    pub(super) const fn next_id(&self) -> u64 {
        self.last_id.saturating_add(1)
    }
}

impl Replay for State {
    type Effect = Effect;

    fn apply(&mut self, entry: &Entry<Effect>) {
        self.last_id = self.last_id.max(entry.effect.sending().id);
    }
}
