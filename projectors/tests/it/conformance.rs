//! Our bulk rows against the official client's own insert.

use queue::{BulkJob, JobArgs, bulk_row};
use riverqueue::{Client, InsertOpts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::outbox;

use projectors::publisher::{Effect, Reactors, Refused};

use crate::{
    log::Log,
    outbox_rows::{Running, UNPUBLISHED, until, write},
};

/// Arguments with everything that encoders disagree about.
#[derive(Clone, Debug, Serialize, Deserialize, JobArgs)]
#[river(
    kind = "awkward",
    queue = "critical",
    max_attempts = 12,
    unique(by_args, by_state(available, pending, running, retryable, scheduled))
)]
struct Awkward {
    zulu: String,
    alpha: i64,
}

const ROWS: &str = "select to_jsonb(j) - 'id' - 'created_at' - 'scheduled_at' || jsonb_build_object('mask', unique_states::text) \
                      from public.river_job j order by id";

fn args(row: &outbox::Pending) -> Awkward {
    let payload: Value = serde_json::from_str(&row.payload).unwrap();
    Awkward {
        zulu: payload["zulu"].as_str().unwrap().to_owned(),
        alpha: payload["alpha"].as_i64().unwrap(),
    }
}

fn react(row: &outbox::Pending) -> Result<Vec<Effect>, Refused> {
    let mut metadata = Map::new();
    metadata.insert("correlationId".to_owned(), json!("c <&> \"q\""));
    let job: BulkJob = bulk_row(&args(row), &metadata)?;
    Ok(vec![Effect::Job(job)])
}

#[tokio::test]
async fn our_rows_are_the_clients_rows() {
    let payloads = [
        "plain",
        "<b>&amp;</b>",
        "quotes \" and \\ and \u{2028}",
        "žluťoučký кот 🐈",
        "tab\tand\u{1}",
    ];
    let ours = Log::new().await;
    let theirs = Log::new().await;
    let client = Client::builder(theirs.pool.clone()).build().unwrap();
    for (n, text) in payloads.into_iter().enumerate() {
        let alpha = i64::try_from(n).unwrap() - 2;
        write(
            &ours.pool,
            "awkward",
            &[("t/1".to_owned(), json!({ "zulu": text, "alpha": alpha }))],
        )
        .await;
        let metadata = json!({ "correlationId": "c <&> \"q\"" });
        let opts = InsertOpts::default().with_metadata(metadata.as_object().unwrap().clone());
        client
            .insert(Awkward {
                zulu: text.to_owned(),
                alpha,
            })
            .opts(opts)
            .await
            .unwrap();
    }
    let publisher = Running::with(&ours, Reactors::none().with("awkward", react));
    until(&ours.pool, UNPUBLISHED, 0, std::time::Duration::from_secs(20)).await;
    publisher.stop().await;
    let rows: Vec<Value> = sqlx::query_scalar(ROWS).fetch_all(&ours.pool).await.unwrap();
    let wanted: Vec<Value> = sqlx::query_scalar(ROWS).fetch_all(&theirs.pool).await.unwrap();
    assert_eq!(rows.len(), 5);
    for (row, wanted) in rows.iter().zip(&wanted) {
        assert_eq!(row, wanted);
    }
    both_know_what_is_the_same(&ours, &theirs, &payloads).await;
}

async fn both_know_what_is_the_same(ours: &Log, theirs: &Log, payloads: &[&str]) {
    let client = Client::builder(ours.pool.clone()).build().unwrap();
    for (n, text) in payloads.iter().enumerate() {
        let alpha = i64::try_from(n).unwrap() - 2;
        let again = client
            .insert(Awkward {
                zulu: (*text).to_owned(),
                alpha,
            })
            .await
            .unwrap();
        assert!(again.unique_skipped_as_duplicate, "{text}");
    }
    write(
        &theirs.pool,
        "awkward",
        &[("t/1".to_owned(), json!({ "zulu": "plain", "alpha": -2 }))],
    )
    .await;
    let publisher = Running::with(theirs, Reactors::none().with("awkward", react));
    until(&theirs.pool, UNPUBLISHED, 0, std::time::Duration::from_secs(20)).await;
    publisher.stop().await;
    until(
        &theirs.pool,
        "select count(*) from public.river_job",
        5,
        std::time::Duration::from_secs(1),
    )
    .await;
}

#[tokio::test]
async fn equal_rows_of_a_batch_are_one_job_until_it_ended() {
    let log = Log::new().await;
    let same = || ("t/1".to_owned(), json!({ "zulu": "z", "alpha": 1 }));
    write(&log.pool, "awkward", &[same(), same(), same()]).await;
    let publisher = Running::with(&log, Reactors::none().with("awkward", react));
    until(&log.pool, UNPUBLISHED, 0, std::time::Duration::from_secs(20)).await;
    until(
        &log.pool,
        "select count(*) from public.river_job",
        1,
        std::time::Duration::from_secs(1),
    )
    .await;
    // B63: a job that has ended is no duplicate.
    sqlx::query("update public.river_job set state = 'completed', finalized_at = now()")
        .execute(&log.pool)
        .await
        .unwrap();
    write(&log.pool, "awkward", &[same()]).await;
    until(
        &log.pool,
        "select count(*) from public.river_job",
        2,
        std::time::Duration::from_secs(20),
    )
    .await;
    publisher.stop().await;
}
