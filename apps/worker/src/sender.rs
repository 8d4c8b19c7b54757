//! One run's requests to the panel: each is checked against the deadline before it is sent, cut off in time, and remembered.

use std::{any::Any, future::Future, panic::AssertUnwindSafe, time::Duration};

use domain::fulfillment::{FailureClass, code::INTERRUPTED};
use futures_util::FutureExt as _;
use ports::panel::{FailureKind, PanelError};
use service::fulfillment::CallFailure;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// Nothing is sent later than this after the run began: the lease must outlive every answer.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

/// A request that has no answer by then is given up.
const CUT_OFF: Duration = Duration::from_secs(18);

/// Records are tried until then: the queue's own time limit of a job.
pub(crate) const RECORD_UNTIL: Duration = Duration::from_secs(20);

/// Code of a run whose handler panicked while it talked to the panel.
const PANICKED: &str = "worker_panicked";

/// Code of a request that was cut off without an answer.
const TIMEOUT: &str = "remnawave_timeout";

/// Why a request was not answered as hoped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The panel, or the way to it.
    Panel(PanelError),
    /// A user of that name exists and is not ours.
    Foreign,
    /// The deadline had passed.
    Late,
    /// The run was told to end.
    Stopped,
    /// A bug of ours.
    Panicked,
}

/// Sends for one run.
#[derive(Debug)]
pub struct Sender {
    cancelled: CancellationToken,
    started: Instant,
    /// Something that changes the panel was sent.
    pub sent: bool,
    /// Something that changes the panel was sent and not answered.
    pub unanswered: bool,
}

impl Sender {
    /// For a run that began at `started` and ends when `cancelled` fires.
    pub fn new(started: Instant, cancelled: CancellationToken) -> Self {
        Self {
            cancelled,
            started,
            sent: false,
            unanswered: false,
        }
    }

    /// A request that changes nothing.
    pub(crate) async fn read<T>(&mut self, call: impl Future<Output = Result<T, PanelError>>) -> Result<T, SendError> {
        self.check()?;
        self.wait(call).await
    }

    /// A request that changes the panel.
    pub(crate) async fn write<T>(&mut self, call: impl Future<Output = Result<T, PanelError>>) -> Result<T, SendError> {
        self.check()?;
        self.sent = true;
        let answered = self.wait(call).await;
        self.unanswered |= match &answered {
            Ok(_) | Err(SendError::Foreign | SendError::Late) => false,
            Err(SendError::Panel(error)) => error.kind == FailureKind::Unanswered,
            Err(SendError::Stopped | SendError::Panicked) => true,
        };
        answered
    }

    fn check(&self) -> Result<(), SendError> {
        if self.cancelled.is_cancelled() {
            Err(SendError::Stopped)
        } else if self.started.elapsed() >= DEADLINE {
            Err(SendError::Late)
        } else {
            Ok(())
        }
    }

    async fn wait<T>(&self, call: impl Future<Output = Result<T, PanelError>>) -> Result<T, SendError> {
        let guarded = AssertUnwindSafe(call).catch_unwind();
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Err(SendError::Stopped),
            answer = timeout_at(self.started + CUT_OFF, guarded) => match answer {
                Ok(Ok(answer)) => answer.map_err(SendError::Panel),
                Ok(Err(panic)) => {
                    tracing::error!(panic = panic_text(&panic), "a call to the panel panicked");
                    Err(SendError::Panicked)
                }
                Err(_) => Err(SendError::Panel(PanelError {
                    kind: FailureKind::Unanswered,
                    code: TIMEOUT.to_owned(),
                    http_status: None,
                    panel_code: None,
                })),
            },
        }
    }

    /// The failure as it is recorded.
    pub(crate) fn failure(&self, error: &SendError) -> CallFailure {
        let (class, code) = match error {
            SendError::Panel(error) => (class_of(error.kind), error.code.clone()),
            SendError::Foreign => (FailureClass::Permanent, crate::push::FOREIGN.to_owned()),
            SendError::Late | SendError::Stopped => (FailureClass::Passing, INTERRUPTED.to_owned()),
            SendError::Panicked => (FailureClass::Passing, PANICKED.to_owned()),
        };
        CallFailure {
            class,
            code,
            sent: self.sent,
            unanswered: self.unanswered,
        }
    }
}

fn class_of(kind: FailureKind) -> FailureClass {
    match kind {
        FailureKind::Permanent => FailureClass::Permanent,
        FailureKind::Transient | FailureKind::Unanswered | FailureKind::Misconfigured => FailureClass::Passing,
        FailureKind::RateLimited { retry_after } => FailureClass::RateLimited { retry_after },
    }
}

fn panic_text(panic: &Box<dyn Any + Send>) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text")
}
