//! Maintenance: a window in which nothing new is sold and nothing is written to the panel, while money that is on its way still settles.
//!
//! The window is one row that processes share; this module says how it may change. What opened a window decides who may close it: one
//! that a person opened is closed by a person alone, whatever the probes say (the seeds' rule).

mod announcement;
#[cfg(test)]
mod tests;
mod watch;

use std::str::FromStr;

pub use announcement::{Announcement, NOTICE_LIMIT, REASON_LIMIT, Rejected};
pub use watch::{Health, Streaks, Transition, Watch};

/// Code of what is held back or refused while a window is open.
pub const MAINTENANCE_ACTIVE: &str = "maintenance_active";

/// Reason of a window that the probes closed.
pub const RECOVERED: &str = "dependencies recovered";

/// What opened a window, or closed it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A person.
    Manual,
    /// The panel does not answer.
    Remnawave,
    /// The database does not answer in time.
    Database,
}

impl Source {
    /// Its name in storage and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Remnawave => "remnawave",
            Self::Database => "database",
        }
    }

    /// Reason of a window that this source opens by itself.
    pub const fn outage(self) -> &'static str {
        match self {
            Self::Manual => "",
            Self::Remnawave => "remnawave is unavailable",
            Self::Database => "database is unavailable",
        }
    }
}

/// There is no such source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such source of maintenance")]
pub struct UnknownSource;

impl FromStr for Source {
    type Err = UnknownSource;

    fn from_str(text: &str) -> Result<Self, UnknownSource> {
        match text {
            "manual" => Ok(Self::Manual),
            "remnawave" => Ok(Self::Remnawave),
            "database" => Ok(Self::Database),
            _ => Err(UnknownSource),
        }
    }
}

/// What the decisions here need to know of the shared row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Counts every change of the row; 0 while there is none.
    pub version: i64,
    /// Whether it is open.
    pub active: bool,
    /// What opened it, or closed it last.
    pub source: Source,
}

impl Window {
    /// What a missing row means: no window was ever opened.
    pub const NEVER: Self = Self {
        version: 0,
        active: false,
        source: Source::Manual,
    };
}
