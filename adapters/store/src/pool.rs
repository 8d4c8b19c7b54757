//! Pools of connections. Every connection of every process gets the same session: role, search path and time limits.

use std::{str::FromStr as _, time::Duration};

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::StoreError;

/// How long a caller waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// Where to connect, how often at once, and as what.
#[derive(Clone)]
pub struct PoolOptions {
    /// `postgres://…`
    pub url: String,
    /// Most connections at once.
    pub size: u32,
    /// Part of `application_name`: `omniflow-<process>`.
    pub process: &'static str,
}

impl std::fmt::Debug for PoolOptions {
    /// Without the URL: it may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoolOptions")
            .field("size", &self.size)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

/// The pool that commands run on: no round trip to test a connection before use (a dead one is met by the load's retry), and
/// generic plans, because with array parameters the planner would otherwise plan at each execution.
///
/// # Errors
/// [`StoreError::Migration`] for a URL that cannot be parsed, [`StoreError::Unavailable`] when nobody answers.
pub async fn command_pool(options: &PoolOptions) -> Result<PgPool, StoreError> {
    let session = session(options)?.options([("plan_cache_mode", "force_generic_plan")]);
    connect(options, session, false).await
}

/// The pool for everything else.
///
/// # Errors
/// As [`command_pool`].
pub async fn general_pool(options: &PoolOptions) -> Result<PgPool, StoreError> {
    connect(options, session(options)?, true).await
}

async fn connect(options: &PoolOptions, session: PgConnectOptions, test: bool) -> Result<PgPool, StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(options.size)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(test)
        .connect_with(session)
        .await?;
    Ok(pool)
}

/// The options of one connection, for those that need one outside a pool (listener, publisher, hint).
///
/// # Errors
/// [`StoreError::Migration`] for a URL that cannot be parsed.
pub fn session(options: &PoolOptions) -> Result<PgConnectOptions, StoreError> {
    Ok(address(&options.url)?
        .application_name(&format!("omniflow-{}", options.process))
        .options([
            ("search_path", "read,public"),
            ("role", "omniflow_runtime"),
            ("idle_in_transaction_session_timeout", "5s"),
            ("statement_timeout", "10s"),
        ]))
}

/// Parses a connection URL. The message never repeats it.
pub(crate) fn address(url: &str) -> Result<PgConnectOptions, StoreError> {
    PgConnectOptions::from_str(url).map_err(|_| {
        StoreError::Migration("the database URL cannot be parsed (postgres://user@host:port/name)".to_owned())
    })
}
