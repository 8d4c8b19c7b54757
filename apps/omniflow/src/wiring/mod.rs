//! How processes are put together out of settings.

pub(crate) mod adapters;
pub(crate) mod core;
pub(crate) mod data_dir;
pub(crate) mod database;
pub(crate) mod keys;
pub(crate) mod processes;
pub(crate) mod stack;
pub(crate) mod watch;
