//! The statements. Each takes the rows that are longest overdue and that nobody holds, and compares with `<=`: a row that ends now has ended.
//!
//! Rows are found again by their place on disk (`ctid`), within the statement that locked them: a join would make the plan for any number of
//! rows a scan of the whole table, once a batch.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::Removing;

/// A step made of one statement over the cut (`$1`) and the most rows (`$2`).
macro_rules! removal {
    ($(#[$meaning:meta])* $name:ident, $sql:literal) => {
        $(#[$meaning])*
        pub(super) fn $name(conn: &mut PgConnection, cut: DateTime<Utc>, limit: i64) -> Removing<'_> {
            Box::pin(async move {
                let done = sqlx::query!($sql, cut, limit).execute(conn).await?;
                Ok(done.rows_affected())
            })
        }
    };
}

removal!(
    /// Calls of providers and of the panel, by the time in their row: long after the last try to process them.
    webhook_events,
    "delete from webhook_events where ctid = any (array(
         select ctid from webhook_events where retain_until <= $1 order by retain_until limit $2 for update skip locked))"
);

removal!(
    /// Only what was handed over; a row that waits or is blocked is never removed.
    outbox,
    "delete from outbox where ctid = any (array(
         select ctid from outbox where published_at is not null and published_at <= $1 order by published_at limit $2
         for update skip locked))"
);

removal!(
    /// Only what is not open; the facts stay in the log.
    entitlement_drifts,
    "delete from entitlement_drifts where ctid = any (array(
         select ctid from entitlement_drifts where status <> 'open' and resolved_at <= $1 order by resolved_at limit $2
         for update skip locked))"
);

removal!(
    /// The attempts of an operation go before it.
    finished_reconciles,
    "with gone as materialized (
         select ctid as place, operation_id from fulfillment_operations
         where operation = 'reconcile' and completed_at is not null and completed_at <= $1
         order by completed_at limit $2 for update skip locked),
     attempts as (
         delete from fulfillment_history where operation_id = any (array(select operation_id from gone)))
     delete from fulfillment_operations where ctid = any (array(select place from gone))"
);

removal!(
    /// Those of a failed operation stay for whoever has to decide about it.
    attempts,
    "delete from fulfillment_history where ctid = any (array(
         select attempt.ctid
         from fulfillment_history attempt join fulfillment_operations operation using (operation_id)
         where attempt.last_at <= $1 and operation.status in ('succeeded', 'cancelled') and operation.completed_at <= $1
         order by attempt.last_at limit $2 for update of attempt skip locked))"
);

removal!(
    /// The key of an order that was placed is never forgotten: its answer shrinks to the order's id. A claim goes when its time is over.
    answers,
    "with old as materialized (
         select known.ctid as place, known.status = 201 and (
                    select true from events
                    where aggregate_type = 'order' and aggregate_id = known.answer ->> 'id' and sequence = 1) as places
         from idempotency_keys known
         where not known.shortened and known.created_at <= $1
           and (known.status is not null or known.claimed_until <= clock_timestamp())
         order by known.created_at limit $2 for update skip locked),
     kept as (
         update idempotency_keys set answer = jsonb_build_object('placedOrder', answer -> 'id'), shortened = true
         where ctid = any (array(select place from old where places))
         returning 1),
     gone as (
         delete from idempotency_keys where ctid = any (array(select place from old where places is not true))
         returning 1)
     select from kept union all select from gone"
);

removal!(
    /// Of pending ones none: they are still owed to their readers.
    notices,
    "delete from operator_notices where ctid = any (array(
         select ctid from operator_notices
         where status in ('sent', 'suppressed', 'failed') and coalesce(sent_at, created_at) <= $1 and created_at <= $1
         order by created_at limit $2 for update skip locked))"
);

removal!(
    /// Of passes that no version runs any more.
    forgotten_passes,
    "delete from pass_runs where ctid = any (array(
         select ctid from pass_runs where finished_at is not null and started_at <= $1 order by started_at limit $2
         for update skip locked))"
);
