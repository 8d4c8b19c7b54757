//! What a test may set about the panel itself. Kept in memory: a restart is a new panel process with the old users.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// Settings of the simulated panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Knobs {
    /// As `system/metadata` shows it.
    pub version: String,
    /// Requests without both `X-Forwarded` headers get no answer.
    pub require_forwarded: bool,
    /// The token is valid but may do nothing: 403.
    pub deny_scopes: bool,
    /// The token has expired: 401.
    pub expire_token: bool,
    /// Where webhooks go; `None` is nowhere.
    pub webhook_url: Option<String>,
    /// How often each webhook is sent. 2 is a duplicate.
    pub webhook_copies: u8,
    /// Milliseconds before each webhook is sent.
    pub webhook_delay_ms: u64,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            version: "3.3.2".to_owned(),
            require_forwarded: true,
            deny_scopes: false,
            expire_token: false,
            webhook_url: None,
            webhook_copies: 1,
            webhook_delay_ms: 0,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct KnobCell(Mutex<Knobs>);

impl KnobCell {
    pub(super) fn get(&self) -> Knobs {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, knobs: Knobs) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = knobs;
    }
}
