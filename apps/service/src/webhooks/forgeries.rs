//! Calls with a bad signature. Anybody can send them, as many as the network carries: what is kept of them is bounded per provider and minute,
//! and beyond that none of them reaches the database, so that they cost authentic calls nothing.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use domain::time::Timestamp;

/// Kept per provider and minute.
pub(crate) const A_MINUTE: u32 = 30;

/// Counts forgeries of the present minute, in this process. Cheap, and no I/O.
#[derive(Debug, Default)]
pub(crate) struct Forgeries(Mutex<HashMap<String, Minute>>);

#[derive(Clone, Copy, Debug, Default)]
struct Minute {
    number: i64,
    count: u32,
}

impl Forgeries {
    /// Whether another one of this provider may be looked at. `provider` must be one that is known: the names are kept.
    pub(crate) fn admit(&self, provider: &str, at: Timestamp) -> bool {
        let number = at.timestamp().div_euclid(60);
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let minute = counted.entry(provider.to_owned()).or_default();
        if minute.number != number {
            *minute = Minute { number, count: 0 };
        }
        minute.count = minute.count.saturating_add(1);
        minute.count <= A_MINUTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_has_a_minute_of_its_own() {
        let forgeries = Forgeries::default();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let noon = at("2026-03-01T12:00:59Z");
        let admitted = |provider: &str, at| (0..100).filter(|_| forgeries.admit(provider, at)).count();
        assert_eq!(admitted("one", noon), 30);
        assert_eq!(admitted("one", noon), 0);
        assert_eq!(admitted("two", noon), 30);
        assert_eq!(admitted("one", at("2026-03-01T12:01:00Z")), 30);
        // A clock that went back begins a minute too: bounded all the same.
        assert_eq!(admitted("one", noon), 30);
    }
}
