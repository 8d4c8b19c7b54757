//! One thing that goes wrong, and when.

use std::time::Duration;

use super::fleet::Role;

/// A blow and its time from the storm's beginning.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) at: Duration,
    pub(super) blow: Blow,
}

/// What goes wrong. The number says which of the processes that qualify.
#[derive(Clone, Debug)]
pub(super) enum Blow {
    /// SIGKILL; started again at once.
    Kill(Role, u32),
    /// SIGSTOP, and SIGCONT after the span.
    Pause(Role, u32, Duration),
    /// SIGTERM; started again when it ended.
    Terminate(Role, u32),
    /// SIGKILL of the database server; started again at once.
    KillServer,
    /// Every connection to the database ends, and none is made for this long.
    Cut(Duration),
    /// The next commit of this kind is carried out, and its connection ends before the answer.
    LoseAcknowledgement(Writing),
    /// The panel begins to answer nonsense, drawn from this seed.
    PanelTrouble(u64),
    /// The panel is as it should be again; the gateway stays slow.
    PanelHealthy(u64),
}

/// Whose commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// One that appends to the log.
    Events,
    /// Any.
    Any,
}
