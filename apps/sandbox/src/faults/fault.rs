//! What goes wrong.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::SandboxError;

/// The largest oversized answer, in bytes.
const MAX_OVERSIZED: usize = 64 * 1024 * 1024;

/// One way for a request to go wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// The request is carried out, and recorded, whatever the client sees.
    #[serde(default = "yes")]
    pub handle: bool,
    /// Waits before it is carried out. A client that gives up meanwhile does not prevent that.
    #[serde(default)]
    pub delay_before_ms: u64,
    /// Waits between carrying out and answering.
    #[serde(default)]
    pub delay_after_ms: u64,
    #[serde(default)]
    pub answer: FaultAnswer,
}

/// What the client gets to see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum FaultAnswer {
    /// What the simulator answered.
    #[default]
    Real,
    /// A status with a JSON body or none, optionally with `Retry-After`.
    Status {
        status: u16,
        body: Option<serde_json::Value>,
        retry_after_seconds: Option<u32>,
    },
    /// 200 with text that is no JSON, under a JSON content type.
    Garbage,
    /// 200 with a JSON text of so many bytes.
    Oversized { bytes: usize },
    /// A proxy's page.
    Html { status: u16 },
    /// Nothing: the connection is reset.
    Reset,
}

const fn yes() -> bool {
    true
}

impl Fault {
    const fn of(handle: bool, answer: FaultAnswer) -> Self {
        Self {
            handle,
            delay_before_ms: 0,
            delay_after_ms: 0,
            answer,
        }
    }

    /// Answers a status with an empty body, without carrying out.
    pub const fn status(status: u16) -> Self {
        Self::of(
            false,
            FaultAnswer::Status {
                status,
                body: None,
                retry_after_seconds: None,
            },
        )
    }

    /// Answers a status with a JSON body, without carrying out.
    pub const fn status_with(status: u16, body: serde_json::Value) -> Self {
        Self::of(
            false,
            FaultAnswer::Status {
                status,
                body: Some(body),
                retry_after_seconds: None,
            },
        )
    }

    /// 429 with `Retry-After`, without carrying out.
    pub const fn rate_limited(retry_after_seconds: u32) -> Self {
        Self::of(
            false,
            FaultAnswer::Status {
                status: 429,
                body: None,
                retry_after_seconds: Some(retry_after_seconds),
            },
        )
    }

    /// Resets the connection; nothing is carried out.
    pub const fn reset_before() -> Self {
        Self::of(false, FaultAnswer::Reset)
    }

    /// Carries out, then resets the connection.
    pub const fn lost_answer() -> Self {
        Self::of(true, FaultAnswer::Reset)
    }

    /// Carries out so many milliseconds late, then answers.
    pub const fn slow(ms: u64) -> Self {
        Self {
            handle: true,
            delay_before_ms: ms,
            delay_after_ms: 0,
            answer: FaultAnswer::Real,
        }
    }

    /// Carries out at once, answers so many milliseconds late.
    pub const fn late_answer(ms: u64) -> Self {
        Self {
            handle: true,
            delay_before_ms: 0,
            delay_after_ms: ms,
            answer: FaultAnswer::Real,
        }
    }

    /// Answers what is no JSON, without carrying out.
    pub const fn garbage() -> Self {
        Self::of(false, FaultAnswer::Garbage)
    }

    /// Answers more than a client should read, without carrying out.
    pub const fn oversized(bytes: usize) -> Self {
        Self::of(false, FaultAnswer::Oversized { bytes })
    }

    /// Answers a proxy's page, without carrying out.
    pub const fn html(status: u16) -> Self {
        Self::of(false, FaultAnswer::Html { status })
    }

    /// The same, but the request is carried out first.
    #[must_use]
    pub const fn after_handling(mut self) -> Self {
        self.handle = true;
        self
    }

    /// The same, so many milliseconds later.
    #[must_use]
    pub const fn delayed(mut self, ms: u64) -> Self {
        self.delay_before_ms = ms;
        self
    }

    pub(crate) const fn before(&self) -> Duration {
        Duration::from_millis(self.delay_before_ms)
    }

    pub(crate) const fn after(&self) -> Duration {
        Duration::from_millis(self.delay_after_ms)
    }

    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        match &self.answer {
            FaultAnswer::Real if !self.handle => Err(SandboxError::InvalidFault(
                "a real answer needs the request to be handled",
            )),
            FaultAnswer::Oversized { bytes } if *bytes > MAX_OVERSIZED => {
                Err(SandboxError::InvalidFault("an oversized answer is at most 64 MiB"))
            }
            FaultAnswer::Status { status, .. } | FaultAnswer::Html { status } if !(200..=599).contains(status) => {
                Err(SandboxError::InvalidFault("a status is 200 to 599"))
            }
            _ => Ok(()),
        }
    }
}
