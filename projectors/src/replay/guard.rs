//! One rebuild or verification of a read model at a time, in the whole installation.

use sqlx::{Connection as _, PgConnection, PgPool};

use crate::ProjectionError;

/// First half of the lock's key; the second is made of the read model's name.
const CLASS: i32 = 0x0f10_0001;

/// Holds the lock for as long as its own connection lives: a process that dies lets go at once.
#[derive(Debug)]
pub(crate) struct Guard {
    connection: PgConnection,
}

impl Guard {
    pub(crate) async fn take(pool: &PgPool, name: &'static str) -> Result<Self, ProjectionError> {
        let mut connection = pool.acquire().await?.detach();
        let taken = sqlx::query_scalar!(
            r#"select pg_try_advisory_lock($1, hashtext($2)) as "taken!""#,
            CLASS,
            name
        )
        .fetch_one(&mut connection)
        .await?;
        if taken {
            Ok(Self { connection })
        } else {
            Err(ProjectionError::Busy(name))
        }
    }

    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Lets go politely. Dropping the guard lets go as well, a moment later.
    pub(crate) async fn release(self) {
        // The lock ends with the session either way.
        drop(self.connection.close().await);
    }
}
