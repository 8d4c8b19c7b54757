//! A sandbox that runs.

use std::{fmt, fs::File, time::Duration};

use tokio::task::JoinHandle;

use crate::{Addresses, Background};

/// How long a stop waits for requests in flight.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// The simulators, listening. Dropping it stops them without waiting.
pub struct RunningSandbox {
    pub(crate) addresses: Addresses,
    pub(crate) background: Background,
    pub(crate) servers: Vec<JoinHandle<()>>,
    /// Held while the journals may be written.
    pub(crate) lock: File,
}

impl RunningSandbox {
    /// Where the simulators listen.
    pub const fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Stops listening and waits a moment for requests in flight. The files stay.
    pub async fn stop(self) {
        self.background.stop(STOP_LIMIT).await;
        for server in &self.servers {
            server.abort();
        }
        let _ = self.lock.unlock();
    }
}

impl Drop for RunningSandbox {
    fn drop(&mut self) {
        self.background.abandon();
        for server in &self.servers {
            server.abort();
        }
    }
}

impl fmt::Debug for RunningSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningSandbox")
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}
