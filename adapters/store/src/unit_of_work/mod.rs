//! Load, decide, commit: the one way in which anything is written to the log.
//!
//! ```text
//! store.load(&[streams]) ─▶ UnitOfWork ─ execute, enqueue, answer ─▶ commit()      one autocommit statement
//!                                                              └──▶ begin() ─ side rows through conn() ─▶ commit()
//! ```
//!
//! Both forms flush the same statement: events sorted by (type, id), outbox rows, operation and delivery rows and, declared last, the
//! stored answer. There is no third form. The connection that loaded is the one that commits.

mod append;
mod buffer;
mod columns;
mod forms;
mod meter;
mod store;
mod stream;
mod work;

pub use buffer::{NewDelivery, NewOperation};
pub use forms::{OpenUnitOfWork, UnitOfWork};
pub use store::{Folded, Loaded, Store};
pub use stream::StreamId;
pub use work::{ExecuteError, Work};

/// What a commit reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Highest position written; where nothing was written, the highest of the loaded streams. `None` when there is none.
    pub position: Option<i64>,
    /// Outbox rows were written and the publisher was told.
    pub hinted: bool,
}
