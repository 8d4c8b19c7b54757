//! How processes are put together out of settings.

pub(crate) mod adapters;
pub(crate) mod data_dir;
pub(crate) mod database;
