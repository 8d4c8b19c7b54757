//! The injected source of ids and randomness.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use uuid::Uuid;

/// Where ids come from.
pub trait Ids: Send + Sync + Debug {
    /// A new UUIDv7.
    fn next(&self) -> Uuid;
}

/// Ids by the machine's clock and random source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIds;

impl Ids for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "the one place that makes ids")]
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// Ids that a seed determines, in ascending order, for tests and driven runs.
#[derive(Clone, Debug)]
pub struct SeededIds(Arc<Mutex<(u64, StdRng)>>);

impl SeededIds {
    /// The same seed gives the same ids.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new((1_772_366_400_000, StdRng::seed_from_u64(seed)))))
    }
}

impl Ids for SeededIds {
    fn next(&self) -> Uuid {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = state.0.wrapping_add(1);
        let random: [u8; 10] = state.1.random();
        uuid::Builder::from_unix_timestamp_millis(state.0, &random).into_uuid()
    }
}
