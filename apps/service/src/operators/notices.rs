//! An operator's word about notices: send one again, send a trial.

use domain::notices::Kind;
use serde_json::{Value, json};
use store::{
    SideRows,
    audit::{self, Category, Target},
    notices,
};

use crate::{Caller, Error, Refusal, Service};

impl Service {
    /// Sends a notice that failed or was suppressed again, with a new budget.
    ///
    /// # Errors
    /// [`Error::Refused`] (`notice_not_retryable`), or a fault of the store.
    pub async fn retry_notice(&self, caller: &Caller, notice_id: i64) -> Result<(), Error> {
        let mut rows = SideRows::begin(self.store.pool()).await?;
        if !notices::retry_in(rows.conn(), notice_id).await? {
            return Err(Refusal::new(
                422,
                "notice_not_retryable",
                "there is no such notice, or it neither failed nor was it suppressed",
            )
            .into());
        }
        let id = notice_id.to_string();
        self.noted(rows, caller, (id.as_str(), json!({}))).await
    }

    /// Sends every notice that failed again; answers how many.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn retry_failed_notices(&self, caller: &Caller) -> Result<u64, Error> {
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let count = notices::retry_failed_in(rows.conn()).await?;
        if count == 0 {
            rows.rollback().await;
            return Ok(0);
        }
        self.noted(rows, caller, ("failed", json!({ "count": count }))).await?;
        Ok(count)
    }

    async fn noted(&self, mut rows: SideRows, caller: &Caller, (id, facts): (&str, Value)) -> Result<(), Error> {
        let target = Target { kind: "notice", id };
        let record = caller.audit(
            "admin.notice.retried",
            Category::System,
            target,
            facts,
            self.clock.now(),
        );
        audit::record_in(rows.conn(), record).await?;
        Ok(rows.commit().await?)
    }

    /// Queues a trial notice and answers its key.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn queue_notice_test(&self) -> Result<String, Error> {
        let key = format!("test:{}", self.ids.next());
        let payload = json!({ "source": "omniflow notices test", "status": "ok" });
        let mut rows = SideRows::begin(self.store.pool()).await?;
        notices::insert_in(rows.conn(), Kind::NoticeTest.as_str(), &key, &payload).await?;
        rows.commit().await?;
        Ok(key)
    }
}
