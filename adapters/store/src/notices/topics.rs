//! The topic of each kind. A kind is known by its word; a topic by the group's number for it.

use domain::notices::Kind;
use sqlx::PgPool;

use super::known;
use crate::StoreError;

/// One kind's topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Of these notices.
    pub kind: Kind,
    /// In the group; `None` while there is none.
    pub topic_id: Option<i64>,
    /// Why it could not be made.
    pub last_error_code: Option<String>,
    /// Seconds since making it was tried last; `None` is never.
    pub tried_seconds: Option<i64>,
}

/// Sees that every kind has its row, and forgets the topics of another group.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn prepare(pool: &PgPool, chat_id: i64) -> Result<(), StoreError> {
    let kinds: Vec<String> = Kind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect();
    sqlx::query!(
        r#"insert into operator_topics as one (kind, chat_id) select kind, $1 from unnest($2::text[]) as kind
           on conflict (kind) do update
               set chat_id = excluded.chat_id, topic_id = null, status = 'pending', last_error_code = null, tried_at = null
               where one.chat_id <> excluded.chat_id"#,
        chat_id,
        &kinds
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Every topic of the group.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn topics(pool: &PgPool, chat_id: i64) -> Result<Vec<Topic>, StoreError> {
    let rows = sqlx::query!(
        r#"select kind, topic_id, last_error_code, floor(extract(epoch from clock_timestamp() - tried_at))::bigint as tried_seconds
             from operator_topics where chat_id = $1 order by kind"#,
        chat_id
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Topic {
                kind: known("a topic's kind", &row.kind)?,
                topic_id: row.topic_id,
                last_error_code: row.last_error_code,
                tried_seconds: row.tried_seconds,
            })
        })
        .collect()
}

/// A topic was made.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn bound(pool: &PgPool, chat_id: i64, kind: Kind, topic_id: i64) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update operator_topics set topic_id = $3, status = 'bound', last_error_code = null, tried_at = clock_timestamp()
            where chat_id = $1 and kind = $2"#,
        chat_id,
        kind.as_str(),
        topic_id
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// A topic could not be made.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn failed(pool: &PgPool, chat_id: i64, kind: Kind, code: &str) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update operator_topics set topic_id = null, status = 'failed', last_error_code = $3, tried_at = clock_timestamp()
            where chat_id = $1 and kind = $2"#,
        chat_id,
        kind.as_str(),
        code
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// What keeps one topic from being made keeps every other one that was not tried yet.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn fail_pending(pool: &PgPool, chat_id: i64, code: &str) -> Result<(), StoreError> {
    sqlx::query!(
        r#"update operator_topics set status = 'failed', last_error_code = $2, tried_at = clock_timestamp()
            where chat_id = $1 and status = 'pending'"#,
        chat_id,
        code
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// A topic is gone.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn forget(pool: &PgPool, chat_id: i64, kind: Kind) -> Result<(), StoreError> {
    sqlx::query!(
        "update operator_topics set topic_id = null, status = 'pending', tried_at = null where chat_id = $1 and kind = $2",
        chat_id,
        kind.as_str()
    )
    .execute(pool)
    .await?;
    Ok(())
}
