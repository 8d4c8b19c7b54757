//! A read model that was edited by hand is found out.

use std::time::Duration;

use serde_json::Value;

use crate::up::{folder::Folder, process::Start, restarts::READY};

const SOON: Duration = Duration::from_secs(60);

/// Exit code and lines of `projections verify --all --json`.
async fn verify(folder: &Folder) -> (Option<i32>, Vec<Value>) {
    let mut verify = Start::of(folder.path(), &["projections", "verify", "--all", "--json"]).now();
    let status = verify.ends(SOON).await;
    let output = verify.output();
    let lines = output.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    (status.code(), lines.collect())
}

/// What a command answers, as JSON.
async fn ask(folder: &Folder, arguments: &[&str]) -> Value {
    let mut command = Start::of(folder.path(), arguments).now();
    assert!(command.ends(SOON).await.success(), "{}", command.errors());
    serde_json::from_str(&command.output()).expect("JSON")
}

#[tokio::test]
async fn verify_names_the_row_that_somebody_edited_and_a_replay_repairs_it() {
    let folder = Folder::new();
    let mut up = Start::of(folder.path(), &["up"]).now();
    up.says("ready:", READY).await;
    let (code, lines) = verify(&folder).await;
    assert_eq!((code, lines.len()), (Some(0), 4), "{lines:?}");

    let pool = folder.database().await;
    let edited: uuid::Uuid = sqlx::query_scalar("update read.orders set state = 'cancelled' returning order_id")
        .fetch_one(&pool)
        .await
        .expect("the sample order is there");
    let (code, lines) = verify(&folder).await;
    assert_eq!(code, Some(1), "{lines:?}");
    let orders = lines
        .iter()
        .find(|line| line["name"] == "orders")
        .expect("each is named");
    assert_eq!(orders["differenceCount"], 1);
    assert_eq!(orders["differences"][0]["key"], edited.to_string());
    assert_eq!(orders["differences"][0]["column"], "state");

    let mut replay = Start::of(folder.path(), &["projections", "replay", "orders", "--json"]).now();
    assert!(replay.ends(SOON).await.success(), "{}", replay.errors());
    let (code, lines) = verify(&folder).await;
    assert_eq!(code, Some(0), "{lines:?}");

    // Who rebuilt it is kept, and so is what became of the sample order's access.
    let audit = ask(
        &folder,
        &["audit", "list", "--action", "admin.projection.replayed", "--json"],
    )
    .await;
    let record = &audit["items"][0];
    assert_eq!(
        (&record["targetId"], &record["outcome"]),
        (&"orders".into(), &"success".into())
    );
    let operations = ask(&folder, &["operations", "list", "--status", "succeeded", "--json"]).await;
    let id = operations["items"][0]["id"]
        .as_str()
        .expect("the sample order's")
        .to_owned();
    let shown = ask(&folder, &["operations", "show", &id, "--json"]).await;
    assert_eq!(shown["operation"]["operation"], "create");
    let mut retry = Start::of(
        folder.path(),
        &["operations", "retry", &id, "--reason", "why not", "--operator", "test"],
    )
    .now();
    assert_eq!(
        retry.ends(SOON).await.code(),
        Some(1),
        "a succeeded operation is left alone"
    );
    assert!(retry.errors().contains("state_conflict"), "{}", retry.errors());
    let letters = ask(&folder, &["jobs", "dead-letters", "--json"]).await;
    assert!(letters["items"].is_array());
    up.interrupt().await;
}
