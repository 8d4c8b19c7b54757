//! What a test may set about webhooks and payers. Kept in memory; where webhooks go is in the journal.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// Settings of the simulated service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CryptopayKnobs {
    /// Webhooks are kept back until they are released or sent one by one.
    pub hold_webhooks: bool,
    /// How often each webhook is sent. 2 is a duplicate.
    pub webhook_copies: u8,
    /// Milliseconds before each webhook is first sent.
    pub webhook_delay_ms: u64,
    /// Each copy waits by chance up to so many milliseconds more, so that webhooks overtake each other.
    pub webhook_jitter_ms: u64,
    /// Tries until a receiver answers 2xx.
    pub webhook_tries: u8,
    /// Milliseconds before the second try; doubled for each further one, up to 30 s.
    pub webhook_retry_ms: u64,
    /// A payer pays every new invoice after so many milliseconds; `None` is: nobody pays unless told.
    pub pay_after_ms: Option<u64>,
}

impl Default for CryptopayKnobs {
    fn default() -> Self {
        Self {
            hold_webhooks: false,
            webhook_copies: 1,
            webhook_delay_ms: 0,
            webhook_jitter_ms: 0,
            webhook_tries: 17,
            webhook_retry_ms: 500,
            pay_after_ms: None,
        }
    }
}

impl CryptopayKnobs {
    /// The wait after a failed try, counted from 1.
    pub(super) fn wait_after(&self, failed_tries: u8) -> Duration {
        let doublings = u32::from(failed_tries.saturating_sub(1).min(16));
        Duration::from_millis(self.webhook_retry_ms.saturating_mul(1 << doublings).min(30_000))
    }
}

#[derive(Debug, Default)]
pub(super) struct KnobCell(Mutex<CryptopayKnobs>);

impl KnobCell {
    pub(super) fn get(&self) -> CryptopayKnobs {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, knobs: CryptopayKnobs) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = knobs;
    }
}
