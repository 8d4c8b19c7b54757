//! 32 writers that pause and roll back at random, and readers that follow them: nothing skipped, nothing out of order.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use sqlx::{PgPool, postgres::PgPoolOptions};
use store::{event_log::read_range, high_water::Observer};
use tests::TestDb;
use tokio::sync::{Mutex, watch};

const WRITERS: usize = 32;
const EVENTS: usize = 100_000;
const STREAMS: usize = 96;
/// Most events of one commit.
const MOST: u32 = 80;

/// Streams whose next sequence is known; held while a transaction on one is open, as the stream's key would hold it.
type Streams = Arc<Vec<Mutex<i64>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_thousand_events_of_32_writers_are_followed_without_a_gap() {
    let database = TestDb::own_cluster(false).await;
    let pool = PgPoolOptions::new()
        .max_connections(u32::try_from(WRITERS).unwrap() + 6)
        .test_before_acquire(false)
        .connect(&database.url)
        .await
        .unwrap();
    let (observer, settled) = Observer::new(pool.clone());
    let observing = tokio::spawn(observer.run());
    let streams: Streams = Arc::new((0..STREAMS).map(|_| Mutex::new(0)).collect());
    let written = Arc::new(AtomicUsize::new(0));
    let done = watch::Sender::new(0_i64);
    let readers: Vec<_> = (0..2)
        .map(|_| tokio::spawn(follow(pool.clone(), settled.clone(), done.subscribe())))
        .collect();
    drop(settled);
    let seed = std::process::id();
    println!("seed {seed}");
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(
            pool.clone(),
            Arc::clone(&streams),
            Arc::clone(&written),
            chance(seed, writer),
        ));
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    let (count, last): (i64, i64) = sqlx::query_as("select count(*), max(position) from events")
        .fetch_one(&pool)
        .await
        .unwrap();
    done.send_replace(last);
    for reader in readers {
        let read = tokio::time::timeout(Duration::from_mins(1), reader)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(i64::try_from(read).unwrap(), count, "events skipped");
    }
    assert!(
        count >= i64::try_from(EVENTS).unwrap() && last > count,
        "{count} events, positions up to {last}: rollbacks left gaps"
    );
    observing.await.unwrap().unwrap();
}

/// Reads what the fence has passed, to the end; answers how many events it saw.
async fn follow(pool: PgPool, mut settled: watch::Receiver<i64>, done: watch::Receiver<i64>) -> usize {
    let mut connection = pool.acquire().await.unwrap();
    let (mut cursor, mut seen) = (0, 0);
    let mut sequences: HashMap<String, i64> = HashMap::new();
    loop {
        let head = *settled.borrow_and_update();
        while cursor < head {
            let events = read_range(&mut *connection, cursor, head, 2000).await.unwrap();
            for event in &events {
                assert!(event.position > cursor, "positions only grow");
                cursor = event.position;
                let before = sequences
                    .insert(event.aggregate_id.clone(), event.sequence)
                    .unwrap_or(0);
                assert_eq!(
                    event.sequence,
                    before + 1,
                    "{} at {}",
                    event.aggregate_id,
                    event.position
                );
            }
            seen += events.len();
            if events.len() < 2000 {
                cursor = head;
            }
        }
        let end = *done.borrow();
        if end > 0 && cursor >= end {
            return seen;
        }
        let _ = tokio::time::timeout(Duration::from_millis(50), settled.changed()).await;
    }
}

async fn write(pool: PgPool, streams: Streams, written: Arc<AtomicUsize>, mut chance: impl FnMut(u32) -> u32 + Send) {
    while written.load(Ordering::Relaxed) < EVENTS {
        let stream = usize::try_from(chance(u32::try_from(STREAMS).unwrap())).unwrap();
        let mut next = streams.get(stream).unwrap().lock().await;
        let rows = i64::from(chance(MOST) + 1);
        // One statement that commits itself, as the settle path, or a transaction that pauses and maybe gives up.
        let commits = if chance(3) == 0 {
            append(&mut pool.acquire().await.unwrap(), stream, *next, rows).await;
            true
        } else {
            let mut transaction = pool.begin().await.unwrap();
            append(&mut transaction, stream, *next, rows).await;
            tokio::time::sleep(Duration::from_millis(u64::from(chance(6)))).await;
            let commits = chance(7) > 0;
            if commits {
                transaction.commit().await.unwrap();
            } else {
                transaction.rollback().await.unwrap();
            }
            commits
        };
        if commits {
            *next += rows;
            written.fetch_add(usize::try_from(rows).unwrap(), Ordering::Relaxed);
        }
    }
}

async fn append(connection: &mut sqlx::PgConnection, stream: usize, after: i64, rows: i64) {
    sqlx::query(
        "insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata)
         select 'order', $1, n, 'order.expired', '1', '{\"type\": \"order.expired\"}', '{}' from generate_series($2::bigint, $3::bigint) n",
    )
    .bind(format!("stream-{stream}"))
    .bind(after + 1)
    .bind(after + rows)
    .execute(connection)
    .await
    .unwrap();
}

/// Numbers below a bound, the same for the same seed.
fn chance(seed: u32, writer: usize) -> impl FnMut(u32) -> u32 + Send {
    let seed = (u64::from(seed) << 32) | u64::try_from(writer).unwrap();
    let mut numbers = StdRng::seed_from_u64(seed);
    move |bound| numbers.random_range(0..bound)
}
