//! Whether a window is open, for those who ask on every order and every run.

use std::{sync::Arc, time::Duration};

use store::Store;
use tokio::{sync::Mutex, time::Instant};

/// How long an answer is good: a window takes hold everywhere this long after it was opened.
const FRESH: Duration = Duration::from_secs(1);

/// Patience with the database. Whoever asks has other work with it right after, which fails in its own words.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is known of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It is open.
    Open,
    /// It is shut, or was never opened.
    Shut,
    /// The database did not say. An order is not refused for that: closing the shop is a decision, not a fault. A run waits.
    Unknown,
}

/// One answer for all who ask within a second. Cheap to clone; clones share the answer.
#[derive(Clone, Debug)]
pub struct Gate {
    store: Store,
    last: Arc<Mutex<Option<(Instant, Known)>>>,
}

impl Gate {
    /// Over the database of the store.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            last: Arc::default(),
        }
    }

    /// What is known, at most a second old. Those who ask while the database is asked wait for the same answer.
    pub async fn look(&self) -> Known {
        let mut last = self.last.lock().await;
        if let Some((at, known)) = *last
            && at.elapsed() < FRESH
        {
            return known;
        }
        let asked = tokio::time::timeout(PATIENCE, store::maintenance::is_active(self.store.pool())).await;
        let known = match asked {
            Ok(Ok(true)) => Known::Open,
            Ok(Ok(false)) => Known::Shut,
            Ok(Err(error)) => {
                tracing::debug!(code = error.code(), "the state of maintenance could not be read");
                Known::Unknown
            }
            Err(_) => Known::Unknown,
        };
        *last = Some((Instant::now(), known));
        known
    }

    /// Forgets the answer: this process has just changed the window.
    pub async fn forget(&self) {
        *self.last.lock().await = None;
    }
}
