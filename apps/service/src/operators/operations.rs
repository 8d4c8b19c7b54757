//! Operations and what happened to them, as operators read them. Never a body of the panel: a status, a code and a correlation id are
//! what it takes to decide about a retry.

use domain::{ids::OperationId, time::Timestamp};
use serde::Serialize;
use store::{StoreError, history, operation_pages};
use uuid::Uuid;

use crate::{Cursor, Error, Refusal, Service};

pub use store::operation_pages::Row as OperationRow;

/// Statuses that a filter may name.
const STATUSES: [&str; 6] = ["pending", "running", "retrying", "succeeded", "failed", "cancelled"];

/// Which operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationSearch {
    /// Only in this status.
    pub status: Option<String>,
    /// Only of this kind.
    pub operation: Option<String>,
    /// Only of this entitlement.
    pub entitlement_id: Option<Uuid>,
    /// What the page before gave.
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: i64,
}

/// A page, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// What was found.
    pub items: Vec<T>,
    /// Opaque; absent on the last page.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// A page out of up to `limit + 1` items: one too many says that there is another page.
    pub(crate) fn cut(mut items: Vec<T>, limit: i64, cursor: impl FnOnce(&T) -> Cursor) -> Self {
        let limit = usize::try_from(limit).unwrap_or(0);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| cursor(last).to_string());
        Self { items, next }
    }
}

/// One thing that happened to an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryView {
    /// Its place, from 1.
    pub entry: i32,
    /// `attempt`, `snooze`, `hold`, `refusal`, `close`, `operator`.
    pub kind: String,
    /// Status of the operation afterwards.
    pub status: String,
    /// Number of the attempt in its budget.
    pub attempt: i32,
    /// Stable code, where something failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// How often the same happened in a row.
    pub count: i32,
    /// When it happened last.
    pub occurred_at: Timestamp,
    /// When it happened first.
    pub first_at: Timestamp,
}

impl Service {
    /// Operations, newest first.
    ///
    /// # Errors
    /// [`Error::Refused`] (`invalid_state` for an unknown status, `invalid_cursor`), or a fault of the store.
    pub async fn list_operations(&self, search: &OperationSearch) -> Result<Page<OperationRow>, Error> {
        if let Some(status) = &search.status
            && !STATUSES.contains(&status.as_str())
        {
            return Err(Refusal::new(400, "invalid_state", "there is no such status of an operation").into());
        }
        let before = search.cursor.as_deref().map(Cursor::operation).transpose()?;
        let limit = search.limit.clamp(1, 200);
        let filter = operation_pages::Filter {
            status: search.status.clone(),
            operation: search.operation.clone(),
            entitlement_id: search.entitlement_id,
            before,
            limit: limit.saturating_add(1),
        };
        let rows = operation_pages::page(self.store.pool(), &filter).await?;
        Ok(Page::cut(rows, limit, |row| Cursor::Operation(row.operation_id)))
    }

    /// One operation.
    ///
    /// # Errors
    /// [`Error::Refused`] (`operation_not_found`), or a fault of the store.
    pub async fn get_operation(&self, operation_id: OperationId) -> Result<OperationRow, Error> {
        operation_pages::one(self.store.pool(), operation_id.as_uuid())
            .await?
            .ok_or_else(|| unknown().into())
    }

    /// What happened to an operation, oldest first. A wait, hold or refusal that repeats is one entry with a count.
    ///
    /// # Errors
    /// [`Error::Refused`] (`operation_not_found`), or a fault of the store.
    pub async fn operation_history(&self, operation_id: OperationId) -> Result<Vec<HistoryView>, Error> {
        self.get_operation(operation_id).await?;
        let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
        let entries = history::list_in(&mut conn, operation_id.as_uuid()).await?;
        Ok(entries.into_iter().map(HistoryView::from).collect())
    }
}

impl From<history::Stored> for HistoryView {
    fn from(entry: history::Stored) -> Self {
        Self {
            entry: entry.entry,
            kind: entry.kind,
            status: entry.status,
            attempt: entry.attempt,
            error_code: entry.error_code,
            correlation_id: entry.correlation_id,
            count: entry.repeat_count,
            occurred_at: entry.last_at,
            first_at: entry.first_at,
        }
    }
}

pub(super) const fn unknown() -> Refusal {
    Refusal::new(404, "operation_not_found", "there is no such operation")
}
