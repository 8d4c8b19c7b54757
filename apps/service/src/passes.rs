//! The ledger of periodic passes: who runs, who ran last, and whether it went well.

use std::time::Duration;

use serde_json::Value;
use store::{
    SideRows, StoreError, dead_letters,
    dead_letters::NewDeadLetter,
    pass_runs::{self, Begin, NewRun, PassRow},
};

use crate::{Service, fulfillment::Fault};

/// Kind of the queue's jobs, of dead letters and of metrics.
pub const KIND: &str = "periodic_task";

/// A run that is not heard of for so long counts as killed.
pub const LEASE: Duration = Duration::from_secs(30);

/// Code of a run whose process died.
pub(crate) const LOST: &str = "run_lost";

/// A run that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Name of the pass.
    pub task: &'static str,
    /// Its interval; `None` asks for a run now, whenever the last one was.
    pub every: Option<Duration>,
    /// Names the process.
    pub runner: &'a str,
    /// The queue's job, where there is one.
    pub job_id: Option<i64>,
}

/// A pass that began.
#[derive(Clone, Debug)]
pub struct PassRun {
    task: &'static str,
    started_at: domain::time::Timestamp,
    job_id: Option<i64>,
}

impl PassRun {
    /// Name of the pass.
    pub const fn task(&self) -> &'static str {
        self.task
    }

    /// When it began, by the database's clock.
    pub const fn started_at(&self) -> domain::time::Timestamp {
        self.started_at
    }
}

/// What became of a wanted run.
#[derive(Clone, Debug)]
pub enum Begun {
    /// It began.
    Run(PassRun),
    /// The last one began less than nine tenths of the interval ago and did not fail.
    NotDue,
    /// Another one is on.
    Busy {
        /// Since then.
        since: domain::time::Timestamp,
        /// Names its process.
        runner: String,
    },
}

impl Service {
    /// Begins a run, unless one is on or none is due. Runs that were killed since, of any pass, are noted as failed and leave a dead letter.
    ///
    /// # Errors
    /// [`Fault`] when the store fails.
    pub async fn begin_pass(&self, wanted: Wanted<'_>) -> Result<Begun, Fault> {
        let mut rows = SideRows::begin(self.store.pool()).await?;
        for lost in pass_runs::close_lost_in(rows.conn()).await? {
            tracing::error!(task = lost.task, code = LOST, "periodic task failed");
            dead_letters::insert_in(rows.conn(), letter(&lost.task, lost.job_id, LOST)).await?;
        }
        let new = NewRun {
            task: wanted.task,
            every: wanted.every,
            lease: LEASE,
            runner: wanted.runner,
            job_id: wanted.job_id,
        };
        let begin = pass_runs::begin_in(rows.conn(), new).await?;
        rows.commit().await?;
        Ok(match begin {
            Begin::Begun(started_at) => Begun::Run(PassRun {
                task: wanted.task,
                started_at,
                job_id: wanted.job_id,
            }),
            Begin::NotDue => Begun::NotDue,
            Begin::Busy { since, runner } => Begun::Busy { since, runner },
        })
    }

    /// Says that a run is alive; `false` when it was taken to be killed meanwhile, and must stop.
    ///
    /// # Errors
    /// [`Fault`] when the store fails.
    pub async fn beat_pass(&self, run: &PassRun) -> Result<bool, Fault> {
        Ok(pass_runs::beat(self.store.pool(), run.task, run.started_at, LEASE).await?)
    }

    /// Records the end of a run: its figures, or the code of its failure. A failure leaves a dead letter, which outlives the queue's job; a
    /// success closes those that are open.
    ///
    /// # Errors
    /// [`Fault`] when the store fails.
    pub async fn end_pass(&self, run: &PassRun, ended: Result<&Value, &str>) -> Result<(), Fault> {
        let mut rows = SideRows::begin(self.store.pool()).await?;
        match ended {
            Ok(report) => {
                pass_runs::end_in(rows.conn(), run.task, run.started_at, true, report).await?;
                dead_letters::resolve_in(rows.conn(), KIND, run.task).await?;
            }
            Err(code) => {
                let detail = serde_json::json!({ "code": code });
                pass_runs::end_in(rows.conn(), run.task, run.started_at, false, &detail).await?;
                dead_letters::insert_in(rows.conn(), letter(run.task, run.job_id, code)).await?;
            }
        }
        Ok(rows.commit().await?)
    }

    /// Records that a run was cut off because its process stops: no failure of its own, and the next one need not wait.
    ///
    /// # Errors
    /// [`Fault`] when the store fails.
    pub async fn interrupt_pass(&self, run: &PassRun) -> Result<(), Fault> {
        let mut conn = self.store.pool().acquire().await.map_err(StoreError::from)?;
        let detail = serde_json::json!({ "code": "interrupted" });
        Ok(pass_runs::end_in(&mut conn, run.task, run.started_at, false, &detail).await?)
    }

    /// The last run of every pass that ever ran.
    ///
    /// # Errors
    /// [`StoreError`] when the list cannot be read.
    pub async fn pass_runs(&self) -> Result<Vec<PassRow>, StoreError> {
        pass_runs::list(self.store.pool()).await
    }
}

fn letter<'a>(task: &'a str, job_id: Option<i64>, code: &'a str) -> NewDeadLetter<'a> {
    NewDeadLetter {
        kind: KIND,
        subject: task,
        job_id,
        attempts: 1,
        code,
        correlation_id: "",
    }
}
