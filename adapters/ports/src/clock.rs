//! The injected clock.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::TimeDelta;
use domain::time::{Timestamp, to_stored_precision};

/// Where domain times come from. Leases and due times use the database's clock instead.
pub trait Clock: Send + Sync + Debug {
    /// Now, cut to the precision that storage keeps.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        to_stored_precision(chrono::Utc::now())
    }
}

/// A clock that moves only when told.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Timestamp>>);

impl ManualClock {
    /// Stands at `at`.
    pub fn at(at: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(to_stored_precision(at))))
    }

    /// Moves by a span, forwards or back.
    pub fn advance(&self, by: TimeDelta) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.checked_add_signed(by).unwrap_or(*now);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
