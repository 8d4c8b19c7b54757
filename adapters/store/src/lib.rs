//! The event log and everything that is committed together with it: the only place with event-log and outbox SQL.
//!
//! A use case loads the streams it needs in one query, decides in memory, buffers, and commits everything in one statement
//! ([`unit_of_work`]). Readers of one entity fold its stream ([`unit_of_work::Store::fold`]); lists read the projections.
//!
//! What this crate must never do: decide (that is `domain`), call a provider, or hand over side effects (that is the publisher's).

pub mod audit;
pub mod checkpoint;
pub mod checks;
pub mod claims;
mod codec;
mod connection;
pub mod dead_jobs;
pub mod dead_letters;
pub mod deliveries;
pub mod delivery_list;
pub mod drifts;
pub mod error;
pub mod event_log;
pub mod event_reader;
pub mod figures;
pub mod hash;
pub mod health;
pub mod high_water;
pub mod hint;
pub mod history;
pub mod idempotency;
pub mod inspection;
pub mod installation;
pub mod leases;
pub mod maintenance;
pub mod migrate;
pub mod notices;
pub mod operation_pages;
pub mod operations;
pub mod outbox;
pub mod panel_hints;
pub mod pass_runs;
pub mod payments;
pub mod pool;
pub mod read_model;
pub mod recipients;
pub mod reconciles;
pub mod retention;
pub mod summary;
pub mod superseded;
pub mod transaction;
pub mod unit_of_work;
pub mod verify;
mod warm;
pub mod webhooks;

pub use codec::{Decoder, canonical, decode_event};
pub use error::StoreError;
pub use hint::Hinter;
pub use idempotency::{Claim, KeyedRequest, StoredAnswer};
pub use installation::Mode;
pub use migrate::{Migrated, check_applied, migrate};
pub use pool::{PoolOptions, command_pool, general_pool};
/// The connection that functions ending in `_in` work on.
pub use sqlx::PgConnection as Connection;
pub use transaction::SideRows;
pub use unit_of_work::{
    Committed, ExecuteError, Folded, Loaded, NewDelivery, NewOperation, OpenUnitOfWork, Store, StreamId, UnitOfWork,
};
pub use verify::verify_chain;
