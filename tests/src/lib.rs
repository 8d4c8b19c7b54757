//! The test harness: a database per test, cloned from a template that is migrated once.
//!
//! The server is one that the first test starts in the target directory and that stops by itself ten seconds after the last;
//! or the one that `APP_TEST_DATABASE_URL` names (an administrator's address). Besides that variable only `APP_PG_BIN` and
//! `PATH` are read, to find a server.

#![expect(clippy::panic, reason = "a test whose ground is missing has nothing better to say")]
#![expect(
    clippy::missing_panics_doc,
    reason = "every function of the harness panics when its ground is missing"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the harness is the one place of the tests that reads its variable and the clock"
)]

mod admin;
mod database;
mod own_cluster;
mod shared_server;
mod sweep;
mod template;

pub use database::TestDb;
pub use own_cluster::OwnCluster;
