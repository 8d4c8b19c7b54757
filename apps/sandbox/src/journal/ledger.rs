//! A simulator's state with its journal: decided, recorded, applied, in that order and under one lock.

use std::{
    fmt,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use domain::time::Timestamp;
use serde::{Serialize, de::DeserializeOwned};

use super::{Entry, Journal};
use crate::SandboxError;

/// State that is a fold over its effects.
pub trait Replay {
    type Effect: Serialize + DeserializeOwned;

    /// Takes an effect in. Must depend on nothing but the effect and the state.
    fn apply(&mut self, entry: &Entry<Self::Effect>);
}

/// The state, and the only way to change it.
pub struct Ledger<S> {
    inner: Mutex<(S, Journal)>,
}

impl<S: Replay> Ledger<S> {
    /// Rebuilds the state from its journal.
    ///
    /// # Errors
    /// See [`Journal::open`].
    pub fn open(path: &Path, mut state: S) -> Result<Self, SandboxError> {
        let journal = Journal::open(path, |entry| state.apply(entry))?;
        Ok(Self {
            inner: Mutex::new((state, journal)),
        })
    }

    /// Decides against the state; an effect is recorded and applied before `view` sees the new state. `None` changes nothing.
    ///
    /// # Errors
    /// What `decide` or `view` refuse with, or the failed write.
    pub fn change<T, R: From<SandboxError>>(
        &self,
        at: Timestamp,
        decide: impl FnOnce(&S) -> Result<Option<S::Effect>, R>,
        view: impl FnOnce(&S) -> Result<T, R>,
    ) -> Result<T, R> {
        let mut inner = self.lock();
        let (state, journal) = &mut *inner;
        if let Some(effect) = decide(state)? {
            let entry = journal.append(at, effect)?;
            state.apply(&entry);
        }
        view(state)
    }

    /// Looks at the state.
    pub fn read<T>(&self, view: impl FnOnce(&S) -> T) -> T {
        view(&self.lock().0)
    }

    fn lock(&self) -> MutexGuard<'_, (S, Journal)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> fmt::Debug for Ledger<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").finish_non_exhaustive()
    }
}
