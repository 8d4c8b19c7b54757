//! Figures over the whole log and outbox, for reports of a run. They scan: not for a request's path.

use sqlx::PgExecutor;

use crate::StoreError;

/// What a run came to, by our own tables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Orders that were placed.
    pub placed: i64,
    /// Orders that settled.
    pub paid: i64,
    /// Orders whose goods or access were provided.
    pub fulfilled: i64,
    /// Deliveries that are or were owed.
    pub owed: i64,
    /// Deliveries that ended with the goods.
    pub delivered: i64,
    /// Deliveries that wait for a person.
    pub needs_review: i64,
    /// Outbox rows not handed over.
    pub outbox_pending: i64,
    /// Outbox rows handed over.
    pub outbox_published: i64,
    /// Operations and deliveries without an end.
    pub unsettled: i64,
    /// Dead letters nobody has dealt with.
    pub dead_letters: i64,
}

/// From the settling event to the fulfilling one, by the database's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// Median, milliseconds.
    pub p50_ms: f64,
    /// 99th percentile, milliseconds.
    pub p99_ms: f64,
}

/// Counts everything.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn summary(executor: impl PgExecutor<'_>) -> Result<Summary, StoreError> {
    let row = sqlx::query_as!(
        Summary,
        r#"select
            count(*) filter (where event_type = 'order.placed') as "placed!",
            count(*) filter (where event_type = 'order.paid') as "paid!",
            count(*) filter (where event_type = 'order.fulfilled') as "fulfilled!",
            count(*) filter (where event_type = 'delivery.owed') as "owed!",
            (select count(*) from goods_deliveries where status = 'delivered') as "delivered!",
            (select count(*) from goods_deliveries where status = 'needs_review') as "needs_review!",
            (select count(*) from outbox where published_at is null) as "outbox_pending!",
            (select count(*) from outbox where published_at is not null) as "outbox_published!",
            (select count(*) from fulfillment_operations where completed_at is null)
                + (select count(*) from goods_deliveries where status in ('pending', 'submitted')) as "unsettled!",
            (select count(*) from dead_letters where resolved_at is null) as "dead_letters!"
        from events"#
    )
    .fetch_one(executor)
    .await?;
    Ok(row)
}

/// How long fulfilled plan orders took from `order.paid` to `order.fulfilled`; `None` when there is none.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn paid_to_provisioned(executor: impl PgExecutor<'_>) -> Result<Option<Latency>, StoreError> {
    let row = sqlx::query!(
        r#"select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.99) within group (order by ms) as p99
        from (
            select extract(epoch from fulfilled.recorded_at - paid.recorded_at)::float8 * 1000 as ms
            from events paid
            join events fulfilled using (aggregate_type, aggregate_id)
            where paid.event_type = 'order.paid' and fulfilled.event_type = 'order.fulfilled'
                and not exists (select from goods_deliveries where order_id::text = paid.aggregate_id)
        ) span"#
    )
    .fetch_one(executor)
    .await?;
    Ok(row.p50.zip(row.p99).map(|(p50_ms, p99_ms)| Latency { p50_ms, p99_ms }))
}

/// Orders that wait visibly for a person: a failed or withdrawn operation, a parked, failed or withdrawn delivery.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn parked_orders(executor: impl PgExecutor<'_>) -> Result<Vec<uuid::Uuid>, StoreError> {
    let ids = sqlx::query_scalar!(
        r#"select order_id as "order_id!" from fulfillment_operations where status in ('failed', 'cancelled') and order_id is not null
        union
        select order_id from goods_deliveries where status in ('needs_review', 'failed', 'cancelled')"#
    )
    .fetch_all(executor)
    .await?;
    Ok(ids)
}

/// Orders whose access or goods were provided.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn fulfilled_orders(executor: impl PgExecutor<'_>) -> Result<Vec<uuid::Uuid>, StoreError> {
    let ids = sqlx::query_scalar!(
        r#"select aggregate_id::uuid as "order_id!" from events where event_type = 'order.fulfilled'"#
    )
    .fetch_all(executor)
    .await?;
    Ok(ids)
}
