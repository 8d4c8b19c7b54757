//! What retention removes, to the microsecond, and what it must leave alone.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{Connection as _, PgConnection, PgPool};
use store::retention::{self, Keep, STEPS, Step, sweep};
use tests::TestDb;

use crate::support::{options, owner};

const CUT: &str = "2026-03-01T12:00:00Z";

/// Three rows of each table: one ends a microsecond after the cut, one at it, one before it; and beside them rows that never go.
/// `$1` is the cut.
const ROWS: &[(&str, &str, &[&str])] = &[
    (
        "webhook_events",
        "insert into webhook_events (provider, event_key, signature_valid, body_sha256, retain_until)
         select 'p', n::text, true, sha256('x'), $1 + n * interval '1 microsecond' from generate_series(-1, 1) n",
        &["1"],
    ),
    (
        "outbox",
        "insert into outbox (topic, stream, payload, published_at)
         select 't', n::text, '{}'::jsonb, $1 + n * interval '1 microsecond' from generate_series(-1, 1) n
         union all select 't', 'waits', '{}', null",
        &["1", "waits"],
    ),
    (
        "entitlement_drifts",
        "insert into entitlement_drifts (entitlement_id, subscription_id, kind, expected, observed, status, detected_at, resolved_at)
         select gen_random_uuid(), gen_random_uuid(), 'expiry', to_jsonb(n), '{}'::jsonb, 'resolved', $1 - interval '1 day',
                $1 + n * interval '1 microsecond' from generate_series(-1, 1) n
         union all select gen_random_uuid(), gen_random_uuid(), 'expiry', '\"open\"', '{}', 'open', $1 - interval '9 days', null",
        &["1", "\"open\""],
    ),
    (
        "fulfillment_operations",
        "with made as (
             insert into fulfillment_operations
                 (operation_id, entitlement_id, subscription_id, operation, status, version, idempotency_key, correlation_id, completed_at)
             select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), case when n = 2 then 'create' else 'reconcile' end,
                    case when n = 3 then 'pending' else 'succeeded' end, 1, n::text, 'c',
                    case when n = 2 then $1 - interval '1 day' when n < 3 then $1 + n * interval '1 microsecond' end
             from generate_series(-1, 3) n
             returning operation_id)
         insert into fulfillment_history (operation_id, entry, kind, status, attempt, correlation_id, last_at)
         select operation_id, 1, 'run', 'succeeded', 1, 'c', $1 + interval '1 day' from made",
        &["1", "2", "3"],
    ),
    (
        "operator_notices",
        "insert into operator_notices (kind, dedupe_key, payload, status, created_at, sent_at)
         select 'incident', n::text, '{}'::jsonb, 'sent', $1 - interval '1 day', $1 + n * interval '1 microsecond'
         from generate_series(-1, 1) n
         union all select 'incident', 'owed', '{}', 'pending', $1 - interval '9 days', null",
        &["1", "owed"],
    ),
    (
        "pass_runs",
        "insert into pass_runs (task, started_at, finished_at, outcome)
         select n::text, $1 + n * interval '1 microsecond', $1, 'succeeded' from generate_series(-1, 1) n",
        &["1"],
    ),
];

/// What tells the rows of a table apart.
const NAMES: &[(&str, &str)] = &[
    ("webhook_events", "select event_key from webhook_events order by 1"),
    ("outbox", "select stream from outbox order by 1"),
    (
        "entitlement_drifts",
        "select expected::text from entitlement_drifts order by detected_at desc",
    ),
    (
        "fulfillment_operations",
        "select idempotency_key from fulfillment_operations order by 1",
    ),
    ("operator_notices", "select dedupe_key from operator_notices order by 1"),
    ("pass_runs", "select task from pass_runs order by 1"),
];

fn of(table: &str) -> &'static Step {
    STEPS.iter().find(|step| step.table == table).unwrap()
}

fn cut() -> DateTime<Utc> {
    CUT.parse().unwrap()
}

fn later() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

async fn pool(db: &TestDb) -> PgPool {
    store::command_pool(&options(db, 4)).await.unwrap()
}

#[tokio::test]
async fn a_row_whose_time_is_exactly_over_goes_and_a_later_one_stays() {
    let db = TestDb::new().await;
    let pool = pool(&db).await;
    for (table, insert, left) in ROWS {
        sqlx::query(*insert).bind(cut()).execute(&pool).await.unwrap();
        let (swept, outcome) = sweep(&pool, of(table), cut(), later()).await;
        outcome.unwrap();
        assert_eq!(swept.rows, 2, "{table}");
        let (_, names) = NAMES.iter().find(|(name, _)| name == table).unwrap();
        let names: Vec<String> = sqlx::query_scalar(*names).fetch_all(&pool).await.unwrap();
        assert_eq!(names, *left, "{table}");
    }
    let attempts: i64 = sqlx::query_scalar("select count(*) from fulfillment_history")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(attempts, 3, "the attempts of a removed operation went with it");
}

#[tokio::test]
async fn attempts_go_only_when_their_operation_ended_well() {
    let db = TestDb::new().await;
    let pool = pool(&db).await;
    sqlx::query(
        "with made as (
             insert into fulfillment_operations
                 (operation_id, entitlement_id, subscription_id, operation, status, version, idempotency_key, correlation_id, completed_at)
             select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'create', status, 1, status, 'c',
                    case when status <> 'retrying' then $1 end
             from unnest(array['succeeded', 'cancelled', 'failed', 'retrying']) status
             returning operation_id, status)
         insert into fulfillment_history (operation_id, entry, kind, status, attempt, correlation_id, last_at)
         select operation_id, n, 'run', status, n, 'c', $1 + (n - 2) * interval '1 microsecond' from made, generate_series(1, 3) n",
    )
    .bind(cut())
    .execute(&pool)
    .await
    .unwrap();
    let (swept, outcome) = sweep(&pool, of("fulfillment_history"), cut(), later()).await;
    outcome.unwrap();
    assert_eq!(swept.rows, 4);
    let left: Vec<(String, i64)> =
        sqlx::query_as("select status, count(*) from fulfillment_history group by status order by status")
            .fetch_all(&pool)
            .await
            .unwrap();
    let left: Vec<(&str, i64)> = left.iter().map(|(status, count)| (status.as_str(), *count)).collect();
    assert_eq!(
        left,
        [("cancelled", 1), ("failed", 3), ("retrying", 3), ("succeeded", 1)]
    );
}

#[tokio::test]
async fn b56_what_was_handed_over_goes_in_batches_and_what_waits_is_blocked_or_held_stays() {
    let db = TestDb::new().await;
    let pool = pool(&db).await;
    sqlx::query(
        "insert into outbox (topic, stream, payload, published_at)
         select 't', n::text, '{}'::jsonb, $1 - n * interval '1 second' from generate_series(1, 11000) n
         union all select 't', 'waits', '{}', null from generate_series(1, 10)",
    )
    .bind(cut())
    .execute(&pool)
    .await
    .unwrap();
    sqlx::query("insert into outbox (topic, stream, payload, parked) select 't', 'parked', '{}', true from generate_series(1, 100)")
        .execute(&pool)
        .await
        .unwrap();
    let mut holder = owner(&db).await;
    let mut held = holder.begin().await.unwrap();
    sqlx::query("select id from outbox where stream = '500' for update")
        .fetch_one(&mut *held)
        .await
        .unwrap();
    let (swept, outcome) = sweep(&pool, of("outbox"), cut(), later()).await;
    outcome.unwrap();
    assert_eq!((swept.rows, swept.unfinished), (10_999, false));
    held.rollback().await.unwrap();
    let (swept, _) = sweep(&pool, of("outbox"), cut(), later()).await;
    assert_eq!(swept.rows, 1);
    let left: i64 = sqlx::query_scalar("select count(*) from outbox")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(left, 110);
}

#[tokio::test]
async fn a_table_that_somebody_locks_ends_its_step_soon_and_nothing_else() {
    let db = TestDb::new().await;
    let pool = pool(&db).await;
    let mut holder = owner(&db).await;
    let mut held = holder.begin().await.unwrap();
    sqlx::query("lock table webhook_events in access exclusive mode")
        .execute(&mut *held)
        .await
        .unwrap();
    let (swept, outcome) = sweep(&pool, of("webhook_events"), cut(), later()).await;
    assert_eq!((swept.rows, outcome.unwrap_err().code()), (0, "database_unavailable"));
    let (_, outcome) = sweep(&pool, of("outbox"), cut(), later()).await;
    outcome.unwrap();
    held.rollback().await.unwrap();
}

#[tokio::test]
async fn time_that_is_up_leaves_the_rest_to_the_next_sweep() {
    let db = TestDb::new().await;
    let pool = pool(&db).await;
    let (swept, outcome) = sweep(&pool, of("outbox"), cut(), Instant::now()).await;
    outcome.unwrap();
    assert!(swept.unfinished && swept.rows == 0, "{swept:?}");
}

#[tokio::test]
async fn a_claim_that_is_held_stays_and_one_that_ran_out_goes() {
    let db = TestDb::new().await;
    let pool = pool(&db).await;
    sqlx::query(
        "insert into idempotency_keys (principal, key, fingerprint, status, answer, claimed_until, created_at)
         select 'p', 'key-' || name, sha256('x'), status, answer, until, $1 from (values
             ('answered', 200, '{}'::jsonb, null::timestamptz),
             ('refused', 422, '{}', null),
             -- an answer of that status about something that is no order
             ('payment', 201, '{\"id\": \"00000000-0000-7000-8000-000000000001\"}', null),
             ('ran-out', null, null, clock_timestamp() - interval '1 minute'),
             ('held', null, null, clock_timestamp() + interval '1 minute')) given (name, status, answer, until)",
    )
    .bind(cut())
    .execute(&pool)
    .await
    .unwrap();
    let keys = of("idempotency_keys");
    let (swept, _) = sweep(&pool, keys, cut() - TimeDelta::microseconds(1), later()).await;
    assert_eq!(swept.rows, 0);
    let (swept, outcome) = sweep(&pool, keys, cut(), later()).await;
    outcome.unwrap();
    assert_eq!(swept.rows, 4);
    let left: Vec<String> = sqlx::query_scalar("select key from idempotency_keys")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(left, ["key-held"]);
}

/// Tables whose rows are history, money or somebody's decision.
const FOR_EVER: &[&str] = &[
    "events",
    "payment_intents",
    "manual_decisions",
    "dead_letters",
    "goods_deliveries",
    "goods_spending",
    "delivery_recipients",
    "installation",
];

#[test]
fn no_step_names_what_is_kept_for_ever_and_zero_days_are_days() {
    let none = Keep {
        outbox_days: 0,
        drift_days: 0,
        attempt_days: 0,
        notice_days: 0,
        ..Keep::default()
    };
    for step in STEPS {
        assert!(!FOR_EVER.contains(&step.table), "{}", step.table);
        assert!((step.kept)(&none) <= (step.kept)(&Keep::default()), "{}", step.table);
    }
    assert_eq!((of("outbox").kept)(&none), Duration::ZERO);
    assert_eq!((of("outbox").kept)(&Keep::default()), Duration::from_hours(7 * 24));
}

#[tokio::test]
async fn the_sweeps_time_is_the_databases() {
    let db = TestDb::new().await;
    let pool = pool(&db).await;
    let mut connection = PgConnection::connect(&db.url).await.unwrap();
    let before: DateTime<Utc> = sqlx::query_scalar("select clock_timestamp()")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert!(retention::now(&pool).await.unwrap() >= before);
}
