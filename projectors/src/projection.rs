//! What a projection is: a pure function from an event to a change of one row, and the SQL that loads and saves such rows.

use std::future::Future;

use domain::{aggregate::Decide, log::Recorded};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::table::Table;

/// A row of a read model.
pub trait Row: Clone + std::fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Its primary key.
    fn key(&self) -> Uuid;
    /// Position of the newest event in it.
    fn last_position(&self) -> i64;
    /// Notes that the event at `position` is in it.
    fn move_to(&mut self, position: i64);
}

/// What one event does to a read model.
pub enum RowChange<R> {
    /// Nothing.
    Nothing,
    /// A new row, whose `last_position` is the event's.
    Insert(R),
    /// The row of this key changes; the event that made it came before.
    Amend(Uuid, Amendment<R>),
}

/// How a row changes.
pub type Amendment<R> = Box<dyn FnOnce(&mut R) + Send>;

impl<R> RowChange<R> {
    /// The row of `key` changes by `amendment`.
    pub fn amend(key: Uuid, amendment: impl FnOnce(&mut R) + Send + 'static) -> Self {
        Self::Amend(key, Box::new(amendment))
    }
}

impl<R: std::fmt::Debug> std::fmt::Debug for RowChange<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::Insert(row) => f.debug_tuple("Insert").field(row).finish(),
            Self::Amend(key, _) => f.debug_tuple("Amend").field(key).finish(),
        }
    }
}

/// An event that is well formed and cannot be projected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Stable machine value.
    pub code: &'static str,
    /// What is wrong; no payload.
    pub detail: String,
}

impl Unfit {
    /// The stream's id is not one of ours.
    pub fn stream_id(text: &str) -> Self {
        Self {
            code: "event_stream_id",
            detail: format!("`{text}` is no stream id"),
        }
    }

    /// What the event needs to know was not told before.
    pub fn unknown(what: &str) -> Self {
        Self {
            code: "event_out_of_place",
            detail: format!("{what} is not known"),
        }
    }
}

/// A read model of one kind of stream.
///
/// No clock, no network, no other projection's table: the same events always make the same rows.
pub trait Projection: Send + Sync + Sized + 'static {
    /// Whose events it follows.
    type Aggregate: Decide<Event = Self::Event>;
    /// Those events.
    type Event: Send + Sync;
    /// Its rows.
    type Row: Row;
    /// What changes need to know from earlier in the log.
    type Context: Default + Send + Sync;

    /// Stable name: of the table, the cursor, and on the command line.
    const NAME: &'static str;
    /// Raised whenever the same events make other rows: an unfinished rebuild of another version is not gone on with.
    const VERSION: u32;
    /// Its table.
    const TABLE: &'static Table;

    /// Looks up in the log what the changes of these events need.
    fn context_in(
        _connection: &mut PgConnection,
        _events: &[Recorded<Self::Event>],
    ) -> impl Future<Output = Result<Self::Context, sqlx::Error>> + Send {
        std::future::ready(Ok(Self::Context::default()))
    }

    /// What an event does.
    ///
    /// # Errors
    /// [`Unfit`] stops the projection at this event.
    fn change(event: &Recorded<Self::Event>, context: &Self::Context) -> Result<RowChange<Self::Row>, Unfit>;

    /// Loads the rows of these keys that exist. Tables are named without a schema: the search path says whether live rows or a rebuild are meant.
    fn load_in(
        connection: &mut PgConnection,
        keys: &[Uuid],
    ) -> impl Future<Output = Result<Vec<Self::Row>, sqlx::Error>> + Send;

    /// Writes rows in one statement. A row that is stored with the same or a newer `last_position` is left alone.
    fn save_in(
        connection: &mut PgConnection,
        rows: &[Self::Row],
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// One column of many rows, for a statement that takes arrays.
pub(crate) fn column<R, T>(rows: &[R], value: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

/// The id of the stream an event belongs to.
pub(crate) fn stream_id<E>(event: &Recorded<E>) -> Result<Uuid, Unfit> {
    event
        .aggregate_id
        .parse()
        .map_err(|_| Unfit::stream_id(&event.aggregate_id))
}
