//! One rebuild or verification of a read model at a time, in the whole installation.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection, PgPool};

use crate::ProjectionError;

/// First half of the lock's key; the second is made of the read model's name.
const CLASS: i32 = 0x0f10_0001;

/// Holds the lock for as long as its own connection lives: a process that dies lets go at once.
#[derive(Debug)]
pub(crate) struct Guard {
    connection: PgConnection,
}

/// How long a holder that is just going is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(50);

impl Guard {
    pub(crate) async fn take(pool: &PgPool, name: &'static str) -> Result<Self, ProjectionError> {
        let mut connection = pool.acquire().await?.detach();
        let start = Instant::now();
        while !try_lock(&mut connection, name).await? {
            if start.elapsed() >= PATIENCE {
                return Err(ProjectionError::Busy(name));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(Self { connection })
    }

    pub(crate) const fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Lets go politely. Dropping the guard lets go as well, when the server notices.
    pub(crate) async fn release(self) {
        drop(self.connection.close().await);
    }
}

async fn try_lock(connection: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select pg_try_advisory_lock($1, hashtext($2)) as "taken!""#,
        CLASS,
        name
    )
    .fetch_one(connection)
    .await
}
