//! Jobs that ended without success, kept beyond the queue's own rows. Nothing can be missed: the queue removes such a row only when it
//! stands here, and a reader records what is new before it reads.

use std::time::Duration;

use queue::{DeadJob, Subject};
use serde::Serialize;
use store::{
    SideRows,
    dead_jobs::{self, NewDeadJob},
    dead_letters::{self, NewDeadLetter},
};

use super::Page;
use crate::{Cursor, Error, Refusal, Service, passes};

pub use store::dead_jobs::Stored as DeadLetterRow;

/// Jobs that one statement reads.
const BATCH: i64 = 200;
/// Batches of one sweep: more is left to the next.
const BATCHES: u32 = 25;
/// How long the queue keeps a cancelled job.
const KEEP_CANCELLED: Duration = Duration::from_hours(24);
/// How long the queue keeps a discarded job.
const KEEP_DISCARDED: Duration = Duration::from_hours(7 * 24);
/// How long the record is kept once nobody has to look at it.
const KEEP_RECORD: Duration = Duration::from_hours(90 * 24);
/// Longest last error that is kept, in characters.
const LONGEST_ERROR: usize = 500;

/// Which dead letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLetterSearch {
    /// Only of this kind.
    pub kind: Option<String>,
    /// `cancelled` or `discarded`.
    pub state: Option<String>,
    /// Only what still waits for a person.
    pub open_only: bool,
    /// What the page before gave.
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: i64,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterReport {
    /// Jobs of kinds that the leader's version does not know, lost with their workers: they wait for a worker that knows them.
    pub restored: u64,
    /// Ended jobs that were not recorded yet.
    pub found: u64,
    /// Recorded now.
    pub recorded: u64,
    /// Could not be recorded now.
    pub failed: u64,
    /// Removed from the queue.
    pub removed_jobs: u64,
    /// Removed from the record.
    pub removed_records: u64,
}

impl Service {
    /// Jobs that ended without success, newest record first.
    ///
    /// # Errors
    /// [`Error::Refused`] (`invalid_state`, `invalid_cursor`), `jobs_unavailable`, or a fault of the store.
    pub async fn list_dead_letters(&self, search: &DeadLetterSearch) -> Result<Page<DeadLetterRow>, Error> {
        if !matches!(search.state.as_deref(), None | Some("cancelled" | "discarded")) {
            return Err(Refusal::new(400, "invalid_state", "a dead letter is cancelled or discarded").into());
        }
        let before = search.cursor.as_deref().map(Cursor::dead_letter).transpose()?;
        self.record_dead_jobs(&mut DeadLetterReport::default()).await?;
        let limit = search.limit.clamp(1, 200);
        let filter = dead_jobs::Filter {
            kind: search.kind.clone(),
            state: search.state.clone(),
            open_only: search.open_only,
            before,
            limit: limit.saturating_add(1),
        };
        let rows = dead_jobs::list(self.store.pool(), &filter).await?;
        Ok(Page::cut(rows, limit, |row| Cursor::DeadLetter(row.id)))
    }

    /// Records every job that ended without success, and removes what was kept long enough.
    ///
    /// # Errors
    /// `jobs_unavailable`, or a fault of the store. What was recorded stays.
    pub async fn sweep_dead_letters(&self) -> Result<DeadLetterReport, Error> {
        let mut report = DeadLetterReport::default();
        self.record_dead_jobs(&mut report).await?;
        let queue = self.job_client()?;
        report.removed_jobs = queue.prune_recorded(KEEP_CANCELLED, KEEP_DISCARDED, BATCH).await?;
        report.removed_records = dead_jobs::prune(self.store.pool(), KEEP_RECORD, BATCH).await?;
        Ok(report)
    }

    async fn record_dead_jobs(&self, report: &mut DeadLetterReport) -> Result<(), Error> {
        let queue = self.job_client()?;
        for _ in 0..BATCHES {
            let restored = queue.restore_strangers(BATCH).await?;
            report.restored = report.restored.saturating_add(restored);
            if i64::try_from(restored).is_ok_and(|count| count < BATCH) {
                break;
            }
        }
        if report.restored > 0 {
            tracing::warn!(
                count = report.restored,
                "lost jobs of kinds that the leader does not know wait again"
            );
        }
        for _ in 0..BATCHES {
            let jobs = queue.unrecorded_dead(BATCH).await?;
            let last = i64::try_from(jobs.len()).is_ok_and(|count| count < BATCH);
            let mut recorded: u64 = 0;
            for job in jobs {
                report.found = report.found.saturating_add(1);
                match self.record_dead_job(&job).await {
                    Ok(new) => recorded = recorded.saturating_add(u64::from(new)),
                    Err(error) => {
                        tracing::warn!(job_id = job.id, code = error.code(), "an ended job was not recorded");
                        report.failed = report.failed.saturating_add(1);
                    }
                }
            }
            report.recorded = report.recorded.saturating_add(recorded);
            // Without progress the same jobs would come again.
            if last || recorded == 0 {
                break;
            }
        }
        Ok(())
    }

    /// `false` when somebody else recorded it meanwhile.
    async fn record_dead_job(&self, job: &DeadJob) -> Result<bool, Error> {
        let subject = subject(job);
        let last_error = secrets::redact::line(&job.last_error, LONGEST_ERROR);
        let mut rows = SideRows::begin(self.store.pool()).await?;
        let ended = NewDeadJob {
            job_id: job.id,
            finalized_at: job.finalized_at,
            kind: &job.kind,
            queue: &job.queue,
            state: &job.state,
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            subject: &subject,
            args_summary: &job.subject.summary(),
            error_count: job.error_count,
            last_error: &last_error,
            correlation_id: &job.correlation_id,
            created_at: job.created_at,
            attempted_at: job.attempted_at,
        };
        if !dead_jobs::record_in(rows.conn(), ended).await? {
            rows.rollback().await;
            return Ok(false);
        }
        if waits_for_a_person(job) {
            let letter = NewDeadLetter {
                kind: &job.kind,
                subject: &subject,
                job_id: Some(job.id),
                attempts: job.attempt,
                code: code(job),
                correlation_id: &job.correlation_id,
            };
            dead_letters::insert_since_in(rows.conn(), letter, job.attempted_at).await?;
        }
        fail::fail_point!("dead_letter.before_commit", |_| Err(Error::InProgress));
        rows.commit().await?;
        fail::fail_point!("dead_letter.after_commit", |_| Err(Error::InProgress));
        Ok(true)
    }
}

/// As the use cases name it in their own dead letters.
fn subject(job: &DeadJob) -> String {
    match &job.subject {
        Subject::Operation(id) | Subject::Order(id) => id.to_string(),
        Subject::Pass(name) => name.clone(),
        Subject::Unknown => format!("job:{}", job.id),
    }
}

/// An operation and a delivery write their own dead letter when *they* end: until then another job comes. A pass that was cut down with its
/// worker, and a kind that we do not know, have nobody else to speak for them. What an operator cancelled needs nobody.
fn waits_for_a_person(job: &DeadJob) -> bool {
    job.state == "discarded" && matches!(job.subject, Subject::Pass(_) | Subject::Unknown)
}

/// The stable code behind an end: our own handlers record nothing but codes.
fn code(job: &DeadJob) -> &str {
    let is_code = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        (1..=64).contains(&text.len()) && text.bytes().all(plain)
    };
    if job.was_lost() && job.kind == passes::KIND {
        // The ledger of passes says the same when it finds out first: one letter.
        passes::LOST
    } else if job.was_lost() {
        "job_lost"
    } else if job.kind == passes::KIND && is_code(&job.last_error) {
        &job.last_error
    } else {
        "job_discarded"
    }
}
