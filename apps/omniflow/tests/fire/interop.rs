//! A job that another language's client of River inserts: our worker runs it like its own.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use sqlx::PgPool;

use crate::fire::installation::Installation;

/// Versions that this was written against. River's Python client only inserts.
const PACKAGES: [&str; 3] = ["riverqueue==0.7.0", "psycopg2-binary==2.9.*", "greenlet"];

/// Inserts one job and prints its id. The driver's connections come from the server's own library, which reads our address as it is.
const INSERT: &str = r#"
import json, sys
import psycopg2, sqlalchemy
from riverqueue import Client, InsertOpts
from riverqueue.driver import riversqlalchemy

class Fulfillment:
    kind = "fulfillment"
    def __init__(self, operation_id):
        self.operation_id = operation_id
    def to_json(self):
        return json.dumps({"operationId": self.operation_id})

engine = sqlalchemy.create_engine("postgresql+psycopg2://", creator=lambda: psycopg2.connect(sys.argv[1]))
options = InsertOpts(queue="critical", max_attempts=12)
print(Client(riversqlalchemy.Driver(engine)).insert(Fulfillment(sys.argv[2]), insert_opts=options).job.id)
"#;

/// Python with River's client in a folder of the build, made once; the reason when there is none.
fn python() -> Result<PathBuf, String> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("river-python");
    let python = home.join("bin/python");
    let has_client =
        |python: &Path| run(Command::new(python).args(["-c", "import psycopg2, riverqueue.driver.riversqlalchemy"]));
    if has_client(&python).is_ok() {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--retries", "0", "--timeout", "10"]);
    run(install.args(PACKAGES))?;
    has_client(&python)?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(complaint.lines().last().unwrap_or("it ended without a word").to_owned())
}

/// (jobs of the operation, of them completed, the state of this one)
async fn jobs(pool: &PgPool, operation: &str, job: i64) -> (i64, i64, String) {
    sqlx::query_as(
        "select count(*), count(*) filter (where state = 'completed'), max(state::text) filter (where id = $2)
           from river_job where kind = 'fulfillment' and args ->> 'operationId' = $1",
    )
    .bind(operation)
    .bind(job)
    .fetch_one(pool)
    .await
    .expect("readable")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_of_rivers_python_client_runs_like_our_own() {
    let prepared = tokio::task::spawn_blocking(python).await.expect("it ends");
    let python = match prepared {
        Ok(python) => python,
        Err(reason) => {
            eprintln!("skipped: no Python with River's client here: {reason}");
            return;
        }
    };
    let installation = Installation::start().await;
    // Nobody hands the outbox over yet: the only job is the other client's.
    let order = installation.buy_plan().await;
    let operation: String =
        sqlx::query_scalar("select operation_id::text from fulfillment_operations where order_id = $1")
            .bind(order.id)
            .fetch_one(&installation.pool)
            .await
            .expect("readable");
    let mut insert = Command::new(python);
    insert.args(["-c", INSERT, installation.database_url(), &operation]);
    let inserted = tokio::task::spawn_blocking(move || run(&mut insert))
        .await
        .expect("it ends");
    let inserted = inserted.unwrap_or_else(|reason| panic!("the client did not insert: {reason}"));
    let job: i64 = String::from_utf8_lossy(&inserted.stdout).trim().parse().expect("an id");
    assert_eq!(
        jobs(&installation.pool, &operation, job).await,
        (1, 0, "available".to_owned())
    );

    let _worker = installation.worker();
    let (_, summary, parked) = installation.settle(1, Duration::from_secs(60)).await;
    assert_eq!((summary.fulfilled, parked.len()), (1, 0), "{summary:?}");
    // The publisher's own job for the same operation finds nothing left to do.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    let ended = loop {
        let now = jobs(&installation.pool, &operation, job).await;
        if now.0 == now.1 || tokio::time::Instant::now() > deadline {
            break now;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(ended, (2, 2, "completed".to_owned()));
    let plans = [(order.id, order.subscription_id.expect("of a plan"))];
    let verdict = installation.verdict(&plans, &[], &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");
}
