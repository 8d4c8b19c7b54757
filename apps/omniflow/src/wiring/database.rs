//! Which database a command works on: the one of the settings, or the private one of the data directory.

use std::{collections::BTreeMap, path::Path, time::Duration};

use cluster::{Cluster, Options};
use secrets::Secret;
use sqlx::PgPool;
use store::{Mode, PoolOptions, check_applied, general_pool};

use crate::{config::Config, failure::Failure};

/// Name of the database on a private server.
pub const DATABASE: &str = "omniflow";

/// A database that runs, and the private server where there is one.
pub struct Database {
    /// Address, with the rights of its owner.
    pub url: Secret<String>,
    /// Held as long as the database is used.
    pub cluster: Option<Cluster>,
}

impl Database {
    /// The database of `APP_DATABASE_URL`, or the private server that runs for this data directory.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when there is neither.
    pub async fn find(config: &Config, data_dir: &Path) -> Result<Self, Failure> {
        if let Some(url) = &config.database.url {
            return Ok(Self {
                url: url.clone(),
                cluster: None,
            });
        }
        let cluster = Cluster::attach(data_dir).await.map_err(|error| {
            Failure::unavailable(format!(
                "{error}: set APP_DATABASE_URL, or start the private server of this data directory (`omniflow up` or `omniflow db up`)"
            ))
        })?;
        Ok(Self {
            url: cluster.owner_url(DATABASE).into(),
            cluster: Some(cluster),
        })
    }

    /// The database of `APP_DATABASE_URL`, or a private server started now.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when the server does not start.
    pub async fn start(config: &Config, data_dir: &Path) -> Result<Self, Failure> {
        if let Some(url) = &config.database.url {
            return Ok(Self {
                url: url.clone(),
                cluster: None,
            });
        }
        let options = Options {
            settings: server_settings(config),
            ..Options::new(data_dir)
        };
        let cluster = Cluster::start(&options).await.map_err(Failure::unavailable)?;
        for notice in cluster.notices() {
            tracing::info!("{notice}");
        }
        cluster.ensure_database(DATABASE).await.map_err(Failure::unavailable)?;
        Ok(Self {
            url: cluster.owner_url(DATABASE).into(),
            cluster: Some(cluster),
        })
    }

    /// Settings of one pool.
    pub fn pool_options(&self, process: &'static str, size: u32) -> PoolOptions {
        PoolOptions {
            url: self.url.expose().clone(),
            size,
            process,
        }
    }

    /// A small pool on a database whose schema is this version's, and what the database is for.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when nobody answers or a migration is missing.
    pub async fn checked_pool(&self, process: &'static str, size: u32) -> Result<(PgPool, Mode), Failure> {
        let pool = general_pool(&self.pool_options(process, size)).await?;
        let mode = check_applied(&pool).await?;
        Ok((pool, mode))
    }

    /// Stops the private server, where this process started one.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when it does not stop.
    pub async fn stop(self) -> Result<(), Failure> {
        match self.cluster {
            Some(cluster) => tokio::time::timeout(Duration::from_secs(30), cluster.stop())
                .await
                .map_err(|_| Failure::unavailable("the private server did not stop within 30 s"))?
                .map_err(Failure::unavailable),
            None => Ok(()),
        }
    }
}

/// What the private server needs to know of the settings.
#[expect(
    clippy::disallowed_methods,
    reason = "PATH is how programs are found; it is no setting of ours"
)]
pub fn server_settings(config: &Config) -> BTreeMap<String, String> {
    let bin = config
        .database
        .pg_bin
        .as_ref()
        .map(|bin| ("APP_PG_BIN".to_owned(), bin.display().to_string()));
    let path = std::env::var("PATH").ok().map(|path| ("PATH".to_owned(), path));
    bin.into_iter().chain(path).collect()
}
