//! Kind `fulfillment`: claim, call the panel, record.

use std::{sync::Arc, time::Duration};

use domain::{
    entitlement::OperationKind,
    fulfillment::{FailureClass, retry_delay},
};
use ports::{clock::Clock, panel::PanelWriter};
use queue::{Failure, FulfillmentArgs, Handler, Outcome, Run};
use service::fulfillment::{Claim, Claimed, Fault, Fulfillment, Handed, JobRef, KIND, Look, Looked, Recorded, Shown};
use tokio::time::Instant;

use crate::{
    PanelPause,
    meter::{About, metered},
    push::{Found, SendError, Sender, find, push, push_found},
    sender::RECORD_UNTIL,
};

/// Wait after a claim that the database did not answer: nothing is known, so nothing counts.
const NO_ANSWER: Duration = Duration::from_secs(2);

/// Wait of a run that another one overtook.
const OVERTAKEN: Duration = Duration::from_secs(2);

/// What comes before a push.
enum Compared {
    /// To a user that was found already, if somebody looked.
    Push(Option<Found>),
    /// Nothing is to be sent.
    Handed(Outcome),
}

enum NotCompared {
    Unread(SendError),
    Unrecorded(Fault),
}

/// Runs operations.
#[derive(Clone, Debug)]
pub struct FulfillmentJobs {
    fulfillment: Fulfillment,
    panel: Arc<dyn PanelWriter>,
    pause: PanelPause,
    clock: Arc<dyn Clock>,
}

impl FulfillmentJobs {
    /// Over the use cases and the one panel.
    pub fn new(
        fulfillment: Fulfillment,
        panel: Arc<dyn PanelWriter>,
        pause: PanelPause,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            fulfillment,
            panel,
            pause,
            clock,
        }
    }

    async fn attempt(&self, run: Run, args: FulfillmentArgs) -> Result<Outcome, Failure> {
        let started = Instant::now();
        if let Some(rest) = self.pause.rest() {
            return Ok(Outcome::Snooze(rest));
        }
        let job = JobRef {
            job_id: run.job_id,
            attempt: run.attempt,
        };
        match self.fulfillment.claim(job, args.operation_id).await {
            Ok(Claim::Run(claimed)) => {
                fail::fail_point!("fulfillment.claimed_before_call");
                self.call_and_record(&run, &claimed, started).await
            }
            Ok(Claim::Over) => Ok(Outcome::Done),
            Ok(Claim::Wait(span)) => Ok(Outcome::Snooze(span)),
            Err(fault) => unclaimed(&run, &args, &fault),
        }
    }

    async fn call_and_record(&self, run: &Run, claimed: &Claimed, started: Instant) -> Result<Outcome, Failure> {
        let until = started + RECORD_UNTIL;
        let mut sender = Sender::new(started, run.cancelled.clone());
        let pushed = match self.compare(claimed, &mut sender, until).await {
            Ok(Compared::Push(found)) => {
                if let Some(held) = self.held(claimed, until).await? {
                    return Ok(held);
                }
                self.push(claimed, &mut sender, found).await
            }
            Ok(Compared::Handed(outcome)) => return Ok(outcome),
            Err(NotCompared::Unread(error)) => Err(error),
            Err(NotCompared::Unrecorded(fault)) => return Err(unrecorded(claimed, &fault)),
        };
        fail::fail_point!("fulfillment.called_before_record");
        let recorded = match pushed {
            Ok(shown) => match self.fulfillment.record_shown(claimed, shown, until).await {
                Ok(Recorded::Ended) => {
                    came_to(claimed, "applied");
                    Ok(Outcome::Done)
                }
                Ok(Recorded::FencedOut) => Ok(overtaken(claimed)),
                Err(fault) => Err(unrecorded(claimed, &fault)),
            },
            Err(SendError::Stopped) => self.hand_back(run, claimed, &sender, until).await,
            Err(error) => self.record_failure(claimed, &sender, &error, until).await,
        };
        fail::fail_point!("fulfillment.after_record");
        recorded
    }

    /// A window of maintenance holds a `reconcile` back once it has looked.
    async fn held(&self, claimed: &Claimed, until: Instant) -> Result<Option<Outcome>, Failure> {
        match self.fulfillment.hold_after_read(claimed, until).await {
            Ok(None) => Ok(None),
            Ok(Some(Handed::Retry(span) | Handed::Snooze(span))) => {
                came_to(claimed, "held");
                Ok(Some(Outcome::Snooze(span)))
            }
            Ok(Some(Handed::Ended)) => Ok(Some(Outcome::Done)),
            Ok(Some(Handed::FencedOut)) => Ok(Some(overtaken(claimed))),
            Err(fault) => Err(unrecorded(claimed, &fault)),
        }
    }

    /// A `reconcile` looks before it pushes, and what it saw is recorded before anything is sent. Whatever holds pushes back belongs behind
    /// this: a look changes nothing at the panel.
    async fn compare(&self, claimed: &Claimed, sender: &mut Sender, until: Instant) -> Result<Compared, NotCompared> {
        if claimed.kind != OperationKind::Reconcile {
            return Ok(Compared::Push(None));
        }
        let taken_at = self.clock.now();
        let user = find(sender, self.panel.as_ref(), claimed, taken_at)
            .await
            .map_err(NotCompared::Unread)?;
        let look = Look { user, taken_at };
        fail::fail_point!("fulfillment.looked_before_record");
        let looked = self.fulfillment.record_look(claimed, &look, until).await;
        fail::fail_point!("fulfillment.look_recorded_before_push");
        match looked.map_err(NotCompared::Unrecorded)? {
            Looked::Push { reopen } => Ok(Compared::Push(Some(Found {
                user: look.user,
                reopen,
            }))),
            Looked::Agreed => {
                came_to(claimed, "applied");
                Ok(Compared::Handed(Outcome::Done))
            }
            Looked::FencedOut => Ok(Compared::Handed(overtaken(claimed))),
        }
    }

    async fn push(&self, claimed: &Claimed, sender: &mut Sender, found: Option<Found>) -> Result<Shown, SendError> {
        let (panel, now) = (self.panel.as_ref(), self.clock.now());
        match found {
            Some(found) => push_found(sender, panel, claimed, found, now).await,
            None => push(sender, panel, claimed, now).await,
        }
    }

    async fn record_failure(
        &self,
        claimed: &Claimed,
        sender: &Sender,
        error: &SendError,
        until: Instant,
    ) -> Result<Outcome, Failure> {
        let failure = sender.failure(error);
        tracing::warn!(
            operation_id = %claimed.operation_id, attempt = claimed.attempt, code = failure.code,
            correlation_id = claimed.correlation_id, "the panel was not converged"
        );
        let limited = matches!(failure.class, FailureClass::RateLimited { .. });
        match self.fulfillment.record_failure(claimed, &failure, until).await {
            Ok(Handed::Retry(after)) => {
                came_to(claimed, "retrying");
                Err(Failure::Retry {
                    after,
                    code: failure.code,
                })
            }
            Ok(Handed::Snooze(span)) => {
                came_to(claimed, if limited { "rate_limited" } else { "interrupted" });
                if limited {
                    self.pause.extend(span);
                }
                Ok(Outcome::Snooze(span))
            }
            Ok(Handed::Ended) => {
                came_to(claimed, "failed");
                Ok(Outcome::Done)
            }
            Ok(Handed::FencedOut) => Ok(overtaken(claimed)),
            Err(fault) => Err(unrecorded(claimed, &fault)),
        }
    }

    /// The process stops, or somebody cancelled the job itself: nothing is counted, and what was sent is remembered.
    async fn hand_back(
        &self,
        run: &Run,
        claimed: &Claimed,
        sender: &Sender,
        until: Instant,
    ) -> Result<Outcome, Failure> {
        came_to(claimed, "interrupted");
        match self.fulfillment.record_interrupted(claimed, sender.sent, until).await {
            Ok(Handed::Ended) => Ok(Outcome::Done),
            Ok(_) | Err(_) if run.is_stopping() => Err(Failure::Interrupted),
            Ok(_) => Ok(Outcome::Snooze(Duration::ZERO)),
            Err(fault) => Err(unrecorded(claimed, &fault)),
        }
    }
}

impl Handler<FulfillmentArgs> for FulfillmentJobs {
    fn retry_delay(&self, attempt: i32) -> Duration {
        retry_delay(attempt)
    }

    async fn run(&self, run: Run, args: FulfillmentArgs) -> Result<Outcome, Failure> {
        let id = args.operation_id;
        metered(
            KIND,
            &run,
            About::Operation(id),
            Box::pin(self.attempt(run.clone(), args)),
        )
        .await
    }
}

fn unclaimed(run: &Run, args: &FulfillmentArgs, fault: &Fault) -> Result<Outcome, Failure> {
    let code = fault.code().to_owned();
    if fault.is_passing() {
        tracing::warn!(operation_id = %args.operation_id, code, "an operation could not be claimed");
        return Ok(Outcome::Snooze(NO_ANSWER));
    }
    tracing::error!(operation_id = %args.operation_id, code, error = %fault, "an operation cannot be claimed");
    Err(Failure::Retry {
        after: retry_delay(run.attempt),
        code,
    })
}

/// Counts what a run that may have called the panel came to.
fn came_to(claimed: &Claimed, result: &'static str) {
    let operation = match &claimed.kind {
        // Text of a later version has no place in a label.
        OperationKind::Unknown(_) => "unknown".to_owned(),
        kind => kind.as_str().to_owned(),
    };
    metrics::counter!("omniflow_fulfillment_results_total", "operation" => operation, "result" => result).increment(1);
}

fn overtaken(claimed: &Claimed) -> Outcome {
    came_to(claimed, "fenced_out");
    Outcome::Snooze(OVERTAKEN)
}

/// Nothing was recorded: the lease ends by itself, and the next run takes it over and pushes once more.
fn unrecorded(claimed: &Claimed, fault: &Fault) -> Failure {
    came_to(claimed, "unrecorded");
    tracing::error!(
        operation_id = %claimed.operation_id, code = fault.code(), error = %fault,
        correlation_id = claimed.correlation_id, "the outcome of a run was not recorded"
    );
    Failure::Retry {
        after: service::fulfillment::LEASE,
        code: fault.code().to_owned(),
    }
}
