//! Which requests go wrong.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::SandboxError;

/// One of the simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SimulatorName {
    Panel,
    Cryptopay,
    Goods,
    Telegram,
}

/// A fault and the requests that it meets. Of several rules the first that fires wins; every matching one counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FaultRule {
    pub simulator: SimulatorName,
    /// Method and path: `POST /api/users`. `*` stands for any method or any one segment, `**` at the end for any rest.
    pub route: String,
    #[serde(default)]
    pub when: When,
    /// Fires at most so many times.
    #[serde(default)]
    pub limit: Option<u64>,
    pub fault: Fault,
}

/// When a rule fires.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum When {
    /// At every match.
    #[default]
    Always,
    /// At the n-th match, counted from 1.
    Nth { n: u64 },
    /// By chance, the same for the same seed.
    Chance { per_thousand: u32, seed: u64 },
}

impl SimulatorName {
    /// As in routes and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Panel => "panel",
            Self::Cryptopay => "cryptopay",
            Self::Goods => "goods",
            Self::Telegram => "telegram",
        }
    }
}

impl fmt::Display for SimulatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FaultRule {
    /// At every match of a route.
    pub fn new(simulator: SimulatorName, route: impl Into<String>, fault: Fault) -> Self {
        Self {
            simulator,
            route: route.into(),
            when: When::Always,
            limit: None,
            fault,
        }
    }

    /// Only at the n-th match, counted from 1.
    #[must_use]
    pub fn nth(mut self, n: u64) -> Self {
        self.when = When::Nth { n };
        self
    }

    /// By chance, decided by a seed.
    #[must_use]
    pub fn chance(mut self, per_thousand: u32, seed: u64) -> Self {
        self.when = When::Chance { per_thousand, seed };
        self
    }

    /// At most so many times.
    #[must_use]
    pub fn at_most(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    pub(super) fn matches(&self, simulator: SimulatorName, method: &str, path: &str) -> bool {
        let Some((wanted_method, pattern)) = self.route.split_once(' ') else {
            return false;
        };
        self.simulator == simulator && (wanted_method == "*" || wanted_method == method) && path_matches(pattern, path)
    }

    pub(super) fn check(&self) -> Result<(), SandboxError> {
        let shaped = self
            .route
            .split_once(' ')
            .is_some_and(|(_, path)| path.starts_with('/') || path == "**");
        if !shaped {
            return Err(SandboxError::InvalidFault("a route is a method, a space and a path"));
        }
        self.fault.check()
    }
}

fn path_matches(pattern: &str, path: &str) -> bool {
    let mut path = path.split('/');
    let mut pattern = pattern.split('/');
    loop {
        match (pattern.next(), path.next()) {
            (Some("**"), _) => return pattern.next().is_none(),
            (Some(wanted), Some(segment)) if wanted == "*" || wanted == segment => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_match_by_segment() {
        for (route, method, path, expected) in [
            ("POST /api/users", "POST", "/api/users", true),
            ("POST /api/users", "PATCH", "/api/users", false),
            ("POST /api/users", "POST", "/api/users/7", false),
            ("* /api/users/*", "GET", "/api/users/7", true),
            ("* /api/users/*", "GET", "/api/users/7/actions/enable", false),
            ("* /api/**", "GET", "/api/users/7/actions/enable", true),
            ("* **", "GET", "/", true),
            ("* /api/**/x", "GET", "/api/users/x", false),
            ("nonsense", "GET", "/nonsense", false),
        ] {
            let rule = FaultRule::new(SimulatorName::Panel, route, Fault::status(500));
            assert_eq!(
                rule.matches(SimulatorName::Panel, method, path),
                expected,
                "{route} {method} {path}"
            );
            assert!(!rule.matches(SimulatorName::Goods, method, path));
        }
    }
}
