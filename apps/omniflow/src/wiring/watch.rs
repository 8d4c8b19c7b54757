//! Waiting until nothing is left to do.

use std::{collections::BTreeSet, time::Duration};

use sqlx::PgPool;
use store::summary::{Summary, parked_orders, summary};
use uuid::Uuid;

use crate::failure::Failure;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until every paid order is fulfilled or parked and the outbox is empty. Answers what it came to either way.
///
/// # Errors
/// [`Failure::Unavailable`] when the tables cannot be read.
pub async fn until_settled(pool: &PgPool, orders: i64, patience: Duration) -> Result<Summary, Failure> {
    let settled = async {
        loop {
            let now = summary(pool).await?;
            let parked = i64::try_from(parked(pool).await?.len()).unwrap_or(i64::MAX);
            if now.fulfilled.saturating_add(parked) >= orders && now.outbox_pending == 0 && now.unsettled == 0 {
                return Ok(now);
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    match tokio::time::timeout(patience, settled).await {
        Ok(settled) => settled,
        Err(_) => Ok(summary(pool).await?),
    }
}

/// Orders that wait visibly for a person: a failed operation, a parked or failed delivery.
///
/// # Errors
/// [`Failure::Unavailable`] when the tables cannot be read.
pub async fn parked(pool: &PgPool) -> Result<BTreeSet<Uuid>, Failure> {
    Ok(parked_orders(pool).await?.into_iter().collect())
}
