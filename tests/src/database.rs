//! A database per test.

use crate::admin::{self, Admin};
use crate::own_cluster::OwnCluster;
use crate::{shared_server, template};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::OnceCell;

/// Every test database is named so, followed by the time it was made at.
pub(crate) const PREFIX: &str = "omniflow_test_";

static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static MADE: AtomicU32 = AtomicU32::new(0);

/// A migrated sandbox database of this test alone, removed when this value is dropped.
#[derive(Debug)]
pub struct TestDb {
    /// Address with the runtime role and its search path, as the processes of the product see the database.
    pub url: String,
    /// Address as the owner of the tables, for migrations and for looking behind the curtain.
    pub owner_url: String,
    name: String,
    admin: Admin,
    own_cluster: Option<OwnCluster>,
}

impl TestDb {
    /// Clones a fresh database from the migrated template on the server that all tests share.
    pub async fn new() -> Self {
        let admin = shared_server::admin().await;
        let template = TEMPLATE.get_or_init(|| template::ready(admin)).await;
        let name = fresh_name();
        let mut connection = admin.connect().await;
        admin::run(&mut connection, format!("create database {name} template {template}"))
            .await
            .unwrap_or_else(|error| panic!("a database for this test cannot be made: {error}"));
        admin::close(connection).await;
        Self::named(name, admin.clone(), None)
    }

    /// A migrated database on a server of its own, for tests that kill the server (`durable`: it really syncs) or that must
    /// not share the cluster-wide fence with others. Slower by a second: use [`TestDb::new`] when that will do.
    pub async fn own_cluster(durable: bool) -> Self {
        let cluster = OwnCluster::start(durable).await;
        let (name, admin) = ("omniflow".to_owned(), Admin::new(cluster.owner_url("postgres")));
        let mut connection = admin.connect().await;
        admin::run(&mut connection, format!("create database {name}"))
            .await
            .unwrap_or_else(|error| panic!("a database for this test cannot be made: {error}"));
        admin::close(connection).await;
        template::migrate(&admin.owner_url(&name)).await;
        Self::named(name, admin, Some(cluster))
    }

    /// The name of the database in its server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server of this test alone, when it was made by [`TestDb::own_cluster`].
    pub fn server(&mut self) -> Option<&mut OwnCluster> {
        self.own_cluster.as_mut()
    }

    fn named(name: String, admin: Admin, own_cluster: Option<OwnCluster>) -> Self {
        Self {
            url: admin.runtime_url(&name),
            owner_url: admin.owner_url(&name),
            name,
            admin,
            own_cluster,
        }
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        if self.own_cluster.is_some() {
            return;
        }
        let (admin, name) = (self.admin.clone(), self.name.clone());
        // A thread with a runtime of its own: this may run inside a runtime that is shutting down.
        let removal = std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                let mut connection = admin.connect().await;
                let _ = admin::run(&mut connection, format!("drop database if exists {name} with (force)")).await;
                admin::close(connection).await;
            });
        });
        let _ = removal.join();
    }
}

fn fresh_name() -> String {
    let millis = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis());
    format!(
        "{PREFIX}{millis}_{}_{}",
        std::process::id(),
        MADE.fetch_add(1, Ordering::Relaxed)
    )
}
