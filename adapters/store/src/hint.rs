//! The hint after a commit: it wakes the publisher at once where a poll would find the work up to 20 ms later.
//!
//! It goes out on a connection of its own, after the commit, at most every 3 ms: a NOTIFY inside the command's own transaction takes
//! more than half of the throughput. A lost hint costs a few milliseconds, nothing else, so every failure here is only logged.

use std::{sync::Arc, time::Duration};

use sqlx::{ConnectOptions as _, PgConnection};
use tokio::sync::Notify;

use crate::{PoolOptions, StoreError, pool::session};

/// Channel that the publisher listens on.
pub const CHANNEL: &str = "omniflow_outbox";
/// Hints closer together than this become one.
const APART: Duration = Duration::from_millis(3);
/// Pause after a failure.
const BACK_OFF: Duration = Duration::from_secs(1);

/// Tells the publisher that there is something to hand over. Cheap to clone; the last clone's drop ends the sender.
#[derive(Clone, Debug)]
pub struct Hinter {
    wake: Arc<Wake>,
}

#[derive(Debug)]
struct Wake(Arc<Notify>);

impl Drop for Wake {
    fn drop(&mut self) {
        // Wakes the sender, which finds nobody left and ends.
        self.0.notify_one();
    }
}

impl Hinter {
    /// Starts the sender on the current runtime. It connects when the first hint comes.
    ///
    /// # Errors
    /// [`StoreError::Migration`] for a URL that cannot be parsed.
    pub fn start(options: &PoolOptions) -> Result<Self, StoreError> {
        let session = session(options)?;
        let signal = Arc::new(Notify::new());
        let wake = Arc::new(Wake(Arc::clone(&signal)));
        let alive = Arc::downgrade(&wake);
        let sender = async move {
            let mut connection = None;
            loop {
                signal.notified().await;
                if alive.strong_count() == 0 {
                    return;
                }
                let pause = match send(&mut connection, &session).await {
                    Ok(()) => APART,
                    Err(error) => {
                        tracing::debug!(%error, "the outbox hint was not sent");
                        connection = None;
                        BACK_OFF
                    }
                };
                tokio::time::sleep(pause).await;
            }
        };
        // Ends with its last owner and holds nothing that must be finished.
        tokio::spawn(sender);
        Ok(Self { wake })
    }

    /// Says that there is something to hand over. Never waits.
    pub fn hint(&self) {
        self.wake.0.notify_one();
    }
}

async fn send(
    connection: &mut Option<PgConnection>,
    session: &sqlx::postgres::PgConnectOptions,
) -> Result<(), sqlx::Error> {
    let connected = match connection {
        Some(connected) => connected,
        None => connection.insert(session.connect().await?),
    };
    sqlx::query!("select pg_notify('omniflow_outbox', '')")
        .execute(connected)
        .await?;
    Ok(())
}
