//! What can go wrong with a sandbox. Tokens and bodies never enter an error.

use std::{io, path::PathBuf};

/// A failed start, a failed write, or a failed request to the control API.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A file of the data directory cannot be read or written.
    #[error("cannot use {path}: {source}")]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A line that is not the torn last one cannot be read: the journal was edited or the disk is at fault.
    #[error("the journal {path} is damaged at line {line}")]
    DamagedJournal { path: PathBuf, line: u64 },
    /// A file of ours holds something else.
    #[error("{path} is not what the sandbox wrote there; move it away to start anew")]
    DamagedFile { path: PathBuf },
    /// Two sandboxes in one data directory would write one journal.
    #[error("another sandbox uses {path}")]
    InUse { path: PathBuf },
    /// No loopback port could be opened.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Listen(#[source] io::Error),
    /// The client for outgoing webhooks cannot be made.
    #[error("cannot make an HTTP client")]
    Client,
    /// The control API did not answer.
    #[error("the sandbox's control API did not answer")]
    ControlUnreachable,
    /// The control API refused.
    #[error("the sandbox's control API answered {status}")]
    ControlRefused { status: u16 },
    /// A fault rule that says nothing that can be done.
    #[error("the fault rule is not usable: {0}")]
    InvalidFault(&'static str),
}

impl SandboxError {
    /// Stable code, for machine-read output.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "sandbox_file",
            Self::DamagedJournal { .. } => "sandbox_journal_damaged",
            Self::DamagedFile { .. } => "sandbox_file_damaged",
            Self::InUse { .. } => "sandbox_in_use",
            Self::Listen(_) => "sandbox_listen",
            Self::Client => "sandbox_client",
            Self::ControlUnreachable => "sandbox_control_unreachable",
            Self::ControlRefused { .. } => "sandbox_control_refused",
            Self::InvalidFault(_) => "sandbox_fault_invalid",
        }
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
