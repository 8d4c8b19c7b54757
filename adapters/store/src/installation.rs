//! What the database is for: written once by `db migrate`, for ever.

use std::{fmt, str::FromStr};

use sqlx::{PgConnection, PgExecutor};

use crate::StoreError;

/// Sandbox databases use the sandbox's simulators only, live ones never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything outside is simulated.
    Sandbox,
    /// Real money, real access.
    Live,
}

impl Mode {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Live => "live",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        match text {
            "sandbox" => Ok(Self::Sandbox),
            "live" => Ok(Self::Live),
            _ => Err(StoreError::corrupt("installation", "an unknown mode")),
        }
    }
}

/// Writes the mode of a new database; of another one, checks that it is the same.
///
/// # Errors
/// [`StoreError::Migration`] when the database was made for the other mode.
pub(crate) async fn settle_mode_in(connection: &mut PgConnection, wanted: Mode) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into public.installation (mode, installation_id) values ($1, gen_random_uuid()) on conflict do nothing",
        wanted.as_str()
    )
    .execute(&mut *connection)
    .await?;
    match mode(connection).await? {
        Some(found) if found != wanted => Err(StoreError::Migration(format!(
            "this database is a {found} installation and stays one; use another database for a {wanted} one"
        ))),
        Some(_) => Ok(()),
        None => Err(StoreError::corrupt("installation", "the row was not written")),
    }
}

/// The mode of this database; `None` before its first migration wrote it.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn mode(executor: impl PgExecutor<'_>) -> Result<Option<Mode>, StoreError> {
    let stored = sqlx::query_scalar!("select mode from public.installation")
        .fetch_optional(executor)
        .await?;
    stored.map(|text| text.parse()).transpose()
}
