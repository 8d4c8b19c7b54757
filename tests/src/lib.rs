//! The test harness: a database per test, cloned from a template that is migrated once.
//!
//! Nothing here reads `APP_*` but `APP_TEST_DATABASE_URL`, the administrator's address of a server that is running already.

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
mod template;

pub use database::TestDb;
