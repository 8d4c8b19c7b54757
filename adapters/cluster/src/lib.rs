//! A private PostgreSQL server for installations that bring none of their own.
//!
//! It is apart because it is the only crate that starts processes and owns a data directory. It must never download a
//! server, never touch one that it has not proved to be its own by a real connection, and never read the environment:
//! what it needs of it comes in as a map ([`Options::settings`]).
//!
//! Two ways to run: [`Cluster::start`] owns the server and stops it, [`standing`] servers outlive the command that
//! started them (`db up`), and [`Cluster::attach`] uses whichever is running.

mod account;
mod cluster;
mod data_directory;
mod error;
mod initialise;
mod launch;
mod options;
mod pid_file;
mod place;
mod proof;
mod server_programs;
pub mod standing;
mod starting;
mod state_file;
mod stop;

pub use account::{Account, is_root};
pub use cluster::Cluster;
pub use data_directory::prepare;
pub use error::ClusterError;
pub use options::Options;
pub use server_programs::{OLDEST_MAJOR, ServerPrograms};
