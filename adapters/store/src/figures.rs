//! Figures of the installation for metrics: one statement, answered from partial indexes, so that it may be asked every few seconds.

use sqlx::PgPool;

use crate::StoreError;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// `operations`, `deliveries`, `paid_undelivered`, `dead_letters` or `drifts`.
    pub what: String,
    /// Status, kind, or what was bought.
    pub label: String,
    /// How many.
    pub count: i64,
    /// Age of the oldest in seconds; 0 where nothing is there, or where it is not asked.
    pub oldest_seconds: f64,
}

/// All figures that are not zero, and some that are. `paid_undelivered` leaves out what waits for a person or for a date.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn figures(pool: &PgPool) -> Result<Vec<Figure>, StoreError> {
    Ok(sqlx::query_as!(
        Figure,
        r#"select 'operations' as "what!", status as "label!", count(*) as "count!", 0::float8 as "oldest_seconds!"
             from fulfillment_operations where status in ('pending', 'running', 'retrying') group by status
           union all
           select 'operations', 'failed', count(*), 0 from fulfillment_operations where status = 'failed'
           union all
           select 'paid_undelivered', 'access', count(*),
                  coalesce(extract(epoch from clock_timestamp() - min(greatest(created_at, effective_at))), 0)::float8
             from fulfillment_operations
            where status in ('pending', 'running', 'retrying') and order_id is not null
              and (effective_at is null or effective_at <= clock_timestamp())
           union all
           select 'deliveries', status, count(*), 0 from goods_deliveries where status in ('pending', 'submitted') group by status
           union all
           select 'deliveries', 'needs_review', count(*), 0 from goods_deliveries where status = 'needs_review'
           union all
           select 'paid_undelivered', 'goods', count(*), coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8
             from goods_deliveries where status in ('pending', 'submitted')
           union all
           select 'dead_letters', kind, count(*), 0 from dead_letters where resolved_at is null group by kind
           union all
           select 'drifts', kind, count(*), 0 from entitlement_drifts where status = 'open' group by kind"#
    )
    .fetch_all(pool)
    .await?)
}
