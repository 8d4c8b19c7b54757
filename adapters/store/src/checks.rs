//! When each entitlement was compared with the panel, and which of them the reconcile pass takes next.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::StoreError;

/// Whom a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The entitlement.
    pub entitlement_id: Uuid,
    /// Its remote user.
    pub subscription_id: Uuid,
}

/// How far the comparison of somebody's user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The entitlement.
    pub entitlement_id: Uuid,
    /// Its remote user.
    pub subscription_id: Uuid,
    /// When the panel was last looked at.
    pub observed_at: Option<DateTime<Utc>>,
    /// When a comparison was last opened. A time ahead puts the next one off.
    pub tried_at: Option<DateTime<Utc>>,
}

/// Bounds of one run of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Changes that are scheduled for later than this hold nobody up.
    pub now: DateTime<Utc>,
    /// Entitlements that agreed, or were tried, after this are left alone.
    pub not_since: DateTime<Utc>,
    /// Entitlements whose paid time ended before this are left alone.
    pub ended_after: DateTime<Utc>,
    /// At most so many.
    pub limit: i64,
}

/// Entitlements that were shown at least once and are due for a comparison, those never compared first, then the longest untouched. One
/// with an operation under way is left out: that one pushes anyway.
/// The list is a hint out of the read model: the entitlement itself decides.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn due(pool: &PgPool, due: Due) -> Result<Vec<Checked>, StoreError> {
    Ok(sqlx::query_as!(
        Checked,
        r#"select one.entitlement_id, one.subscription_id
           from read.entitlements one left join entitlement_checks checked using (entitlement_id)
           where one.applied_version > 0 and one.ends_at >= $2
             and (checked.reconciled_at is null or checked.reconciled_at <= $1)
             and (checked.tried_at is null or checked.tried_at <= $1)
             and not exists (select from fulfillment_operations operation
                             where operation.subscription_id = one.subscription_id
                               and operation.status in ('pending', 'running', 'retrying')
                               and (operation.effective_at is null or operation.effective_at <= $4))
           order by greatest(checked.reconciled_at, checked.tried_at) nulls first, one.entitlement_id limit $3"#,
        due.not_since,
        due.ended_after,
        due.limit,
        due.now
    )
    .fetch_all(pool)
    .await?)
}

/// Notes that the pass opened a comparison at `at`. A time ahead puts the next one off.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn tried_in(conn: &mut PgConnection, whom: Checked, at: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into entitlement_checks (entitlement_id, subscription_id, tried_at) values ($1, $2, $3)
         on conflict (entitlement_id) do update set tried_at = greatest(entitlement_checks.tried_at, excluded.tried_at)",
        whom.entitlement_id,
        whom.subscription_id,
        at
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Notes that the panel agrees, and under which key it knows the user. Whatever put the next comparison off is over.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn agreed_in(
    conn: &mut PgConnection,
    whom: Checked,
    remote_user_id: Option<i64>,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into entitlement_checks (entitlement_id, subscription_id, remote_user_id, reconciled_at) values ($1, $2, $3, $4)
         on conflict (entitlement_id) do update
             set remote_user_id = coalesce(excluded.remote_user_id, entitlement_checks.remote_user_id),
                 reconciled_at = greatest(entitlement_checks.reconciled_at, excluded.reconciled_at),
                 tried_at = least(entitlement_checks.tried_at, excluded.reconciled_at)",
        whom.entitlement_id,
        whom.subscription_id,
        remote_user_id,
        at
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Notes what the panel showed; `None` is nobody. An older look changes nothing.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn observed_in(
    conn: &mut PgConnection,
    whom: Checked,
    observed: Option<&Value>,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into entitlement_checks (entitlement_id, subscription_id, observed, observed_at) values ($1, $2, $3, $4)
         on conflict (entitlement_id) do update set observed = excluded.observed, observed_at = excluded.observed_at
             where entitlement_checks.observed_at is null or entitlement_checks.observed_at <= excluded.observed_at",
        whom.entitlement_id,
        whom.subscription_id,
        observed,
        at
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Whose user has this key of the panel; `None` for one that is not ours.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn of_remote_user(pool: &PgPool, remote_user_id: i64) -> Result<Option<Progress>, StoreError> {
    Ok(sqlx::query_as!(
        Progress,
        "select entitlement_id, subscription_id, observed_at, tried_at from entitlement_checks where remote_user_id = $1
         order by reconciled_at desc nulls last limit 1",
        remote_user_id
    )
    .fetch_optional(pool)
    .await?)
}
