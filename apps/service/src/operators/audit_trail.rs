//! Reading the audit trail: by page, and as a file for a spreadsheet.

use domain::time::Timestamp;
use serde_json::json;
use store::audit::{self, Category, Filter, Target};

use super::Page;
use crate::{Caller, Cursor, Error, Refusal, Service};

pub use store::audit::Stored as AuditRow;

/// Rows of one export.
const MOST_EXPORTED: i64 = 10_000;

/// Categories that a filter may name.
const CATEGORIES: [&str; 9] = [
    "authentication",
    "authorization",
    "configuration",
    "customer",
    "financial",
    "support",
    "marketing",
    "system",
    "risk",
];
/// Outcomes that a filter may name.
const OUTCOMES: [&str; 3] = ["success", "failure", "denied"];
/// Types of actors that a filter may name.
const ACTOR_TYPES: [&str; 5] = ["customer", "operator", "admin", "system", "provider"];

/// Which records. Every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditSearch {
    /// One of nine.
    pub category: Option<String>,
    /// `success`, `failure`, `denied`.
    pub outcome: Option<String>,
    /// `customer`, `operator`, `admin`, `system`, `provider`.
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
    /// What the page before gave.
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: i64,
}

impl AuditSearch {
    fn filter(&self, limit: i64) -> Result<Filter, Error> {
        known(self.category.as_deref(), &CATEGORIES, "there is no such category")?;
        known(self.outcome.as_deref(), &OUTCOMES, "there is no such outcome")?;
        known(
            self.actor_type.as_deref(),
            &ACTOR_TYPES,
            "there is no such type of actor",
        )?;
        Ok(Filter {
            category: self.category.clone(),
            outcome: self.outcome.clone(),
            actor_type: self.actor_type.clone(),
            actor_id: self.actor_id.clone(),
            action: self.action.clone(),
            target_type: self.target_type.clone(),
            target_id: self.target_id.clone(),
            from: self.from,
            to: self.to,
            ascending: self.ascending,
            after: self.cursor.as_deref().map(Cursor::audit).transpose()?,
            limit,
        })
    }
}

impl Service {
    /// Records of the audit trail, newest first unless asked otherwise.
    ///
    /// # Errors
    /// [`Error::Refused`] (`invalid_request`, `invalid_cursor`), or a fault of the store.
    pub async fn list_audit(&self, search: &AuditSearch) -> Result<Page<AuditRow>, Error> {
        let limit = search.limit.clamp(1, 200);
        let filter = search.filter(limit.saturating_add(1))?;
        let rows = audit::list(self.store.pool(), &filter).await?;
        Ok(Page::cut(rows, limit, |row| Cursor::Audit(row.id)))
    }

    /// At most 10 000 records as CSV (RFC 4180), whatever the search's limit. That somebody took them out is a record, too.
    ///
    /// # Errors
    /// As [`Self::list_audit`].
    pub async fn export_audit(&self, caller: &Caller, search: &AuditSearch) -> Result<String, Error> {
        let rows = audit::list(self.store.pool(), &search.filter(MOST_EXPORTED)?).await?;
        let target = Target {
            kind: "audit",
            id: "export",
        };
        let facts = json!({ "rows": rows.len() });
        let record = caller.audit(
            "admin.audit.exported",
            Category::System,
            target,
            facts,
            self.clock.now(),
        );
        let mut conn = self.store.pool().acquire().await.map_err(store::StoreError::from)?;
        audit::record_in(&mut conn, record).await?;
        Ok(csv(&rows))
    }
}

fn known(value: Option<&str>, values: &[&str], what: &'static str) -> Result<(), Refusal> {
    match value {
        Some(value) if !values.contains(&value) => Err(Refusal::new(400, "invalid_request", what)),
        _ => Ok(()),
    }
}

fn csv(rows: &[AuditRow]) -> String {
    const HEAD: &str =
        "id,occurredAt,actorType,actorId,action,category,outcome,targetType,targetId,reason,requestId,metadata\r\n";
    let mut text = HEAD.to_owned();
    for row in rows {
        let fields = [
            row.id.to_string(),
            row.occurred_at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
            row.actor_type.clone(),
            row.actor_id.clone(),
            row.action.clone(),
            row.category.clone(),
            row.outcome.clone(),
            row.target_type.clone(),
            row.target_id.clone(),
            row.reason.clone().unwrap_or_default(),
            row.request_id.clone(),
            row.metadata.to_string(),
        ];
        let fields: Vec<String> = fields.iter().map(|field| cell(field)).collect();
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

/// A quoted cell. A spreadsheet takes what begins like a formula for one, and carries it out: an apostrophe makes it text.
fn cell(field: &str) -> String {
    let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    format!("\"{}{}\"", if formula { "'" } else { "" }, field.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_begins_like_a_formula_is_text() {
        for (field, expected) in [
            ("=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""),
            ("+7", "\"'+7\""),
            ("-1", "\"'-1\""),
            ("@x", "\"'@x\""),
            ("\t=1", "\"'\t=1\""),
            ("\r=1", "\"'\r=1\""),
            ("a=1", "\"a=1\""),
            ("", "\"\""),
            ("a,\"b\"\nc", "\"a,\"\"b\"\"\nc\""),
        ] {
            assert_eq!(cell(field), expected);
        }
    }

    proptest! {
        #[test]
        fn a_cell_reads_back_and_never_begins_like_a_formula(field in "[=+@\\-\"',\\t\\r\\n a-zа-я]{0,20}") {
            let written = cell(&field);
            let inside = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
            prop_assert!(!inside.starts_with(['=', '+', '-', '@', '\t', '\r']));
            prop_assert!(!inside.replace("\"\"", "").contains('"'));
            let read = inside.replace("\"\"", "\"");
            prop_assert!(read.strip_prefix('\'').unwrap_or(&read) == field || read == field);
        }
    }
}
