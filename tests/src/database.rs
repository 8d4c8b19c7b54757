//! A database per test.

use crate::admin::{self, Admin};
use crate::template;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::OnceCell;

/// The name of the variable that points the tests at a server that is running already.
const SERVER: &str = "APP_TEST_DATABASE_URL";

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
}

impl TestDb {
    /// Clones a fresh database from the migrated template.
    pub async fn new() -> Self {
        let admin = Admin::new(
            std::env::var(SERVER)
                .unwrap_or_else(|_| panic!("{SERVER} must name the administrator's address of a server")),
        );
        let template = TEMPLATE.get_or_init(|| template::ready(&admin)).await;
        let name = fresh_name();
        let mut connection = admin.connect().await;
        admin::run(&mut connection, format!("create database {name} template {template}"))
            .await
            .unwrap_or_else(|error| panic!("a database for this test cannot be made: {error}"));
        admin::close(connection).await;
        Self {
            url: admin.runtime_url(&name),
            owner_url: admin.owner_url(&name),
            name,
            admin,
        }
    }

    /// The name of the database in its server.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
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
        "omniflow_test_{millis}_{}_{}",
        std::process::id(),
        MADE.fetch_add(1, Ordering::Relaxed)
    )
}
