//! Kind `goods_delivery`: claim and commit, call the provider, record.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use domain::{
    delivery::{FailureClass, Submission, backoff},
    fulfillment::retry_delay,
};
use futures_util::FutureExt as _;
use ports::goods::AdapterError;
use queue::{Failure, GoodsDeliveryArgs, Handler, Limit, Outcome, Run};
use service::{
    GoodsProviders,
    delivery::{Claim, Deliveries, Fault, Handed, JobRef, KIND, Poll, SUBMISSION, Submit},
};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};

use crate::meter::{About, metered};

/// Goods jobs that run at once in one worker, so that access never starves behind a slow gateway.
const AT_ONCE: usize = 8;

/// Wait of a job that found all places taken.
const NO_PLACE: Duration = Duration::from_secs(1);

/// Wait without a data key.
const NO_KEY: Duration = Duration::from_mins(1);

/// Wait after a claim that the database did not answer.
const NO_ANSWER: Duration = Duration::from_secs(2);

/// A call that has no answer by then is given up.
const CUT_OFF: Duration = Duration::from_secs(100);

/// Records are tried until then. The queue takes a run to be lost at [`SUBMISSION`].
const RECORD_UNTIL: Duration = Duration::from_secs(110);

/// Delivers goods.
#[derive(Clone, Debug)]
pub struct GoodsJobs {
    deliveries: Deliveries,
    providers: GoodsProviders,
    /// Provider credentials can be opened.
    enabled: bool,
    places: Arc<Semaphore>,
}

/// What came of a call.
enum Called<T> {
    Answered(Result<T, AdapterError>),
    /// Nobody knows.
    Unknown(&'static str),
    /// The process stops in the middle.
    Stopped,
}

impl GoodsJobs {
    /// Over the use cases and the providers. Without `enabled` every job waits.
    pub fn new(deliveries: Deliveries, providers: GoodsProviders, enabled: bool) -> Self {
        if !enabled {
            tracing::warn!("digital goods delivery disabled");
        }
        Self {
            deliveries,
            providers,
            enabled,
            places: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    async fn attempt(&self, run: Run, args: GoodsDeliveryArgs) -> Result<Outcome, Failure> {
        if !self.enabled {
            return Ok(Outcome::Snooze(NO_KEY));
        }
        let Ok(_place) = self.places.try_acquire() else {
            return Ok(Outcome::Snooze(NO_PLACE));
        };
        let started = Instant::now();
        let job = JobRef {
            job_id: run.job_id,
            attempt: run.attempt,
        };
        match self.deliveries.claim(job, args.order_id).await {
            Ok(Claim::Submit(submit)) => {
                fail::fail_point!("goods.claimed_before_call");
                self.submit(&run, &submit, started).await
            }
            Ok(Claim::Poll(poll)) => self.poll(&run, &poll, started).await,
            Ok(Claim::Over) => Ok(Outcome::Done),
            Ok(Claim::Wait(span)) => Ok(Outcome::Snooze(span)),
            Err(fault) => unclaimed(&run, &args, &fault),
        }
    }

    async fn submit(&self, run: &Run, submit: &Submit, started: Instant) -> Result<Outcome, Failure> {
        let called = match self.providers.get(&submit.provider) {
            Some(provider) => call(run, started, provider.submit(&submit.request)).await,
            None => Called::Answered(Ok(not_configured())),
        };
        fail::fail_point!("goods.called_before_record");
        let outcome = match called {
            Called::Answered(Ok(outcome)) => outcome,
            Called::Answered(Err(error)) => {
                tracing::error!(order_id = %submit.request.order_id, %error, "a goods adapter failed");
                ambiguous("adapter_error")
            }
            Called::Unknown(code) => ambiguous(code),
            // The submission stays without an outcome; who finds it after its deadline parks it.
            Called::Stopped => return Err(Failure::Interrupted),
        };
        metrics::counter!("omniflow_goods_submissions_total", "provider" => submit.provider.clone(), "outcome" => label(&outcome))
            .increment(1);
        let recorded = self
            .deliveries
            .record_submission(submit, &outcome, started + RECORD_UNTIL)
            .await;
        handed(recorded)
    }

    async fn poll(&self, run: &Run, poll: &Poll, started: Instant) -> Result<Outcome, Failure> {
        let called = match self.providers.get(&poll.provider) {
            Some(provider) => call(run, started, provider.poll(&poll.reference)).await,
            None => Called::Answered(Ok(None)),
        };
        let outcome = match called {
            Called::Answered(Ok(outcome)) => outcome,
            // A question may be asked again.
            Called::Answered(Err(_)) | Called::Unknown(_) => None,
            Called::Stopped => return Err(Failure::Interrupted),
        };
        let recorded = self
            .deliveries
            .record_poll(poll, outcome.as_ref(), started + RECORD_UNTIL)
            .await;
        handed(recorded)
    }
}

impl Handler<GoodsDeliveryArgs> for GoodsJobs {
    fn limit(&self, _args: &GoodsDeliveryArgs) -> Limit {
        Limit::After(SUBMISSION)
    }

    fn retry_delay(&self, attempt: i32) -> Duration {
        backoff(attempt)
    }

    async fn run(&self, run: Run, args: GoodsDeliveryArgs) -> Result<Outcome, Failure> {
        let id = args.order_id;
        metered(KIND, &run, About::Order(id), Box::pin(self.attempt(run.clone(), args))).await
    }
}

/// One call. A panic of the adapter tells as little as a lost connection does.
async fn call<T>(run: &Run, started: Instant, call: impl Future<Output = Result<T, AdapterError>>) -> Called<T> {
    let stopped = async {
        run.cancelled.cancelled().await;
        if !run.is_stopping() {
            // Cancelling a job does not take back what was sent for it.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        answer = timeout_at(started + CUT_OFF, AssertUnwindSafe(call).catch_unwind()) => match answer {
            Ok(Ok(answer)) => Called::Answered(answer),
            Ok(Err(_)) => Called::Unknown("adapter_error"),
            Err(_) => Called::Unknown("gateway_unreachable"),
        },
        () = stopped => Called::Stopped,
    }
}

fn ambiguous(code: &str) -> Submission {
    Submission::Failed {
        class: FailureClass::Ambiguous,
        code: code.to_owned(),
    }
}

fn not_configured() -> Submission {
    Submission::Failed {
        class: FailureClass::ProviderUnavailable,
        code: "provider_unconfigured".to_owned(),
    }
}

const fn label(outcome: &Submission) -> &'static str {
    match outcome {
        Submission::Delivered => "delivered",
        Submission::Accepted { .. } => "accepted",
        Submission::Failed { class, .. } => match class {
            FailureClass::Retryable => "retryable",
            FailureClass::ProviderBalance => "provider_balance",
            FailureClass::ProviderUnavailable => "provider_unavailable",
            FailureClass::Permanent => "permanent",
            FailureClass::RecipientInvalid => "recipient_invalid",
            FailureClass::Ambiguous => "ambiguous",
        },
    }
}

fn handed(recorded: Result<Handed, Fault>) -> Result<Outcome, Failure> {
    match recorded {
        Ok(Handed::Ended) => Ok(Outcome::Done),
        Ok(Handed::Wait(span)) => Ok(Outcome::Snooze(span)),
        Err(fault) => {
            tracing::error!(code = fault.code(), error = %fault, "the outcome of a delivery was not recorded");
            Err(Failure::Retry {
                after: SUBMISSION,
                code: fault.code().to_owned(),
            })
        }
    }
}

fn unclaimed(run: &Run, args: &GoodsDeliveryArgs, fault: &Fault) -> Result<Outcome, Failure> {
    let code = fault.code().to_owned();
    if fault.is_passing() {
        tracing::warn!(order_id = %args.order_id, code, "a delivery could not be claimed");
        return Ok(Outcome::Snooze(NO_ANSWER));
    }
    tracing::error!(order_id = %args.order_id, code, error = %fault, "a delivery cannot be claimed");
    Err(Failure::Retry {
        after: retry_delay(run.attempt),
        code,
    })
}
