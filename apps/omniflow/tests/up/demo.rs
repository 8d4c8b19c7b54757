//! `demo` says in one line what became of its orders.

use std::time::Duration;

use serde_json::{Value, json};

use crate::up::{folder::Folder, process::Start};

#[tokio::test]
async fn a_demo_ends_with_the_promised_object_and_leaves_nothing() {
    let folder = Folder::new();
    let args = ["demo", "--orders", "12", "--goods", "3", "--json"];
    // A demo takes nothing of the settings: not even a database that is not there.
    let start = Start {
        settings: &[("APP_DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing")],
        ..Start::of(folder.path(), &args)
    };
    let mut demo = start.now();
    let status = demo.ends(Duration::from_secs(120)).await;
    assert!(status.success(), "{status:?}: {}", demo.errors());
    let output = demo.output();
    let last = output.lines().last().expect("it says something");
    let report: Value = serde_json::from_str(last).expect("the last line is JSON");
    assert_eq!(report["orders"], json!({"placed": 15, "paid": 15, "fulfilled": 15}));
    assert_eq!(
        report["deliveries"],
        json!({"owed": 3, "delivered": 3, "needsReview": 0})
    );
    assert_eq!(report["panel"], json!({"users": 12, "duplicateUsers": 0}));
    assert_eq!(report["outbox"]["pending"], 0);
    assert_eq!(report["jobs"]["deadLetters"], 0);
    assert_eq!((&report["lost"], &report["duplicated"]), (&json!(0), &json!(0)));
    for count in [&report["outbox"]["published"], &report["jobs"]["completed"]] {
        assert!(count.as_i64().is_some_and(|count| count >= 15), "{report}");
    }
    let latency = &report["latencyMs"]["paidToProvisioned"];
    assert!(latency["p50"].is_number() && latency["p99"].is_number(), "{report}");
    assert!(!folder.data().exists(), "a demo leaves nothing where it was started");
}
