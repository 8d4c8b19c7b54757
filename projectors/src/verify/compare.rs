//! Walking two tables in key order.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{ProjectionError, projection::Projection};

/// Rows of one page.
const PAGE: i64 = 2000;
/// Differences that are named; the rest is counted.
const NAMED: usize = 100;

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The table.
    pub table: &'static str,
    /// The row's key.
    pub key: Uuid,
    /// What differs.
    #[serde(flatten)]
    pub kind: Kind,
}

/// How a row differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// The log says there is such a row; the read model has none.
    Missing,
    /// The read model has a row that the log knows nothing of.
    Unexpected,
    /// A column has another value.
    Column {
        /// Its name.
        column: String,
        /// In the read model.
        live: Value,
        /// According to the log.
        replayed: Value,
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { table, key, kind } = self;
        match kind {
            Kind::Missing => write!(f, "{table} {key}: missing"),
            Kind::Unexpected => write!(f, "{table} {key}: not in the log"),
            Kind::Column { column, live, replayed } => {
                write!(f, "{table} {key}: {column} is {live}, should be {replayed}")
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) rows: u64,
    pub(super) count: u64,
    pub(super) differences: Vec<Difference>,
}

impl Found {
    fn note(&mut self, table: &'static str, key: Uuid, kind: Kind) {
        self.count += 1;
        if self.differences.len() < NAMED {
            self.differences.push(Difference { table, key, kind });
        }
    }
}

pub(super) async fn compare<P: Projection>(
    live: &mut PgConnection,
    shadow: &mut PgConnection,
) -> Result<Found, ProjectionError> {
    let mut left = Walk::new(P::TABLE.live_page);
    let mut right = Walk::new(P::TABLE.shadow_page);
    let mut found = Found::default();
    loop {
        let ours = left.peek(live).await?;
        let theirs = right.peek(shadow).await?;
        let (live_first, shadow_first) = match (ours, theirs) {
            (None, None) => return Ok(found),
            (Some(a), Some(b)) => (a <= b, b <= a),
            (one, other) => (one.is_some(), other.is_some()),
        };
        found.rows += 1;
        match (
            live_first.then(|| left.take()).flatten(),
            shadow_first.then(|| right.take()).flatten(),
        ) {
            (Some((key, live)), Some((_, replayed))) => {
                if live != replayed {
                    columns(&mut found, P::TABLE.name, key, &live, &replayed);
                }
            }
            (Some((key, _)), None) => found.note(P::TABLE.name, key, Kind::Unexpected),
            (None, Some((key, _))) => found.note(P::TABLE.name, key, Kind::Missing),
            (None, None) => return Ok(found),
        }
    }
}

fn columns(found: &mut Found, table: &'static str, key: Uuid, live: &str, replayed: &str) {
    let (live, replayed) = (object(live), object(replayed));
    let names: BTreeSet<&String> = live.keys().chain(replayed.keys()).collect();
    for column in names {
        let (live, replayed) = (live.get(column), replayed.get(column));
        if live != replayed {
            let kind = Kind::Column {
                column: column.clone(),
                live: live.cloned().unwrap_or(Value::Null),
                replayed: replayed.cloned().unwrap_or(Value::Null),
            };
            found.note(table, key, kind);
        }
    }
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// A table in key order, a page at a time.
struct Walk {
    sql: &'static str,
    after: Uuid,
    page: std::vec::IntoIter<(Uuid, String)>,
    next: Option<(Uuid, String)>,
    ended: bool,
}

impl Walk {
    fn new(sql: &'static str) -> Self {
        Self {
            sql,
            after: Uuid::nil(),
            page: Vec::new().into_iter(),
            next: None,
            ended: false,
        }
    }

    /// Key of the next row.
    async fn peek(&mut self, connection: &mut PgConnection) -> Result<Option<Uuid>, sqlx::Error> {
        if self.next.is_none() {
            self.next = self.page.next();
        }
        if self.next.is_none() && !self.ended {
            let page: Vec<(Uuid, String)> = sqlx::query_as(self.sql)
                .bind(self.after)
                .bind(PAGE)
                .fetch_all(connection)
                .await?;
            self.ended = i64::try_from(page.len()).unwrap_or(PAGE) < PAGE;
            if let Some((last, _)) = page.last() {
                self.after = *last;
            }
            self.page = page.into_iter();
            self.next = self.page.next();
        }
        Ok(self.next.as_ref().map(|(key, _)| *key))
    }

    fn take(&mut self) -> Option<(Uuid, String)> {
        self.next.take()
    }
}
