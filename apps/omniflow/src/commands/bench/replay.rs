//! `replay`: read a whole log in position order as typed events, page by page as the projections do.

use std::sync::Arc;

use domain::{aggregate::Decide, entitlement::Entitlement, order::Order};
use futures_util::TryStreamExt as _;
use sqlx::{PgPool, Row as _};
use store::{Decoder, event_reader};

use super::{
    Ground, Report, Shape, Side, compare,
    interleave::Subject,
    seed::{Case, Rows, currency, metadata_text},
};
use crate::failure::Failure;

/// Events of one page.
const PAGE: i64 = 1_000;

/// Runs the scenario: one task a side, each round at least once over the whole log.
pub(crate) async fn run(ground: &Ground, shape: Shape, events: u32) -> Result<Report, Failure> {
    let subject = Subject {
        scenario: "replay",
        unit: "event",
        raw_is: "one SELECT of the payloads by position, each decoded straight into its event type",
    };
    let pool = ground.general_pool(2).await?;
    fill(&pool, usize::try_from(events).unwrap_or(usize::MAX)).await?;
    ground.vacuum().await?;
    let last: i64 = sqlx::query_scalar("select coalesce(max(position), 0) from events")
        .fetch_one(&pool)
        .await?;
    let ours = Ours {
        pool: pool.clone(),
        last,
    };
    compare(
        subject,
        &Arc::new(ours),
        &Arc::new(Raw { pool }),
        Shape { tasks: 1, ..shape },
    )
    .await
}

/// Orders and entitlements, as a shop leaves them: six events a case.
pub(crate) async fn fill(pool: &PgPool, events: usize) -> Result<(), Failure> {
    let (currency, metadata) = (currency()?, metadata_text()?);
    let mut written = 0_usize;
    while written < events {
        let mut rows = Rows::default();
        while rows.len() < 2_000 {
            Case::new().seed(&mut rows, &metadata, currency)?;
        }
        written = written.saturating_add(rows.len());
        rows.insert(pool, &metadata).await?;
    }
    Ok(())
}

/// As a projection reads.
struct Ours {
    pool: PgPool,
    last: i64,
}

impl Ours {
    async fn all<A: Decide>(&self) -> Result<u64, Failure> {
        let decoder = Decoder::<A>::default();
        let mut connection = self.pool.acquire().await?;
        let (mut after, mut read) = (0, 0_u64);
        loop {
            let page = event_reader::read_in(&mut connection, &decoder, after, self.last, PAGE).await?;
            if let Some(unreadable) = page.unreadable {
                return Err(Failure::unavailable(unreadable));
            }
            let Some(last) = page.last else { return Ok(read) };
            after = last;
            read = read.saturating_add(u64::try_from(page.events.len()).unwrap_or_default());
        }
    }
}

impl Side for Ours {
    type Task = ();

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        Ok(self
            .all::<Order>()
            .await?
            .saturating_add(self.all::<Entitlement>().await?))
    }
}

/// Plain SQL.
struct Raw {
    pool: PgPool,
}

impl Raw {
    async fn all<A: Decide>(&self) -> Result<u64, Failure> {
        let mut rows = sqlx::query("select payload::text from events where aggregate_type = $1 order by position")
            .bind(A::TYPE)
            .fetch(&self.pool);
        let mut read = 0_u64;
        while let Some(row) = rows.try_next().await? {
            let payload: &str = row.try_get(0)?;
            serde_json::from_str::<A::Event>(payload).map_err(Failure::unavailable)?;
            read = read.saturating_add(1);
        }
        Ok(read)
    }
}

impl Side for Raw {
    type Task = ();

    fn task(&self) {}

    async fn step(&self, (): &mut ()) -> Result<u64, Failure> {
        Ok(self
            .all::<Order>()
            .await?
            .saturating_add(self.all::<Entitlement>().await?))
    }
}
