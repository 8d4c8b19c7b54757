//! Telling operators, against a channel that does as it is told.

mod channel;
mod crashes;
mod group;
mod sending;

use std::sync::Arc;

use domain::notices::{Cap, Kind};
use ports::{ids::SystemIds, notices::ChatId};
use serde_json::json;
use service::{
    Caller, Service,
    notice_dispatch::{NoticeDispatch, Report},
};
use sqlx::PgPool;
use store::{Store, notices::NoticeRow};

pub(crate) use self::channel::FakeChannel;
use crate::world::World;

pub(crate) const GROUP: i64 = -1_001;

/// A database, a channel, and what sends from one to the other.
pub(crate) struct Desk {
    pub(crate) channel: FakeChannel,
    pub(crate) pool: PgPool,
    pub(crate) service: Service,
    _world: World,
}

impl Desk {
    pub(crate) async fn new() -> Self {
        let world = World::racing().await;
        Self {
            channel: FakeChannel::default(),
            pool: world.pool.clone(),
            service: world.service.clone(),
            _world: world,
        }
    }

    pub(crate) fn dispatch(&self) -> NoticeDispatch {
        self.dispatch_to(GROUP, Cap::default()).with_pace(1_000)
    }

    pub(crate) fn dispatch_to(&self, group: i64, cap: Cap) -> NoticeDispatch {
        NoticeDispatch::new(
            Store::new(self.pool.clone()),
            Arc::new(SystemIds),
            Arc::new(self.channel.clone()),
            ChatId(group),
            cap,
        )
    }

    pub(crate) async fn queue(&self, kind: Kind, key: &str) {
        let mut conn = self.pool.acquire().await.unwrap();
        let queued = store::notices::insert_in(&mut conn, kind.as_str(), key, &json!({ "orderId": key })).await;
        assert!(queued.unwrap(), "{key} was queued before");
    }

    pub(crate) async fn queue_many(&self, kind: Kind, count: usize) {
        for number in 0..count {
            self.queue(kind, &format!("{kind}-{number:03}")).await;
        }
    }

    pub(crate) async fn run(&self) -> Report {
        self.dispatch().run_once(|| true).await.unwrap()
    }

    pub(crate) async fn row(&self, kind: Kind, key: &str) -> NoticeRow {
        store::notices::find(&self.pool, kind, key).await.unwrap().unwrap()
    }

    pub(crate) async fn status(&self, kind: Kind, key: &str) -> (String, Option<String>, i32) {
        let row = self.row(kind, key).await;
        (row.status, row.error_code, row.attempts)
    }

    pub(crate) async fn retry(&self, kind: Kind, key: &str) -> Result<(), service::Error> {
        let id = self.row(kind, key).await.notice_id;
        self.service
            .retry_notice(&Caller::new("operator:test", "request"), id)
            .await
    }

    /// As if time had passed: pauses, waits, turns and leases end.
    pub(crate) async fn later(&self) {
        self.sql("update operator_group set paused_until = clock_timestamp(), turn_until = clock_timestamp()")
            .await;
        self.sql(
            "update operator_notices set next_attempt_at = clock_timestamp(),
                    leased_until = case when leased_until is not null then clock_timestamp() end,
                    attempted_at = attempted_at - interval '5 minutes'",
        )
        .await;
    }

    pub(crate) async fn sql(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.pool).await.unwrap();
    }

    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement).fetch_one(&self.pool).await.unwrap()
    }
}

pub(crate) fn answer(status: &str, code: Option<&str>, attempts: i32) -> (String, Option<String>, i32) {
    (status.to_owned(), code.map(str::to_owned), attempts)
}
