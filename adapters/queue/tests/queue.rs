//! Our statements against River's tables: they must agree with the official client, and change a job only in the states that allow it.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose ground is missing has nothing better to say"
)]

use std::time::Duration;

use queue::{
    CancelResult, Finish, FulfillmentArgs, JobClient, JobState, ListingFilter, PeriodicArgs, QueueError, Subject,
    finish_in,
};
use serde_json::{Map, json};
use sqlx::{PgPool, Row};
use tests::TestDb;
use uuid::Uuid;

struct Ground {
    pool: PgPool,
    client: JobClient,
    /// Dropped last.
    _db: TestDb,
}

async fn ground() -> Ground {
    let db = TestDb::new().await;
    let pool = PgPool::connect(&db.url).await.unwrap();
    Ground {
        client: JobClient::new(pool.clone()),
        pool,
        _db: db,
    }
}

impl Ground {
    async fn set(&self, state: &str) {
        sqlx::query(
            "update river_job set state = $1::text::river_job_state,
                    finalized_at = case when $1 in ('completed', 'cancelled', 'discarded') then now() end",
        )
        .bind(state)
        .execute(&self.pool)
        .await
        .unwrap();
    }

    async fn insert(&self, id: u128) -> i64 {
        let args = FulfillmentArgs {
            operation_id: Uuid::from_u128(id),
        };
        self.client
            .insert(&args, &Map::new())
            .await
            .unwrap()
            .expect_new()
            .unwrap()
    }
}

#[tokio::test]
async fn our_row_is_the_row_of_the_official_client() {
    let ground = ground().await;
    let river = riverqueue::Client::builder(
        riverqueue::database::PostgresDatabase::new(ground.pool.clone())
            .with_schema(riverqueue::database::SchemaName::new("public").unwrap()),
    )
    .build()
    .unwrap();
    let columns = "select args::text, kind, max_attempts, priority, queue, state::text, tags, unique_key, unique_states::text,
                          attempt, finalized_at is null, scheduled_at <= now(), metadata::text from river_job where id = $1";
    let row = async |id: i64| {
        let row = sqlx::query(columns).bind(id).fetch_one(&ground.pool).await.unwrap();
        (
            (
                row.get::<String, _>(0),
                row.get::<String, _>(1),
                row.get::<i16, _>(2),
                row.get::<i16, _>(3),
            ),
            (
                row.get::<String, _>(4),
                row.get::<String, _>(5),
                row.get::<Vec<String>, _>(6),
                row.get::<Vec<u8>, _>(7),
            ),
            (
                row.get::<String, _>(8),
                row.get::<i16, _>(9),
                row.get::<bool, _>(10),
                row.get::<bool, _>(11),
            ),
            row.get::<String, _>(12),
        )
    };
    for task in ["plain", "quote \" and back\\slash", "Ян 🦄", "<&>\u{2028}"] {
        let args = PeriodicArgs { task: task.to_owned() };
        let ours = ground
            .client
            .insert(&args, &Map::new())
            .await
            .unwrap()
            .expect_new()
            .unwrap();
        let ours_row = row(ours).await;
        let theirs = river.insert(args.clone()).await.unwrap();
        assert!(theirs.unique_skipped_as_duplicate, "River sees ours: {task}");
        assert_eq!(theirs.id(), ours);
        sqlx::query("delete from river_job")
            .execute(&ground.pool)
            .await
            .unwrap();
        let theirs = river.insert(args.clone()).await.unwrap().id();
        assert_eq!(row(theirs).await, ours_row, "{task}");
        let again = ground.client.insert(&args, &Map::new()).await.unwrap();
        assert!(again.skipped_as_duplicate, "we see River's: {task}");
        assert_eq!(again.id, theirs);
    }
}

#[tokio::test]
async fn a_job_is_ended_only_in_the_attempt_that_asks() {
    let ground = ground().await;
    let id = ground.insert(1).await;
    sqlx::query("update river_job set state = 'running', attempt = 2, attempted_at = now()")
        .execute(&ground.pool)
        .await
        .unwrap();
    let mut conn = ground.pool.acquire().await.unwrap();
    assert!(
        !finish_in(&mut conn, id, 1, &Finish::Completed).await.unwrap(),
        "it was begun again elsewhere"
    );
    let discarded = Finish::Discarded {
        error: "remnawave_http_500".to_owned(),
    };
    assert!(finish_in(&mut conn, id, 2, &discarded).await.unwrap());
    assert!(!finish_in(&mut conn, id, 2, &discarded).await.unwrap());
    drop(conn);
    let job = ground.client.get(id).await.unwrap();
    assert_eq!(
        (job.state, job.error_count, job.last_error.as_str()),
        (JobState::Discarded, 1, "remnawave_http_500")
    );
    assert_eq!(job.subject, Subject::Operation(Uuid::from_u128(1)));
    assert!(job.finalized_at.is_some());
}

#[tokio::test]
async fn a_retry_is_refused_where_it_would_run_twice_or_for_nothing() {
    let ground = ground().await;
    let id = ground.insert(1).await;
    let mut conn = ground.pool.acquire().await.unwrap();
    for (state, allowed) in [
        ("available", true),
        ("scheduled", true),
        ("retryable", true),
        ("discarded", true),
        ("cancelled", true),
        ("running", false),
        ("completed", false),
    ] {
        ground.set(state).await;
        match ground.client.retry_in(&mut conn, id).await {
            Ok(job) if allowed => assert_eq!((job.state, job.finalized_at), (JobState::Available, None), "{state}"),
            Err(QueueError::Rejected { state: found }) if !allowed => assert_eq!(found.as_str(), state),
            other => panic!("{state}: {other:?}"),
        }
    }
    ground.set("discarded").await;
    let newer = ground.insert(1).await;
    assert!(matches!(
        ground.client.retry_in(&mut conn, id).await,
        Err(QueueError::StillLive)
    ));
    assert!(matches!(
        ground.client.retry_in(&mut conn, newer + 1).await,
        Err(QueueError::NotFound)
    ));
}

#[tokio::test]
async fn a_job_whose_attempts_are_used_up_gets_one_more() {
    let ground = ground().await;
    let id = ground.insert(1).await;
    sqlx::query("update river_job set attempt = 12, state = 'discarded', finalized_at = now()")
        .execute(&ground.pool)
        .await
        .unwrap();
    let mut conn = ground.pool.acquire().await.unwrap();
    let job = ground.client.retry_in(&mut conn, id).await.unwrap();
    assert_eq!((job.attempt, job.max_attempts), (12, 13));
}

#[tokio::test]
async fn a_waiting_job_is_cancelled_a_running_one_marked_and_an_ended_one_left() {
    let ground = ground().await;
    let id = ground.insert(1).await;
    let mut conn = ground.pool.acquire().await.unwrap();
    for state in ["available", "scheduled", "retryable"] {
        ground.set(state).await;
        assert_eq!(
            ground.client.cancel_in(&mut conn, id).await.unwrap(),
            CancelResult::Cancelled,
            "{state}"
        );
        assert_eq!(ground.client.get(id).await.unwrap().state, JobState::Cancelled);
    }
    ground.set("running").await;
    assert_eq!(
        ground.client.cancel_in(&mut conn, id).await.unwrap(),
        CancelResult::Marked
    );
    assert_eq!(ground.client.get(id).await.unwrap().state, JobState::Running);
    for state in ["completed", "cancelled", "discarded"] {
        ground.set(state).await;
        assert!(
            matches!(
                ground.client.cancel_in(&mut conn, id).await,
                Err(QueueError::Rejected { .. })
            ),
            "{state}"
        );
    }
    assert!(matches!(
        ground.client.cancel_in(&mut conn, id + 1).await,
        Err(QueueError::NotFound)
    ));
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_repeat() {
    let ground = ground().await;
    let mut ids = Vec::new();
    for id in 1..=7 {
        ids.push(ground.insert(id).await);
    }
    let mut seen = Vec::new();
    let mut filter = ListingFilter {
        states: vec![JobState::Available],
        limit: 3,
        before: None,
    };
    loop {
        let page = ground.client.list(&filter).await.unwrap();
        seen.extend(page.jobs.iter().map(|job| job.id));
        filter.before = page.next;
        if filter.before.is_none() {
            break;
        }
    }
    ids.reverse();
    assert_eq!(seen, ids);
    filter.states = vec![JobState::Discarded, JobState::Cancelled];
    assert!(ground.client.list(&filter).await.unwrap().jobs.is_empty());
}

#[tokio::test]
async fn a_job_for_later_waits_by_the_clock_of_the_database() {
    let ground = ground().await;
    let args = FulfillmentArgs {
        operation_id: Uuid::from_u128(1),
    };
    let mut metadata = Map::new();
    metadata.insert("correlationId".to_owned(), json!("c-1"));
    let mut conn = ground.pool.acquire().await.unwrap();
    ground
        .client
        .insert_after_in(&mut conn, &args, &metadata, Duration::from_mins(1))
        .await
        .unwrap();
    let (state, ahead, correlation): (String, bool, String) = sqlx::query_as(
        "select state::text, scheduled_at between clock_timestamp() + interval '59 s' and clock_timestamp() + interval '60 s',
                metadata ->> 'correlationId' from river_job",
    )
    .fetch_one(&ground.pool)
    .await
    .unwrap();
    assert_eq!(
        (state.as_str(), ahead, correlation.as_str()),
        ("scheduled", true, "c-1")
    );
    let live = ground.client.live_in(&mut conn, &args).await.unwrap();
    assert_eq!(live.map(|job| job.state), Some(JobState::Scheduled));
}

#[tokio::test]
async fn a_retry_that_meets_a_run_which_is_starting_is_refused() {
    let ground = ground().await;
    let id = ground.insert(1).await;
    // A worker takes it; an operator clicks before that is committed.
    let mut fetch = ground.pool.begin().await.unwrap();
    sqlx::query("update river_job set state = 'running', attempt = attempt + 1 where id = $1")
        .bind(id)
        .execute(&mut *fetch)
        .await
        .unwrap();
    let (client, pool) = (ground.client.clone(), ground.pool.clone());
    let retry = tokio::spawn(async move {
        let mut click = pool.begin().await.unwrap();
        client.retry_in(&mut click, id).await
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    fetch.commit().await.unwrap();
    let refused = retry.await.unwrap();
    assert!(
        matches!(
            refused,
            Err(QueueError::Rejected {
                state: JobState::Running
            })
        ),
        "{refused:?}"
    );

    // And the other way round: what an operator holds no worker takes meanwhile.
    ground.set("retryable").await;
    let mut click = ground.pool.begin().await.unwrap();
    ground.client.cancel_in(&mut click, id).await.unwrap();
    let taken = "update river_job set state = 'running' where id in (
                   select id from river_job where state = 'retryable' for update skip locked) returning id";
    assert_eq!(sqlx::query(taken).fetch_all(&ground.pool).await.unwrap().len(), 0);
    click.commit().await.unwrap();
    assert_eq!(sqlx::query(taken).fetch_all(&ground.pool).await.unwrap().len(), 0);
}

#[tokio::test]
async fn two_cancels_at_once_end_a_job_once() {
    let ground = ground().await;
    let id = ground.insert(1).await;
    let cancel = || async {
        let mut click = ground.pool.begin().await.unwrap();
        let cancelled = ground.client.cancel_in(&mut click, id).await;
        click.commit().await.unwrap();
        cancelled
    };
    let (one, two) = tokio::join!(cancel(), cancel());
    let done = [&one, &two].iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(done, 1, "{one:?} {two:?}");
}
