//! A server of one test alone, for tests that kill it or that need its transaction ids for themselves.

use crate::shared_server::settings;
use cluster::{Cluster, Options};
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

/// A private server and its directory; both go when it is dropped.
#[derive(Debug)]
pub struct OwnCluster {
    cluster: Option<Cluster>,
    options: Options,
    _directory: TempDir,
}

impl OwnCluster {
    pub(crate) async fn start(durable: bool) -> Self {
        let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
        // The account that the server drops to must be able to pass.
        let _ = std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o711));
        let options = Options {
            settings: settings(),
            durable,
            max_connections: 150,
            shared_buffers_mb: 64,
            throw_away: true,
            ..Options::new(directory.path())
        };
        let cluster = launch(&options).await;
        Self {
            cluster: Some(cluster),
            options,
            _directory: directory,
        }
    }

    /// Process number of the server, for tests that kill it.
    pub fn pid(&self) -> i32 {
        self.running().pid()
    }

    /// Starts the server again after the test killed it; the address stays the same.
    pub async fn restart(&mut self) {
        if let Some(dead) = self.cluster.take() {
            // Not thrown away: what it wrote is what the test is about.
            dead.keep_files().stop().await.unwrap_or_else(|error| panic!("{error}"));
        }
        self.cluster = Some(launch(&self.options).await);
    }

    pub(crate) fn owner_url(&self, database: &str) -> String {
        self.running().owner_url(database)
    }

    fn running(&self) -> &Cluster {
        self.cluster
            .as_ref()
            .unwrap_or_else(|| panic!("the server did not come up again"))
    }
}

async fn launch(options: &Options) -> Cluster {
    Cluster::start(options).await.unwrap_or_else(|error| panic!("{error}"))
}
