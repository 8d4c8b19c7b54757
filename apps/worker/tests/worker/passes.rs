//! Runs of passes: once at a time, bounded in time, known as killed when they were, kept as dead letters when they failed.

use std::{
    future::pending,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use queue::{Failure, Handler, Outcome, PeriodicArgs, Run};
use serde_json::json;
use service::passes::{Begun, PassRun, Wanted};
use store::pass_runs::PassRow;
use tokio::sync::Notify;
use worker::{
    jobs::PeriodicJobs,
    passes::{self, Asked, Entry, PassParts, PassSettings, Ran, Report, Running},
};

use crate::support::Stage;

const HOUR: Duration = Duration::from_hours(1);

fn parts(stage: &Stage) -> PassParts {
    PassParts::new(&stage.service(), None, PassSettings::default(), "here").unwrap()
}

fn well(_: &PassParts) -> Running<'_> {
    Box::pin(async {
        Ok(Report {
            figures: json!({ "removed": 3 }),
            rows: vec![("removed".to_owned(), 3)],
        })
    })
}

fn badly(_: &PassParts) -> Running<'_> {
    Box::pin(async { Err("nothing_works".to_owned()) })
}

const fn entry(name: &'static str, run: for<'a> fn(&'a PassParts) -> Running<'a>) -> Entry {
    Entry::new(name, HOUR, HOUR, run)
}

async fn by_job(parts: &PassParts, entry: &Entry) -> Ran {
    passes::run(parts, entry, &Asked::ByJob(7), pending()).await.unwrap()
}

async fn by_person(parts: &PassParts, entry: &Entry) -> Ran {
    passes::run(parts, entry, &Asked::ByPerson, pending()).await.unwrap()
}

async fn row(stage: &Stage, task: &str) -> PassRow {
    let rows = stage.service().pass_runs().await.unwrap();
    rows.into_iter().find(|row| row.task == task).unwrap()
}

async fn began(stage: &Stage, task: &'static str) -> PassRun {
    let wanted = Wanted {
        task,
        every: Some(HOUR),
        runner: "there",
        job_id: Some(9),
    };
    match stage.service().begin_pass(wanted).await.unwrap() {
        Begun::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

async fn sql(stage: &Stage, text: &'static str) {
    sqlx::query(text).execute(&stage.pool).await.unwrap();
}

const OPEN_LETTERS: &str = "select count(*) from dead_letters where kind = 'periodic_task' and resolved_at is null";

#[tokio::test]
async fn a_pass_runs_once_an_interval_from_start_to_start_and_whenever_a_person_asks() {
    let stage = Stage::new().await;
    let (parts, pass) = (parts(&stage), entry("well", well));
    assert!(matches!(by_job(&parts, &pass).await, Ran::Ended(Ok(_))));
    let first = row(&stage, "well").await;
    assert_eq!(
        (first.state.as_str(), first.detail),
        ("succeeded", Some(json!({ "removed": 3 })))
    );
    assert_eq!(
        (first.last_success_at, first.runner.as_deref()),
        (Some(first.started_at), Some("here"))
    );

    assert_eq!(by_job(&parts, &pass).await, Ran::NotDue);
    sql(
        &stage,
        "update pass_runs set started_at = clock_timestamp() - interval '53 minutes 55 seconds'",
    )
    .await;
    assert_eq!(by_job(&parts, &pass).await, Ran::NotDue, "nine tenths are not over");
    sql(
        &stage,
        "update pass_runs set started_at = clock_timestamp() - interval '54 minutes'",
    )
    .await;
    assert!(matches!(by_job(&parts, &pass).await, Ran::Ended(Ok(_))));
    assert!(matches!(by_person(&parts, &pass).await, Ran::Ended(Ok(_))));
}

#[tokio::test]
async fn a_failure_leaves_a_dead_letter_holds_nobody_up_and_is_closed_by_a_success() {
    let stage = Stage::new().await;
    let parts = parts(&stage);
    for _ in 0..2 {
        let ran = by_job(&parts, &entry("shaky", badly)).await;
        assert_eq!(ran, Ran::Ended(Err("nothing_works".to_owned())));
    }
    assert_eq!(stage.count(OPEN_LETTERS).await, 1, "one for one pass and code");
    assert_eq!(stage.count("select job_id from dead_letters").await, 7);
    let failed = row(&stage, "shaky").await;
    assert_eq!((failed.state.as_str(), failed.last_success_at), ("failed", None));
    assert!(matches!(by_job(&parts, &entry("shaky", well)).await, Ran::Ended(Ok(_))));
    assert_eq!(stage.count(OPEN_LETTERS).await, 0);
    let succeeded = row(&stage, "shaky").await.last_success_at;
    by_person(&parts, &entry("shaky", badly)).await;
    assert_eq!(
        row(&stage, "shaky").await.last_success_at,
        succeeded,
        "a failure leaves it"
    );
}

#[tokio::test]
async fn a_run_ends_at_its_limit_and_a_panic_is_a_failure() {
    fn endless(_: &PassParts) -> Running<'_> {
        Box::pin(pending())
    }
    fn bursts(_: &PassParts) -> Running<'_> {
        Box::pin(async { panic!("at the worst moment") })
    }
    let stage = Stage::new().await;
    let parts = parts(&stage);
    let short = Entry::new("endless", HOUR, Duration::from_millis(50), endless);
    assert_eq!(
        by_job(&parts, &short).await,
        Ran::Ended(Err("pass_timed_out".to_owned()))
    );
    assert_eq!(
        by_job(&parts, &entry("bursts", bursts)).await,
        Ran::Ended(Err("pass_panicked".to_owned()))
    );
    assert_eq!(stage.count(OPEN_LETTERS).await, 2);
}

#[tokio::test]
async fn a_second_run_is_refused_while_one_is_on_whoever_asks() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    static GO_ON: Notify = Notify::const_new();
    fn slow(_: &PassParts) -> Running<'_> {
        Box::pin(async {
            RUNS.fetch_add(1, Ordering::SeqCst);
            GO_ON.notified().await;
            Ok(well_done())
        })
    }
    fn well_done() -> Report {
        Report {
            figures: json!({}),
            rows: Vec::new(),
        }
    }
    let stage = Stage::racing().await;
    let (parts, pass) = (parts(&stage), entry("slow", slow));
    let first = tokio::spawn({
        let parts = parts.clone();
        async move { by_job(&parts, &pass).await }
    });
    while RUNS.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(row(&stage, "slow").await.state, "running");
    // It lasts longer than its interval: not even then is there a second one.
    sql(
        &stage,
        "update pass_runs set started_at = started_at - interval '2 hours'",
    )
    .await;
    for asked in [Asked::ByPerson, Asked::ByJob(8)] {
        let ran = passes::run(&parts, &pass, &asked, pending()).await.unwrap();
        assert!(matches!(&ran, Ran::Busy { runner, .. } if runner == "here"), "{ran:?}");
    }
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
    sql(
        &stage,
        "update pass_runs set started_at = started_at + interval '2 hours'",
    )
    .await;
    GO_ON.notify_one();
    assert!(matches!(first.await.unwrap(), Ran::Ended(Ok(_))));
    assert_eq!(row(&stage, "slow").await.state, "succeeded");
}

#[tokio::test]
async fn a_killed_run_is_seen_does_not_stay_running_and_holds_nobody_up() {
    let stage = Stage::new().await;
    let run = began(&stage, "killed").await;
    assert!(stage.service().beat_pass(&run).await.unwrap());
    assert_eq!(row(&stage, "killed").await.state, "running");
    // Nobody says any more that it is alive.
    sql(&stage, "update pass_runs set alive_until = clock_timestamp()").await;
    assert_eq!(row(&stage, "killed").await.state, "lost");
    // Whichever pass begins next notes it.
    let parts = parts(&stage);
    by_job(&parts, &entry("other", well)).await;
    let noted = row(&stage, "killed").await;
    assert_eq!(
        (noted.state.as_str(), noted.detail),
        ("failed", Some(json!({ "code": "run_lost" })))
    );
    assert!(noted.finished_at.is_some());
    assert_eq!(stage.count(OPEN_LETTERS).await, 1);
    assert_eq!(stage.count("select job_id from dead_letters").await, 9);
    // Its time is not over, but it failed.
    assert!(matches!(
        by_job(&parts, &entry("killed", well)).await,
        Ran::Ended(Ok(_))
    ));
    assert_eq!(stage.count(OPEN_LETTERS).await, 0);
}

#[tokio::test]
async fn a_run_that_was_taken_to_be_killed_changes_nothing_any_more() {
    let stage = Stage::new().await;
    let stale = began(&stage, "stale").await;
    sql(&stage, "update pass_runs set alive_until = clock_timestamp()").await;
    let current = began(&stage, "stale").await;
    assert!(!stage.service().beat_pass(&stale).await.unwrap());
    stage.service().end_pass(&stale, Err("too_late")).await.unwrap();
    assert_eq!(row(&stage, "stale").await.state, "running");
    assert!(stage.service().beat_pass(&current).await.unwrap());
    stage.service().end_pass(&current, Ok(&json!({}))).await.unwrap();
    assert_eq!(row(&stage, "stale").await.state, "succeeded");
}

#[tokio::test]
async fn a_stop_cuts_a_run_off_without_blame_and_the_next_one_need_not_wait() {
    fn endless(_: &PassParts) -> Running<'_> {
        Box::pin(pending())
    }
    let stage = Stage::new().await;
    let parts = parts(&stage);
    let ran = passes::run(&parts, &entry("cut", endless), &Asked::ByJob(1), async {}).await;
    assert_eq!(ran, Ok(Ran::Interrupted));
    assert_eq!(stage.count(OPEN_LETTERS).await, 0);
    assert!(matches!(by_job(&parts, &entry("cut", well)).await, Ran::Ended(Ok(_))));
}

#[tokio::test]
async fn a_crash_before_the_end_is_recorded_is_a_killed_run_and_its_work_is_done_again_harmlessly() {
    let stage = Stage::new().await;
    let paid = stage.purchase().await;
    sql(&stage, "delete from river_job").await;
    sql(&stage, "update fulfillment_operations set next_attempt_at = clock_timestamp() - interval '1 hour', created_at = clock_timestamp() - interval '1 hour'").await;
    let parts = parts(&stage);
    let revive = passes::find("fulfillment_revive", &PassSettings::default()).unwrap();
    // The pass did its work, and its process died before it said so.
    began(&stage, "fulfillment_revive").await;
    assert_eq!(parts.fulfillment.revive().await.unwrap().revived, 1);
    sql(&stage, "update pass_runs set alive_until = clock_timestamp()").await;
    assert!(matches!(by_job(&parts, &revive).await, Ran::Ended(Ok(_))));
    assert_eq!(stage.count("select count(*) from river_job").await, 1);
    assert_eq!(stage.run(paid.operation_id).await, Ok(Outcome::Done));
    assert_eq!(stage.panel.users().len(), 1);
}

#[tokio::test]
async fn the_job_of_a_failed_pass_ends_discarded_and_that_of_an_unknown_one_cancelled() {
    let stage = Stage::new().await;
    let jobs = PeriodicJobs::new(parts(&stage));
    let args = |task: &str| PeriodicArgs { task: task.to_owned() };
    assert_eq!(
        jobs.run(Run::driven(1, 1), args("lease_sweep")).await,
        Ok(Outcome::Done)
    );
    // Without its list of orders the pass cannot work.
    stage.as_owner("alter table read.orders rename to orders_hidden").await;
    let failed = jobs.run(Run::driven(2, 1), args("commerce_maintenance")).await;
    assert!(matches!(failed, Err(Failure::Retry { .. })), "{failed:?}");
    assert_eq!(stage.count(OPEN_LETTERS).await, 1);
    stage.as_owner("alter table read.orders_hidden rename to orders").await;
    assert_eq!(
        jobs.run(Run::driven(3, 1), args("commerce_maintenance")).await,
        Ok(Outcome::Done)
    );
    assert_eq!(stage.count(OPEN_LETTERS).await, 0);
    let unknown = jobs.run(Run::driven(4, 1), args("of_a_later_version")).await;
    assert!(matches!(unknown, Err(Failure::Cancel { .. })), "{unknown:?}");
}

#[tokio::test]
async fn retention_reports_each_table_it_removed_from() {
    let stage = Stage::new().await;
    let parts = parts(&stage);
    let retention = passes::find("retention", &parts.settings).unwrap();
    sql(
        &stage,
        "insert into outbox (topic, stream, payload, published_at) values ('t', 's', '{}', now() - interval '8 days')",
    )
    .await;
    let Ran::Ended(Ok(report)) = by_person(&parts, &retention).await else {
        panic!("it failed")
    };
    assert_eq!(report.rows, [("outbox".to_owned(), 1)]);
    assert_eq!(
        (&report.figures["removed"], &report.figures["failed"]),
        (&json!(1), &json!(0))
    );
}

#[tokio::test]
async fn b69_of_two_leaders_jobs_for_one_interval_one_runs() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    fn counted(parts: &PassParts) -> Running<'_> {
        RUNS.fetch_add(1, Ordering::SeqCst);
        well(parts)
    }
    let stage = Stage::racing().await;
    let (parts, pass) = (parts(&stage), entry("b69", counted));
    for round in 1..=5 {
        let (one, other) = tokio::join!(by_job(&parts, &pass), by_job(&parts, &pass));
        let ended = [&one, &other]
            .iter()
            .filter(|ran| matches!(ran, Ran::Ended(Ok(_))))
            .count();
        assert_eq!((ended, RUNS.load(Ordering::SeqCst)), (1, round), "{one:?} {other:?}");
        sql(
            &stage,
            "update pass_runs set started_at = clock_timestamp() - interval '1 hour'",
        )
        .await;
    }
}

#[tokio::test]
async fn b71_a_daily_pass_of_a_process_that_never_lives_that_long_runs_once_a_day() {
    let stage = Stage::new().await;
    let parts = parts(&stage);
    let day = Duration::from_hours(24);
    let daily = Entry::new("b71", day, day, well);
    let mut runs = 0;
    // Each start of a leader enqueues every pass; there is one every three hours, for three days.
    for _ in 0..24 {
        runs += i32::from(matches!(by_job(&parts, &daily).await, Ran::Ended(Ok(_))));
        sql(
            &stage,
            "update pass_runs set started_at = started_at - interval '3 hours'",
        )
        .await;
    }
    assert_eq!(runs, 3);
}
