//! The audit trail: who did what by hand, written in the transaction of the change and never changed afterwards.
//!
//! What this module must never do: keep a payload, a secret or personal data. Metadata holds ids and states.

use domain::time::Timestamp;
use serde_json::{Map, Value};
use sqlx::{PgConnection, PgPool};

use crate::StoreError;

/// What a record is about, for readers who may see only some of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Signing in and out.
    Authentication,
    /// A right that was missing.
    Authorization,
    /// Settings.
    Configuration,
    /// A customer's record.
    Customer,
    /// Money.
    Financial,
    /// Conversations with customers.
    Support,
    /// Campaigns.
    Marketing,
    /// Queue, jobs, operations, maintenance.
    System,
    /// Abuse and anomalies.
    Risk,
}

impl Category {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Authorization => "authorization",
            Self::Configuration => "configuration",
            Self::Customer => "customer",
            Self::Financial => "financial",
            Self::Support => "support",
            Self::Marketing => "marketing",
            Self::System => "system",
            Self::Risk => "risk",
        }
    }
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Success,
    /// Tried in vain.
    Failure,
    /// Not allowed.
    Denied,
}

impl Outcome {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Denied => "denied",
        }
    }
}

/// What was acted upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// `fulfillment_operation`, `job`, `delivery`, `payment`, `outbox_stream`, `projection`, `maintenance`, …
    pub kind: &'a str,
    /// Its id, or its name where it has none.
    pub id: &'a str,
}

/// A record to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'a> {
    /// `operator:<name>`, `system:<pass or worker>`, … as in the metadata of events.
    pub actor: &'a str,
    /// Stable name, such as `panel.fulfillment.retried`.
    pub action: &'a str,
    /// What it is about.
    pub category: Category,
    /// How it went.
    pub outcome: Outcome,
    /// What was acted upon.
    pub target: Target<'a>,
    /// Why, in the person's own words.
    pub reason: Option<&'a str>,
    /// Ties it to everything else that the same request set off.
    pub request_id: &'a str,
    /// Ids and states.
    pub metadata: Map<String, Value>,
    /// By the caller's clock.
    pub at: Timestamp,
}

/// A written record.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its place in the order of writing.
    pub id: i64,
    /// `customer`, `operator`, `admin`, `system`, `provider`.
    pub actor_type: String,
    /// Name of the token, of the person or of the program.
    pub actor_id: String,
    /// Stable name.
    pub action: String,
    /// As [`Category::as_str`].
    pub category: String,
    /// As [`Outcome::as_str`].
    pub outcome: String,
    /// Kind of what was acted upon.
    pub target_type: String,
    /// Its id.
    pub target_id: String,
    /// Why.
    pub reason: Option<String>,
    /// Of the request.
    pub request_id: String,
    /// Ids and states.
    pub metadata: Value,
    /// When.
    pub occurred_at: Timestamp,
}

/// Which records. Every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// As stored.
    pub category: Option<String>,
    /// As stored.
    pub outcome: Option<String>,
    /// As stored.
    pub actor_type: Option<String>,
    /// As stored.
    pub actor_id: Option<String>,
    /// As stored.
    pub action: Option<String>,
    /// As stored.
    pub target_type: Option<String>,
    /// As stored.
    pub target_id: Option<String>,
    /// Not before.
    pub from: Option<Timestamp>,
    /// Before, not at.
    pub to: Option<Timestamp>,
    /// Oldest first; otherwise newest first.
    pub ascending: bool,
    /// Only what comes after this record in the order asked for.
    pub after: Option<i64>,
    /// At most so many.
    pub limit: i64,
}

/// Writes a record as part of the caller's transaction: the change and its record are kept together or not at all.
///
/// # Errors
/// [`StoreError`] when the statement fails; the caller's transaction is then to be rolled back.
pub async fn record_in(conn: &mut PgConnection, entry: Entry<'_>) -> Result<(), StoreError> {
    let (actor_type, actor_id) = actor(entry.actor);
    sqlx::query!(
        r#"insert into audit_events
               (actor_type, actor_id, action, category, outcome, target_type, target_id, reason, request_id, metadata, occurred_at)
           values ($1, $2, $3, $4, $5, $6, $7, left($8, 500), $9, $10, $11)"#,
        actor_type,
        actor_id,
        entry.action,
        entry.category.as_str(),
        entry.outcome.as_str(),
        entry.target.kind,
        entry.target.id,
        entry.reason,
        entry.request_id,
        Value::Object(entry.metadata),
        entry.at
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The statement is checked as it is compiled, so the two orders are two texts, written once.
macro_rules! in_order {
    ($pool:expr, $filter:expr, $order:literal) => {
        sqlx::query_as!(
            Stored,
            r#"select id, actor_type, actor_id, action, category, outcome, target_type, target_id, reason, request_id, metadata, occurred_at
           from audit_events
           where ($1::text is null or category = $1) and ($2::text is null or outcome = $2)
             and ($3::text is null or actor_type = $3) and ($4::text is null or actor_id = $4)
             and ($5::text is null or action = $5)
             and ($6::text is null or target_type = $6) and ($7::text is null or target_id = $7)
             and ($8::timestamptz is null or occurred_at >= $8) and ($9::timestamptz is null or occurred_at < $9)
             and "# + $order,
            $filter.category,
            $filter.outcome,
            $filter.actor_type,
            $filter.actor_id,
            $filter.action,
            $filter.target_type,
            $filter.target_id,
            $filter.from,
            $filter.to,
            $filter.after,
            $filter.limit
        )
        .fetch_all($pool)
        .await
    };
}

/// Records that match, newest first unless the filter says otherwise.
///
/// # Errors
/// [`StoreError`] when the statement fails.
pub async fn list(pool: &PgPool, filter: &Filter) -> Result<Vec<Stored>, StoreError> {
    let found = if filter.ascending {
        in_order!(
            pool,
            filter,
            "($10::bigint is null or id > $10) order by id asc limit $11"
        )
    } else {
        in_order!(
            pool,
            filter,
            "($10::bigint is null or id < $10) order by id desc limit $11"
        )
    };
    Ok(found?)
}

/// Type and id of an actor. One without a known type is a part of the system.
fn actor(text: &str) -> (&str, &str) {
    match text.split_once(':') {
        Some((kind @ ("customer" | "operator" | "admin" | "system" | "provider"), id)) if !id.is_empty() => (kind, id),
        _ => ("system", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_has_a_known_type() {
        assert_eq!(actor("operator:bearer"), ("operator", "bearer"));
        assert_eq!(actor("provider:a:b"), ("provider", "a:b"));
        assert_eq!(actor("operator:"), ("system", "operator:"));
        assert_eq!(actor("someone:x"), ("system", "someone:x"));
    }
}
