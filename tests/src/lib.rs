//! The test harness: a database per test, cloned from a template that is migrated once.
//!
//! Nothing here reads `APP_*` but `APP_TEST_DATABASE_URL`, the administrator's address of a server that is running already.

mod admin;
mod database;
mod template;

pub use database::TestDb;
