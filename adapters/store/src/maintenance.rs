//! The shared window of maintenance, what happened to it, and who watches.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::maintenance::{Announcement, Source, Window};
use sqlx::{PgConnection, PgPool};

use crate::StoreError;

/// The window as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintenance {
    /// What decisions need.
    pub window: Window,
    /// For operators.
    pub reason: String,
    /// For customers, in Russian; empty is the built-in text.
    pub notice_ru: String,
    /// For customers, in English; empty is the built-in text.
    pub notice_en: String,
    /// When the shop is expected to open again.
    pub expected_return_at: Option<DateTime<Utc>>,
    /// Opening of the window that is open, or was open last.
    pub activated_at: Option<DateTime<Utc>>,
    /// Last closing.
    pub cleared_at: Option<DateTime<Utc>>,
    /// Last change.
    pub updated_at: Option<DateTime<Utc>>,
}

impl Maintenance {
    /// What a missing row means.
    pub fn never() -> Self {
        Self {
            window: Window::NEVER,
            reason: String::new(),
            notice_ru: String::new(),
            notice_en: String::new(),
            expected_return_at: None,
            activated_at: None,
            cleared_at: None,
            updated_at: None,
        }
    }
}

/// A change of the window, decided on `expected`.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Version that the row has to have still.
    pub expected: i64,
    /// Open or shut.
    pub active: bool,
    /// What opens or shuts it.
    pub source: Source,
    /// What is said.
    pub announcement: &'a Announcement,
    /// Time of the command.
    pub at: DateTime<Utc>,
}

/// An opening or a closing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flip {
    /// Its place among all.
    pub id: i64,
    /// `activated` or `cleared`.
    pub action: String,
    /// What opened or closed it.
    pub source: String,
    /// What was said.
    pub reason: String,
    /// `operator` or `system`.
    pub actor_type: String,
    /// The operator.
    pub actor_id: Option<String>,
    /// When.
    pub occurred_at: DateTime<Utc>,
}

/// Who took a sample last, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Seconds since then, by the database's clock.
    pub age_seconds: i64,
    /// That process opens and closes windows by itself.
    pub automatic: bool,
    /// Its pause between samples.
    pub every_seconds: i32,
}

/// Whether a window is open: one round trip, asked often.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn is_active(pool: &PgPool) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!("select active from maintenance_state")
        .fetch_optional(pool)
        .await?
        .unwrap_or(false))
}

/// The window.
///
/// # Errors
/// [`StoreError`] when the statement fails; [`StoreError::Corrupt`] for a source of another version.
pub async fn read(pool: &PgPool) -> Result<Maintenance, StoreError> {
    let row = sqlx::query!(
        r#"select version, active, source, reason, notice_ru, notice_en, expected_return_at, activated_at, cleared_at, updated_at
           from maintenance_state"#
    )
    .fetch_optional(pool)
    .await?;
    let Some(row) = row else {
        return Ok(Maintenance::never());
    };
    let source = row.source.parse().map_err(|reason| StoreError::Corrupt {
        place: "maintenance_state".to_owned(),
        reason: Box::<domain::maintenance::UnknownSource>::new(reason),
    })?;
    Ok(Maintenance {
        window: Window {
            version: row.version,
            active: row.active,
            source,
        },
        reason: row.reason,
        notice_ru: row.notice_ru,
        notice_en: row.notice_en,
        expected_return_at: row.expected_return_at,
        activated_at: row.activated_at,
        cleared_at: row.cleared_at,
        updated_at: Some(row.updated_at),
    })
}

/// Writes a change; `false` when somebody else changed the window since it was read. The row stays locked until the caller's transaction ends.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn change_in(conn: &mut PgConnection, change: Change<'_>) -> Result<bool, StoreError> {
    let said = change.announcement;
    let changed = sqlx::query!(
        r#"insert into maintenance_state as known
             (version, active, source, reason, notice_ru, notice_en, expected_return_at, activated_at, cleared_at, updated_at)
           select $1::bigint + 1, $2::boolean, $3, $4, $5, $6, $7::timestamptz, case when $2 then $8::timestamptz end, null, $8
           where $1 = 0 or exists (select from maintenance_state)
           on conflict (singleton) do update set
             version = excluded.version, active = excluded.active, source = excluded.source, reason = excluded.reason,
             notice_ru = excluded.notice_ru, notice_en = excluded.notice_en,
             expected_return_at = excluded.expected_return_at,
             activated_at = case when excluded.active and not known.active then excluded.updated_at else known.activated_at end,
             cleared_at = case when known.active and not excluded.active then excluded.updated_at else known.cleared_at end,
             updated_at = excluded.updated_at
           where known.version = $1"#,
        change.expected,
        change.active,
        change.source.as_str(),
        said.reason(),
        said.notice_ru(),
        said.notice_en(),
        said.expected_return_at(),
        change.at
    )
    .execute(conn)
    .await?;
    Ok(changed.rows_affected() == 1)
}

/// Notes an opening or a closing. `operator` is nobody for the system.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn note_in(
    conn: &mut PgConnection,
    (active, source, reason): (bool, Source, &str),
    operator: Option<&str>,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        r#"insert into maintenance_events (action, source, reason, actor_type, actor_id, occurred_at)
           values (case when $1::boolean then 'activated' else 'cleared' end, $2, $3,
                   case when $4::text is null then 'system' else 'operator' end, $4, $5)"#,
        active,
        source.as_str(),
        reason,
        operator,
        at
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The newest openings and closings.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn history(pool: &PgPool, limit: i64) -> Result<Vec<Flip>, StoreError> {
    Ok(sqlx::query_as!(
        Flip,
        r#"select id, action, source, reason, actor_type, actor_id, occurred_at
           from maintenance_events order by id desc limit $1"#,
        limit
    )
    .fetch_all(pool)
    .await?)
}

/// Notes that a sample was taken now.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn note_sample(pool: &PgPool, automatic: bool, every: Duration) -> Result<(), StoreError> {
    sqlx::query!(
        r#"insert into maintenance_watch (sampled_at, automatic, every_seconds) values (clock_timestamp(), $1, $2)
           on conflict (singleton) do update
           set sampled_at = excluded.sampled_at, automatic = excluded.automatic, every_seconds = excluded.every_seconds"#,
        automatic,
        i32::try_from(every.as_secs()).unwrap_or(i32::MAX)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Who sampled last; nobody where no API ever ran.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn watched(pool: &PgPool) -> Result<Option<Watched>, StoreError> {
    Ok(sqlx::query_as!(
        Watched,
        r#"select extract(epoch from clock_timestamp() - sampled_at)::bigint as "age_seconds!", automatic, every_seconds
           from maintenance_watch"#
    )
    .fetch_optional(pool)
    .await?)
}
