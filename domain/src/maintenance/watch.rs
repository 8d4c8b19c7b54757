//! Turning samples of the dependencies into transitions: not one bad answer, but a streak of them.

use super::{Source, Window};

/// What one sample found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// The database answered in time.
    pub database: bool,
    /// The panel answered; `None` where there is no panel to watch.
    pub remnawave: Option<bool>,
}

impl Health {
    /// What a window would be opened for: the database before the panel, because without it nothing can be said about anything else.
    pub const fn failing(self) -> Option<Source> {
        match self {
            Self { database: false, .. } => Some(Source::Database),
            Self {
                remnawave: Some(false), ..
            } => Some(Source::Remnawave),
            Self { .. } => None,
        }
    }
}

/// How many samples in a row it takes; 0 counts as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streaks {
    /// Bad ones, to open a window.
    pub failure: u32,
    /// Good ones, to close one that was opened so.
    pub recovery: u32,
}

/// What is to be done to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// Open it, for this source.
    Open(Source),
    /// Close it.
    Clear,
}

/// The samples that one process has taken in a row. Each replica counts its own and reads the shared window before it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    streaks: Streaks,
    failures: u32,
    recoveries: u32,
    /// Version of the window at the last sample that saw one.
    seen: Option<i64>,
}

impl Watch {
    /// Nothing sampled yet.
    pub const fn new(streaks: Streaks) -> Self {
        Self {
            streaks,
            failures: 0,
            recoveries: 0,
            seen: None,
        }
    }

    /// The watch after a sample, and what is to be done. `window` is `None` when it could not be read: then the sample only counts.
    ///
    /// A window that changed since the last sample begins the count anew, so that an operator who closes a window while the dependency is
    /// still down has a whole streak of time before it opens again.
    #[must_use]
    pub fn after(self, health: Health, window: Option<Window>) -> (Self, Option<Transition>) {
        let failing = health.failing();
        let seen = window.map(|window| window.version).or(self.seen);
        let changed = self.seen.is_some() && seen != self.seen;
        let base = if changed {
            Self {
                failures: 0,
                recoveries: 0,
                ..self
            }
        } else {
            self
        };
        let (failures, recoveries) = match failing {
            Some(_) => (base.failures.saturating_add(1), 0),
            None => (0, base.recoveries.saturating_add(1)),
        };
        let next = Self {
            failures,
            recoveries,
            seen,
            ..self
        };
        let transition = window.and_then(|window| next.decide(failing, window));
        (next, transition)
    }

    fn decide(self, failing: Option<Source>, window: Window) -> Option<Transition> {
        match (window.active, failing) {
            (false, Some(source)) if self.failures >= self.streaks.failure.max(1) => Some(Transition::Open(source)),
            (true, None) if window.source != Source::Manual && self.recoveries >= self.streaks.recovery.max(1) => {
                Some(Transition::Clear)
            }
            _ => None,
        }
    }
}
