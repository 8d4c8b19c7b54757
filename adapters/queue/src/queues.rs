//! Names and sizes of the queues.

/// River's tables live in this schema; it is named in every statement, whatever the search path of a connection is.
pub const SCHEMA: &str = "public";

/// Names of the queues.
#[derive(Clone, Copy, Debug)]
pub struct Queues;

impl Queues {
    /// What a customer already paid for.
    pub const CRITICAL: &'static str = "critical";
    /// Periodic passes.
    pub const DEFAULT: &'static str = "default";
    /// Work that may wait.
    pub const BULK: &'static str = "bulk";
}

/// How many jobs of each queue one worker process runs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSizes {
    /// Size of [`Queues::CRITICAL`].
    pub critical: usize,
    /// Size of [`Queues::DEFAULT`].
    pub default: usize,
    /// Size of [`Queues::BULK`].
    pub bulk: usize,
}

impl QueueSizes {
    /// Jobs that run at once in all queues together: what a connection pool is sized by.
    pub const fn total(self) -> usize {
        self.critical.saturating_add(self.default).saturating_add(self.bulk)
    }
}

impl Default for QueueSizes {
    fn default() -> Self {
        Self {
            critical: 16,
            default: 8,
            bulk: 4,
        }
    }
}
