//! The VPN panel. Reading and writing are two traits: only the fulfillment worker may name the writing one.

use std::{fmt::Debug, time::Duration};

use async_trait::async_trait;
use domain::{entitlement::RemoteStatus, plan::Limits, time::Timestamp};

/// A user as the panel shows it, without its secrets (links, passwords, protocol ids never leave the adapter).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteUser {
    /// The panel's record key.
    pub id: i64,
    pub username: String,
    pub status: RemoteStatus,
    pub expire_at: Timestamp,
    /// 0 is unlimited.
    pub traffic_limit_bytes: i64,
    pub used_traffic_bytes: i64,
    /// 0 is unlimited; `None` is the panel's own default.
    pub device_limit: Option<i64>,
    pub squads: Vec<uuid::Uuid>,
    /// `omniflow:<subscription id>` marks a user as ours.
    pub description: Option<String>,
    /// When used traffic began anew last, as the panel says.
    pub traffic_reset_at: Option<Timestamp>,
}

/// What is pushed: always whole, never a difference, so that repeating it changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    pub expire_at: Timestamp,
    pub limits: Limits,
    /// Opens a user that was shut; together with a future `expire_at` in one request.
    pub activate: bool,
    /// A user that does not exist yet is made shut. One that exists is shut by [`PanelWriter::disable_user`].
    pub shut: bool,
}

/// How a failed call is to be treated (contracts 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The same request will fail again.
    Permanent,
    /// A later try may succeed: 5xx, refused connection, a read without an answer. Not carried out, as far as anybody can tell.
    Transient,
    /// A write was sent, but no answer of the panel came, or none that can be read (a reset, a timeout, a proxy's 502 or 504): it may
    /// have been carried out, now or later.
    Unanswered,
    /// 429. The pause, if one was asked for, is at most an hour.
    RateLimited { retry_after: Option<Duration> },
    /// 401, 403, a bare 404, a panel of another version: an operator has to act, trying later is right.
    Misconfigured,
}

/// A failed call. Holds no body, no URL and no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the panel call failed: {code}")]
pub struct PanelError {
    pub kind: FailureKind,
    /// `remnawave_http_<status>`, `remnawave_unavailable`, `remnawave_timeout`, `remnawave_bad_answer`, `remnawave_answer_too_large`,
    /// `remnawave_version_unsupported`, `remote_user_not_found`, `remote_username_taken`. The last two are transient: the next run
    /// finds out whose the name is, or creates the user anew.
    pub code: String,
    pub http_status: Option<u16>,
    /// The panel's own `errorCode`, as `A019`.
    pub panel_code: Option<String>,
}

/// Reading calls.
#[async_trait]
pub trait PanelReader: Send + Sync + Debug {
    /// The panel's version text; below 3.0.0 is an error of kind [`FailureKind::Misconfigured`].
    async fn version(&self) -> Result<String, PanelError>;
    /// `Ok(None)` only when the panel itself says that there is no such user.
    async fn user(&self, id: i64) -> Result<Option<RemoteUser>, PanelError>;
    /// As [`Self::user`], by name.
    async fn user_by_username(&self, username: &str) -> Result<Option<RemoteUser>, PanelError>;
    /// Every squad that the panel has.
    async fn squad_ids(&self) -> Result<Vec<uuid::Uuid>, PanelError>;
}

/// Mutating calls. Each is one request and safe to repeat.
#[async_trait]
pub trait PanelWriter: PanelReader {
    /// Creates. A taken name is code `remote_username_taken`: look it up.
    async fn create_user(&self, username: &str, description: &str, push: &Push) -> Result<RemoteUser, PanelError>;
    /// Replaces expiry, limits and squads. A missing user is code `remote_user_not_found`. An `expire_at` that has passed is refused by
    /// the panel for good: end access that is over with [`Self::disable_user`].
    async fn update_user(&self, id: i64, push: &Push) -> Result<RemoteUser, PanelError>;
    /// Starts used traffic anew.
    async fn reset_traffic(&self, id: i64) -> Result<RemoteUser, PanelError>;
    /// Opens. Already open is success.
    async fn enable_user(&self, id: i64) -> Result<(), PanelError>;
    /// Shuts. Already shut is success.
    async fn disable_user(&self, id: i64) -> Result<(), PanelError>;
}
