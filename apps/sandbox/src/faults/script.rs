//! The rules in force and their counters. They live in memory: a restarted sandbox has the faults of its options only.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use domain::time::Timestamp;
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use serde::{Deserialize, Serialize};

use super::{Fault, FaultRule, SimulatorName, When};
use crate::{SandboxError, journal::Journal};

/// Decides which requests go wrong.
#[derive(Debug)]
pub struct Faults(Mutex<Script>);

#[derive(Debug)]
struct Script {
    rules: Vec<Armed>,
    journal: Journal,
}

#[derive(Debug)]
struct Armed {
    rule: FaultRule,
    chance: StdRng,
    matched: u64,
    fired: u64,
}

/// A rule with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultCounts {
    pub rule: FaultRule,
    /// Requests that matched its route.
    pub matched: u64,
    /// Requests that it made go wrong.
    pub fired: u64,
}

/// One line of `faults.journal.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FiredFault {
    pub simulator: SimulatorName,
    pub method: String,
    pub path: String,
    pub fault: Fault,
}

impl Faults {
    pub(crate) fn open(sandbox_dir: &Path, rules: Vec<FaultRule>) -> Result<Self, SandboxError> {
        let path = crate::journal::path(sandbox_dir, "faults");
        let journal = Journal::open::<FiredFault>(&path, |_| {})?;
        let faults = Self(Mutex::new(Script {
            rules: Vec::new(),
            journal,
        }));
        faults.replace(rules)?;
        Ok(faults)
    }

    /// Puts these rules in force, with fresh counters, in place of all others.
    ///
    /// # Errors
    /// A rule is not usable; then nothing changes.
    pub fn replace(&self, rules: Vec<FaultRule>) -> Result<(), SandboxError> {
        rules.iter().try_for_each(FaultRule::check)?;
        self.lock().rules = rules.into_iter().map(Armed::new).collect();
        Ok(())
    }

    /// Puts further rules in force, behind those that are.
    ///
    /// # Errors
    /// As [`Self::replace`].
    pub fn add(&self, rules: Vec<FaultRule>) -> Result<(), SandboxError> {
        rules.iter().try_for_each(FaultRule::check)?;
        self.lock().rules.extend(rules.into_iter().map(Armed::new));
        Ok(())
    }

    /// Ends all faults.
    pub fn clear(&self) {
        self.lock().rules.clear();
    }

    /// The rules in force with their counters.
    pub fn counts(&self) -> Vec<FaultCounts> {
        let script = self.lock();
        script
            .rules
            .iter()
            .map(|armed| FaultCounts {
                rule: armed.rule.clone(),
                matched: armed.matched,
                fired: armed.fired,
            })
            .collect()
    }

    /// Counts a request and says what is to go wrong with it.
    pub(super) fn decide(&self, simulator: SimulatorName, method: &str, path: &str, at: Timestamp) -> Option<Fault> {
        let mut script = self.lock();
        let script = &mut *script;
        let mut chosen = None;
        for armed in &mut script.rules {
            if armed.rule.matches(simulator, method, path) && armed.fires(chosen.is_none()) {
                chosen = Some(armed.rule.fault.clone());
            }
        }
        if let Some(fault) = &chosen {
            let line = FiredFault {
                simulator,
                method: method.to_owned(),
                path: path.to_owned(),
                fault: fault.clone(),
            };
            if let Err(error) = script.journal.append(at, line) {
                tracing::warn!(%error, "a fault was not journalled");
            }
        }
        chosen
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Armed {
    fn new(rule: FaultRule) -> Self {
        let seed = match rule.when {
            When::Chance { seed, .. } => seed,
            When::Always | When::Nth { .. } => 0,
        };
        Self {
            rule,
            chance: StdRng::seed_from_u64(seed),
            matched: 0,
            fired: 0,
        }
    }

    /// Counts a match. `free`: no rule before this one fired.
    fn fires(&mut self, free: bool) -> bool {
        self.matched = self.matched.saturating_add(1);
        let due = match self.rule.when {
            When::Always => true,
            When::Nth { n } => self.matched == n,
            When::Chance { per_thousand, .. } => self.chance.random_range(0..1000_u32) < per_thousand,
        };
        let fires = free && due && self.rule.limit.is_none_or(|limit| self.fired < limit);
        if fires {
            self.fired = self.fired.saturating_add(1);
        }
        fires
    }
}
