//! What a test may set about the gateway. Kept in memory.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// Settings of the simulated gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GoodsKnobs {
    /// Price of one Star, a JSON number as text: it is written into the answer as it is.
    pub star_value: String,
    /// Every sending is refused with `{ok: false}`.
    pub reject_all: bool,
    /// Sendings to these names, in any case, are refused with `{ok: false}`.
    pub rejected_usernames: Vec<String>,
}

impl Default for GoodsKnobs {
    fn default() -> Self {
        Self {
            star_value: "1.18".to_owned(),
            reject_all: false,
            rejected_usernames: Vec::new(),
        }
    }
}

impl GoodsKnobs {
    pub(super) fn rejects(&self, username: &str) -> bool {
        self.reject_all
            || self
                .rejected_usernames
                .iter()
                .any(|name| name.eq_ignore_ascii_case(username))
    }
}

#[derive(Debug, Default)]
pub(super) struct KnobCell(Mutex<GoodsKnobs>);

impl KnobCell {
    pub(super) fn get(&self) -> GoodsKnobs {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, knobs: GoodsKnobs) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = knobs;
    }
}
