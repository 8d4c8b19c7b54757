//! The ledger of periodic passes: who ran last, and whether it went well.

use std::time::Duration;

use serde_json::Value;
use store::{StoreError, dead_letters, dead_letters::NewDeadLetter, pass_runs};

use crate::{Service, fulfillment::Fault};

/// Kind of the queue's jobs, of dead letters and of metrics.
pub const KIND: &str = "periodic_task";

/// A pass that began.
#[derive(Clone, Debug)]
pub struct PassRun {
    task: &'static str,
    started_at: domain::time::Timestamp,
}

impl Service {
    /// Begins a run; nothing when one that did not fail started less than nine tenths of `interval` ago.
    ///
    /// # Errors
    /// [`Fault`] when the store fails.
    pub async fn begin_pass(&self, task: &'static str, interval: Duration) -> Result<Option<PassRun>, Fault> {
        let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
        let started_at = pass_runs::begin_in(&mut conn, task, interval).await?;
        Ok(started_at.map(|started_at| PassRun { task, started_at }))
    }

    /// Records how it ended. A success deals with what earlier failures left.
    ///
    /// # Errors
    /// [`Fault`] when the store fails.
    pub async fn end_pass(&self, run: &PassRun, succeeded: bool, detail: &Value) -> Result<(), Fault> {
        let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
        pass_runs::end_in(&mut conn, run.task, run.started_at, succeeded, detail).await?;
        if succeeded {
            dead_letters::resolve_in(&mut conn, KIND, run.task).await?;
        }
        Ok(())
    }

    /// Keeps a failure longer than the queue keeps its job; one open entry for one pass and code.
    ///
    /// # Errors
    /// [`Fault`] when the store fails.
    pub async fn bury_pass(&self, task: &str, job_id: i64, code: &str) -> Result<(), Fault> {
        let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
        let letter = NewDeadLetter {
            kind: KIND,
            subject: task,
            job_id: Some(job_id),
            attempts: 1,
            code,
            correlation_id: "",
        };
        Ok(dead_letters::insert_in(&mut conn, letter).await?)
    }
}
