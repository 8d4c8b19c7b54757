//! How an operation ends, and what its entitlement is told.

use domain::{
    entitlement::{self, Agreed, BadEnd, OpenOperation, RemoteStatus},
    time::Timestamp,
};
use store::reconciles;

use super::{Fault, close::Case};

/// How an operation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Applied {
        version: i64,
        remote_user_id: i64,
        remote_status: RemoteStatus,
    },
    /// The right is over and the panel has no such user: nothing is left to show.
    Gone,
    Superseded,
    Failed {
        code: String,
    },
    Cancelled {
        code: &'static str,
    },
}

/// What an operation that its stream knows ends with.
pub(super) fn command(case: &Case, ending: &Ending, at: Timestamp) -> entitlement::Command {
    let operation_id = case.operation_id.into();
    match ending {
        Ending::Applied {
            version,
            remote_user_id,
            remote_status,
        } => entitlement::Command::RecordApplied {
            operation_id,
            version: *version,
            remote_user_id: *remote_user_id,
            remote_status: *remote_status,
            at,
        },
        Ending::Gone | Ending::Superseded => entitlement::Command::CloseSuperseded { operation_id, at },
        Ending::Failed { code } => entitlement::Command::RecordFailed {
            operation_id,
            code: code.clone(),
            attempts: case.attempt,
            at,
        },
        Ending::Cancelled { code } => entitlement::Command::CancelOperation {
            operation_id,
            code: (*code).to_owned(),
            at,
        },
    }
}

/// What a `reconcile` ends with: the stream may not know it.
pub(super) async fn reconcile_command(
    conn: &mut store::Connection,
    case: &Case,
    ending: &Ending,
    at: Timestamp,
) -> Result<entitlement::Command, Fault> {
    let operation_id = case.operation_id.into();
    let (end, code) = match ending {
        Ending::Applied {
            version,
            remote_user_id,
            remote_status,
        } => {
            let agreed = Some(Agreed {
                version: *version,
                remote_user_id: *remote_user_id,
                remote_status: *remote_status,
            });
            return Ok(entitlement::Command::RecordReconciled {
                operation_id,
                agreed,
                at,
            });
        }
        Ending::Gone => {
            return Ok(entitlement::Command::RecordReconciled {
                operation_id,
                agreed: None,
                at,
            });
        }
        Ending::Superseded => return Ok(entitlement::Command::CloseSuperseded { operation_id, at }),
        Ending::Failed { code } => (BadEnd::Failed { attempts: case.attempt }, code.clone()),
        Ending::Cancelled { code } => (BadEnd::Cancelled, (*code).to_owned()),
    };
    let key = reconciles::key_in(conn, case.operation_id).await?;
    let operation = OpenOperation {
        operation_id,
        idempotency_key: key.unwrap_or_else(|| case.operation_id.to_string()),
        correlation_id: case.correlation_id.clone(),
    };
    Ok(entitlement::Command::EndReconcile {
        operation,
        end,
        code,
        at,
    })
}
