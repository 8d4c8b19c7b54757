//! Rows of drift: written in the transaction that appends its events, read by operators.

use chrono::{DateTime, Utc};
use domain::entitlement::{DriftKind, Event, Side};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::StoreError;

/// One stored drift.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftRow {
    /// Its id; later ones are greater.
    pub id: i64,
    /// Whose.
    pub entitlement_id: Uuid,
    /// The remote user it is about.
    pub subscription_id: Uuid,
    /// In what respect.
    pub kind: String,
    /// `{"value": …}` or `{"exists": …}`.
    pub expected: Value,
    /// As `expected`.
    pub observed: Value,
    /// `open`, `resolved` or `ignored`.
    pub status: String,
    /// When it was seen, or seen with other values, last.
    pub detected_at: DateTime<Utc>,
    /// When it was gone.
    pub resolved_at: Option<DateTime<Utc>>,
}

/// Open drifts of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCount {
    /// In what respect.
    pub kind: String,
    /// How many.
    pub count: i64,
}

/// Writes what the events of one decision say of drift: one open row an entitlement and kind. Other events are passed over.
///
/// # Errors
/// [`StoreError`] when a statement fails; [`StoreError::Corrupt`] for a side that JSON cannot hold.
pub async fn follow_in(
    conn: &mut PgConnection,
    (entitlement_id, subscription_id): (Uuid, Uuid),
    events: &[Event],
) -> Result<(), StoreError> {
    for event in events {
        if let Event::DriftDetected {
            kind,
            expected,
            observed,
            at,
            ..
        } = event
        {
            let row = (entitlement_id, subscription_id, *kind);
            detected_in(conn, row, (expected, observed), *at).await?;
        }
        if let Event::DriftCorrected { kind, at, .. } = event {
            corrected_in(conn, entitlement_id, *kind, *at).await?;
        }
    }
    Ok(())
}

async fn detected_in(
    conn: &mut PgConnection,
    (entitlement_id, subscription_id, kind): (Uuid, Uuid, DriftKind),
    (expected, observed): (&Side, &Side),
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let json = |side| serde_json::to_value(side).map_err(|reason| StoreError::corrupt("a drift", reason));
    sqlx::query!(
        r#"insert into entitlement_drifts (entitlement_id, subscription_id, kind, expected, observed, detected_at)
           values ($1, $2, $3, $4, $5, $6)
           on conflict (entitlement_id, kind) where status = 'open' do update
               set expected = excluded.expected, observed = excluded.observed, detected_at = excluded.detected_at"#,
        entitlement_id,
        subscription_id,
        kind.as_str(),
        json(expected)?,
        json(observed)?,
        at
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn corrected_in(
    conn: &mut PgConnection,
    entitlement_id: Uuid,
    kind: DriftKind,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update entitlement_drifts set status = 'resolved', resolved_at = $3
         where entitlement_id = $1 and kind = $2 and status = 'open'",
        entitlement_id,
        kind.as_str(),
        at
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Drifts of a status, or of any, newest first, those before `before` only.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn list(
    pool: &PgPool,
    status: Option<&str>,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<DriftRow>, StoreError> {
    Ok(sqlx::query_as!(
        DriftRow,
        "select id, entitlement_id, subscription_id, kind, expected, observed, status, detected_at, resolved_at
         from entitlement_drifts where ($1::text is null or status = $1) and ($2::bigint is null or id < $2)
         order by id desc limit $3",
        status,
        before,
        limit
    )
    .fetch_all(pool)
    .await?)
}

/// How many are open, for each kind that has any.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn open_counts(pool: &PgPool) -> Result<Vec<OpenCount>, StoreError> {
    Ok(sqlx::query_as!(
        OpenCount,
        r#"select kind, count(*) as "count!" from entitlement_drifts where status = 'open' group by kind order by kind"#
    )
    .fetch_all(pool)
    .await?)
}
