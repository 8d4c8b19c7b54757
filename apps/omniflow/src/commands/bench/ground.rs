//! The database of a benchmark: a durable private server of its own, gone afterwards.

use std::{collections::BTreeMap, path::PathBuf};

use cluster::{Cluster, Options};
use sqlx::{Connection as _, PgConnection, PgPool};
use store::{Mode, PoolOptions, command_pool, general_pool, migrate};

use crate::failure::Failure;

/// Name of the database.
const DATABASE: &str = "omniflow_bench";
/// As on the reference machine.
const SHARED_BUFFERS_MB: u32 = 512;

/// A migrated database.
pub(crate) struct Ground {
    url: String,
    cluster: Cluster,
}

impl Ground {
    /// Starts a server in `data_dir`, with the product's own durability.
    pub(crate) async fn start(data_dir: PathBuf, settings: BTreeMap<String, String>) -> Result<Self, Failure> {
        let options = Options {
            settings,
            shared_buffers_mb: SHARED_BUFFERS_MB,
            throw_away: true,
            ..Options::new(data_dir)
        };
        let cluster = Cluster::start(&options).await.map_err(Failure::unavailable)?;
        cluster.ensure_database(DATABASE).await.map_err(Failure::unavailable)?;
        let url = cluster.owner_url(DATABASE);
        migrate(&url, Mode::Sandbox).await?;
        Ok(Self { url, cluster })
    }

    /// What autovacuum would have done by the time that a log of this size has grown.
    pub(crate) async fn vacuum(&self) -> Result<(), Failure> {
        let mut owner = PgConnection::connect(&self.url).await?;
        sqlx::query("vacuum analyze").execute(&mut owner).await?;
        owner.close().await?;
        Ok(())
    }

    /// Address, with the rights of the owner.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A pool as commands have it. Both sides of a comparison get one each, with the same settings.
    pub(crate) async fn command_pool(&self, size: u32) -> Result<PgPool, Failure> {
        Ok(command_pool(&self.options(size)).await?)
    }

    /// A pool as readers have it.
    pub(crate) async fn general_pool(&self, size: u32) -> Result<PgPool, Failure> {
        Ok(general_pool(&self.options(size)).await?)
    }

    /// Settings of a pool.
    pub(crate) fn options(&self, size: u32) -> PoolOptions {
        PoolOptions {
            url: self.url.clone(),
            size,
            process: "bench",
        }
    }

    /// Stops the server and removes it.
    pub(crate) async fn stop(self) -> Result<(), Failure> {
        self.cluster.stop().await.map_err(Failure::unavailable)
    }
}
