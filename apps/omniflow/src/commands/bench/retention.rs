//! `retention`: removing a large backlog of rows that nobody needs any more, beside rows that stay. What counts is the longest batch: no lock
//! is held for longer.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::retention::{self, STEPS, sweep};

use super::{Ground, report::rounded};
use crate::failure::Failure;

/// A sweep that takes longer than this is not one that anybody wants each hour.
const LIMIT: Duration = Duration::from_mins(30);

/// One table with its backlog: the step's name and the statement that fills it. `$1` rows are over, ten are not.
const TABLES: &[(&str, &str)] = &[
    (
        "outbox",
        "insert into outbox (topic, stream, payload, published_at)
         select 'entitlement.operation_opened', 'entitlement/' || n % 5000, jsonb_build_object('operationId', gen_random_uuid()),
                case when n > 10 then clock_timestamp() - interval '8 days' - n * interval '1 millisecond' end
         from generate_series(1, $1 + 10) n",
    ),
    (
        "idempotency_keys",
        "insert into idempotency_keys (principal, key, fingerprint, status, answer, created_at)
         select 'customer:' || n % 5000, 'key-' || lpad(n::text, 8, '0'), sha256(n::text::bytea), 200, jsonb_build_object('n', n),
                clock_timestamp() - case when n > 10 then interval '31 days' else interval '1 day' end
         from generate_series(1, $1 + 10) n",
    ),
];

/// Runs the scenario once and says what came of it.
pub(crate) async fn run(ground: &Ground, rows: u32) -> Result<Value, Failure> {
    let owner = PgPool::connect(ground.url()).await?;
    let pool = ground.command_pool(2).await?;
    let mut tables = Vec::new();
    for (table, fill) in TABLES {
        sqlx::query(*fill).bind(i64::from(rows)).execute(&owner).await?;
        ground.vacuum().await?;
        tables.push(one(&pool, table).await?);
    }
    let longest = tables.iter().filter_map(|table| table["longestBatchMs"].as_f64());
    Ok(json!({
        "scenario": "retention", "rows": rows, "longestBatchMs": longest.fold(0.0, f64::max), "tables": tables,
    }))
}

async fn one(pool: &PgPool, table: &str) -> Result<Value, Failure> {
    let step = STEPS
        .iter()
        .find(|step| step.table == table)
        .ok_or_else(|| Failure::unavailable("the step is gone"))?;
    let kept = TimeDelta::from_std((step.kept)(&retention::Keep::default())).map_err(Failure::unavailable)?;
    let cut = retention::now(pool).await? - kept;
    let begun = Instant::now();
    let (swept, outcome) = sweep(pool, step, cut, begun + LIMIT).await;
    outcome?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(json!({
        "table": table, "removed": swept.rows, "seconds": rounded(seconds), "longestBatchMs": rounded(swept.longest.as_secs_f64() * 1_000.0),
    }))
}
