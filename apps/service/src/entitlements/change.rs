//! An operator's change: the entitlement's event first, then the operation that brings it to the panel, in one commit.

use domain::{
    entitlement::{self, Asked, Entitlement, OpenOperation, OperationKind, OperationState, Outcome},
    ids::{EntitlementId, OperationId},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{
    ExecuteError, KeyedRequest, StoreError, StreamId, UnitOfWork,
    audit::{self, Category, Target},
    reconciles,
};
use uuid::Uuid;

use super::{ChangeEntitlement, ChangeRequest, view::not_found};
use crate::{
    Caller, Done, Error, Refusal, Service,
    answers::{self, Turn},
    retry::retry_on_conflict,
    settlement::operation_row,
};

/// One open reconcile a subscription.
const ONE_RECONCILE: &str = "fulfillment_operations_one_open_reconcile";

/// What was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedOperation {
    /// The operation.
    pub id: Uuid,
    /// Whose.
    pub entitlement_id: Uuid,
    /// Its kind. A pause is a `disable`, its end an `enable`.
    pub operation: String,
    /// `pending` when it was opened now.
    pub status: String,
}

impl Service {
    /// Opens the operation that an operator asks for. The same key again opens nothing new; a `reconcile` beside an open one is that one.
    ///
    /// # Errors
    /// [`Error::Refused`] (`entitlement_not_found`, `fulfillment_operation_rejected`, `state_conflict`), [`Error::KeyReused`], or a fault
    /// of the store.
    pub async fn change_entitlement(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &ChangeEntitlement,
    ) -> Result<Done<AcceptedOperation>, Error> {
        let caller = request
            .reason
            .as_ref()
            .map_or_else(|| caller.clone(), |reason| caller.clone().because(reason));
        let (at, operation_id) = (self.clock.now(), OperationId::new(self.ids.next()));
        retry_on_conflict(&*self.ids, || self.change_once(&caller, key, request, operation_id, at)).await
    }

    /// Stops the clock of an entitlement and shuts its access.
    ///
    /// # Errors
    /// As [`Self::change_entitlement`]; `state_conflict` where there is nothing that could be paused.
    pub async fn pause_entitlement(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        entitlement_id: EntitlementId,
        reason: String,
    ) -> Result<Done<AcceptedOperation>, Error> {
        self.change_entitlement(caller, key, &at_once(entitlement_id, Asked::Pause, reason))
            .await
    }

    /// Ends a pause: the time it took is added to the paid end, and access opens.
    ///
    /// # Errors
    /// As [`Self::pause_entitlement`].
    pub async fn resume_entitlement(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        entitlement_id: EntitlementId,
        reason: String,
    ) -> Result<Done<AcceptedOperation>, Error> {
        self.change_entitlement(caller, key, &at_once(entitlement_id, Asked::Resume, reason))
            .await
    }

    async fn change_once(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &ChangeEntitlement,
        operation_id: OperationId,
        at: Timestamp,
    ) -> Result<Done<AcceptedOperation>, Error> {
        let id = request.entitlement_id;
        let streams = [StreamId::of::<Entitlement>(id)];
        let loaded = self.store.load_keyed(key, &streams, caller.metadata(at)).await?;
        let mut work = match answers::turn(loaded)? {
            Turn::Answered(done) => return Ok(done),
            Turn::Fresh(work) => *work,
        };
        if !work.state::<Entitlement>(id)?.is_granted() {
            return Err(not_found().into());
        }
        let operation = OpenOperation {
            operation_id,
            idempotency_key: format!("operator:{id}:{}", key.key.as_str()),
            correlation_id: caller.correlation_id.clone(),
        };
        let decided = match &request.request {
            ChangeRequest::Change(asked) => change(&mut work, id, asked, request.effective_at, operation, at),
            ChangeRequest::Reconcile if request.effective_at.is_some() => {
                Err(Refusal::new(422, "fulfillment_operation_rejected", "a reconcile cannot be planned").into())
            }
            ChangeRequest::Reconcile => reconcile(&mut work, id, operation, at).await,
        };
        let value = match decided {
            Ok(value) => value,
            Err(Error::Refused(refusal)) => return answers::refuse(work, key, refusal).await,
            Err(error) => return Err(error),
        };
        let mut work = work.begin().await?;
        let (action, target) = (action(request), id.to_string());
        let target = Target {
            kind: "entitlement",
            id: &target,
        };
        let facts =
            json!({ "operationId": value.id, "operation": value.operation, "effectiveAt": request.effective_at });
        let record = caller.audit(&action, Category::Customer, target, facts, at);
        audit::record_in(work.conn(), record).await?;
        work.answer(key, answers::answer(202, &value)?);
        let committed = work.commit().await.map_err(|error| match error {
            StoreError::Constraint { name } if name == ONE_RECONCILE => StoreError::Conflict,
            error => error,
        })?;
        Ok(Done {
            value,
            position: committed.position,
            repeated: false,
        })
    }
}

/// The reconcile that is open already, or a new one.
async fn reconcile(
    work: &mut UnitOfWork,
    id: EntitlementId,
    operation: OpenOperation,
    at: Timestamp,
) -> Result<AcceptedOperation, Error> {
    let subscription = work.state::<Entitlement>(id)?.subscription_id;
    let open = work
        .read(async |conn| reconciles::open_in(conn, subscription.as_uuid()).await)
        .await?;
    if let Some((open, status)) = open {
        return Ok(accepted(id, open, &OperationKind::Reconcile, &status));
    }
    let command = entitlement::Command::OpenReconcile { operation, at };
    open_in(work, id, command, |state| {
        let mut operations = state.operations.iter();
        operations.find(|(_, one)| one.kind == OperationKind::Reconcile && one.outcome == Outcome::Open)
    })
}

/// As the panel of the seeds names them.
fn action(request: &ChangeEntitlement) -> String {
    let word = match &request.request {
        ChangeRequest::Change(Asked::Pause) => "pause".to_owned(),
        ChangeRequest::Change(Asked::Resume) => "resume".to_owned(),
        other => other.operation(),
    };
    format!("panel.subscription.{word}")
}

fn at_once(entitlement_id: EntitlementId, asked: Asked, reason: String) -> ChangeEntitlement {
    ChangeEntitlement {
        entitlement_id,
        request: ChangeRequest::Change(asked),
        effective_at: None,
        reason: Some(reason),
    }
}

fn change(
    work: &mut UnitOfWork,
    id: EntitlementId,
    asked: &Asked,
    effective_at: Option<Timestamp>,
    operation: OpenOperation,
    at: Timestamp,
) -> Result<AcceptedOperation, Error> {
    let key = operation.idempotency_key.clone();
    let command = entitlement::Command::Change {
        asked: asked.clone(),
        effective_at,
        operation,
        at,
    };
    open_in(work, id, command, move |state| {
        let mut operations = state.operations.iter();
        operations.find(|(_, one)| one.idempotency_key == key)
    })
}

/// Decides, and adds the row of the operation that was opened. Where nothing was, `earlier` finds the one that stands for it.
fn open_in(
    work: &mut UnitOfWork,
    id: EntitlementId,
    command: entitlement::Command,
    earlier: impl Fn(&Entitlement) -> Option<(&OperationId, &OperationState)>,
) -> Result<AcceptedOperation, Error> {
    let events = match work.execute::<Entitlement>(id, command) {
        Ok(events) => events,
        Err(ExecuteError::Rejected(error)) => return Err(refusal(error).into()),
        Err(ExecuteError::Store(error)) => return Err(error.into()),
    };
    let subscription_id = work.state::<Entitlement>(id)?.subscription_id;
    let opened = events
        .iter()
        .find_map(|event| operation_row(event, id, subscription_id));
    if let Some(row) = opened {
        let opened = accepted(id, row.operation_id.as_uuid(), &row.operation, "pending");
        work.enqueue_operation(row);
        return Ok(opened);
    }
    let found = earlier(work.state::<Entitlement>(id)?);
    let (operation_id, state) = found.ok_or(Error::Inconsistent("nothing was opened, and nothing stands for it"))?;
    let status = match state.outcome {
        Outcome::Open => "pending",
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
    };
    Ok(accepted(id, operation_id.as_uuid(), &state.kind, status))
}

fn accepted(entitlement_id: EntitlementId, id: Uuid, kind: &OperationKind, status: &str) -> AcceptedOperation {
    AcceptedOperation {
        id,
        entitlement_id: entitlement_id.as_uuid(),
        operation: kind.as_str().to_owned(),
        status: status.to_owned(),
    }
}

/// One code for everything that is wrong with the request; that the entitlement is in the wrong state is another matter.
fn refusal(error: entitlement::Error) -> Refusal {
    use domain::aggregate::Rejection as _;
    match error.code() {
        "state_conflict" => Refusal::of(409, &error),
        _ => Refusal::named(422, "fulfillment_operation_rejected", &error),
    }
}
