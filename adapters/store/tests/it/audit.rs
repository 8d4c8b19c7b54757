//! The audit trail: kept with the change or not at all, read by every filter, paged without gaps.

use chrono::{DateTime, Utc};
use serde_json::json;
use store::{
    SideRows,
    audit::{self, Category, Entry, Filter, Outcome, Target},
};
use tests::TestDb;

use crate::support::store;

fn at(minute: u32) -> DateTime<Utc> {
    format!("2026-03-01T12:{minute:02}:00Z").parse().unwrap()
}

fn entry(number: u32) -> Entry<'static> {
    let even = number.is_multiple_of(2);
    Entry {
        actor: if even { "operator:bearer" } else { "operator:cli" },
        action: if even {
            "panel.fulfillment.retried"
        } else {
            "panel.fulfillment.cancelled"
        },
        category: if even { Category::System } else { Category::Financial },
        outcome: if even { Outcome::Success } else { Outcome::Denied },
        target: Target {
            kind: "fulfillment_operation",
            id: if even { "even" } else { "odd" },
        },
        reason: Some("the panel is back"),
        request_id: "request-1",
        metadata: json!({ "number": number }).as_object().unwrap().clone(),
        at: at(number),
    }
}

fn numbers(found: &[audit::Stored]) -> Vec<u64> {
    found
        .iter()
        .map(|one| one.metadata.get("number").unwrap().as_u64().unwrap())
        .collect()
}

/// Every filter, alone, with the numbers of the records it finds among six.
#[expect(clippy::too_many_lines, reason = "a table")]
fn questions() -> Vec<(Filter, Vec<u64>)> {
    let all = Filter {
        limit: 10,
        ..Filter::default()
    };
    let text = |value: &str| Some(value.to_owned());
    vec![
        (all.clone(), vec![5, 4, 3, 2, 1, 0]),
        (
            Filter {
                ascending: true,
                ..all.clone()
            },
            vec![0, 1, 2, 3, 4, 5],
        ),
        (
            Filter {
                category: text("system"),
                ..all.clone()
            },
            vec![4, 2, 0],
        ),
        (
            Filter {
                outcome: text("denied"),
                ..all.clone()
            },
            vec![5, 3, 1],
        ),
        (
            Filter {
                actor_type: text("operator"),
                actor_id: text("cli"),
                ..all.clone()
            },
            vec![5, 3, 1],
        ),
        (
            Filter {
                action: text("panel.fulfillment.retried"),
                ..all.clone()
            },
            vec![4, 2, 0],
        ),
        (
            Filter {
                target_type: text("fulfillment_operation"),
                target_id: text("odd"),
                ..all.clone()
            },
            vec![5, 3, 1],
        ),
        (
            Filter {
                from: Some(at(2)),
                to: Some(at(4)),
                ..all.clone()
            },
            vec![3, 2],
        ),
        (
            Filter {
                action: text("nothing.such"),
                ..all.clone()
            },
            vec![],
        ),
    ]
}

#[tokio::test]
async fn records_are_found_by_every_filter_and_paged_both_ways() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let mut rows = SideRows::begin(store.pool()).await.unwrap();
    for number in 0..6 {
        audit::record_in(rows.conn(), entry(number)).await.unwrap();
    }
    rows.commit().await.unwrap();

    for (filter, expected) in questions() {
        let found = audit::list(store.pool(), &filter).await.unwrap();
        assert_eq!(numbers(&found), expected, "{filter:?}");
    }

    for (ascending, expected) in [(false, vec![5, 4, 3, 2, 1, 0]), (true, vec![0, 1, 2, 3, 4, 5])] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = Filter {
                ascending,
                after,
                limit: 4,
                ..Filter::default()
            };
            let found = audit::list(store.pool(), &page).await.unwrap();
            let Some(last) = found.last() else { break };
            after = Some(last.id);
            seen.extend(numbers(&found));
        }
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn a_record_goes_with_the_change_that_is_taken_back() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let mut rows = SideRows::begin(store.pool()).await.unwrap();
    audit::record_in(rows.conn(), entry(1)).await.unwrap();
    rows.rollback().await;
    let all = Filter {
        limit: 10,
        ..Filter::default()
    };
    assert!(audit::list(store.pool(), &all).await.unwrap().is_empty());
}
