//! Asking a provider for money: claim, call, answer.
//!
//! The request and its intent are committed before the provider is called, and no transaction is open while it is. A crash in between
//! leaves an intent without an answer: whoever comes next, under the same key or another, first asks the provider what became of it and
//! creates only what is not there. An order has at most one open request for money per provider.

use std::{sync::Arc, time::Duration};

use domain::{
    ids::{IntentId, OrderId},
    money::Currency,
    order::{self, Item, Order, State},
    time::{Timestamp, plus_seconds},
};
use ports::payments::PaymentProvider;
use serde::Serialize;
use store::{
    ExecuteError, KeyedRequest, StoreError, StreamId, UnitOfWork, claims,
    payments::{self, IntentRow, NewIntent},
};
use uuid::Uuid;

use crate::{
    Caller, Done, Error, PaymentView, Refusal, Service,
    answers::{self, Turn},
    get_order::not_found,
    retry::retry_on_conflict,
};

/// Longer than two provider calls, each of at most 15 s, can take.
pub(super) const CLAIM: Duration = Duration::from_secs(45);

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StartPayment {
    /// What is to be paid.
    pub order_id: OrderId,
    /// Slug of the provider.
    pub provider: String,
    /// What the customer reads on the provider's page.
    pub description: Option<String>,
}

/// What the claim left to do.
/// Pauses after each try to let a claim go.
const LET_GO_PAUSES: [Duration; 3] = [Duration::from_millis(100), Duration::from_secs(1), Duration::ZERO];

enum Claimed {
    Answered(Done<PaymentView>),
    /// The intent is ours to complete; `known` when it was made by an earlier try.
    Intent {
        known: Option<IntentRow>,
        position: Option<i64>,
    },
}

impl Service {
    /// Opens a request for money, or gives the one that is open.
    ///
    /// # Errors
    /// [`Error::Refused`] (`order_not_found`, `payment_not_required`, `order_not_payable`, `provider_unavailable`,
    /// `provider_currency_unsupported`, `payment_rejected`), [`Error::InProgress`] while the same request is with the provider,
    /// [`Error::Provider`] when it did not answer: repeat it with the same key.
    pub async fn start_payment(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &StartPayment,
    ) -> Result<Done<PaymentView>, Error> {
        let provider = self.providers.get(&request.provider).ok_or(Refusal::new(
            422,
            "provider_unavailable",
            "there is no such payment provider",
        ))?;
        let (intent_id, at) = (IntentId::new(self.ids.next()), self.clock.now());
        let claimed = retry_on_conflict(&*self.ids, || {
            self.claim_payment(caller, key, request, provider, intent_id, at)
        })
        .await?;
        let (known, position) = match claimed {
            Claimed::Answered(done) => return Ok(done),
            Claimed::Intent { known, position } => (known, position),
        };
        let intent = known.as_ref().map_or(intent_id.as_uuid(), |row| row.intent_id);
        fail::fail_point!("payment.after_claim", |_| Err(Error::InProgress));
        let completed = self.complete_claimed(caller, &**provider, intent, known, request).await;
        let answered = match &completed {
            Ok(view) => claims::answer_claim(self.store.pool(), key, &answers::answer(201, view)?).await,
            Err(Error::Refused(refusal)) => {
                claims::answer_claim(self.store.pool(), key, &answers::answer(refusal.status, refusal)?).await
            }
            Err(_) => {
                self.let_go(key, intent).await;
                Ok(())
            }
        };
        if let Err(error) = answered {
            self.let_go(key, intent).await;
            return Err(error.into());
        }
        Ok(Done {
            value: completed?,
            position,
            repeated: false,
        })
    }

    /// With the claim held: from the committed intent to the provider's answer.
    async fn complete_claimed(
        &self,
        caller: &Caller,
        provider: &dyn PaymentProvider,
        intent_id: Uuid,
        known: Option<IntentRow>,
        request: &StartPayment,
    ) -> Result<PaymentView, Error> {
        let resumed = known.is_some();
        let row = match known {
            Some(row) => row,
            None => payments::intent(self.store.pool(), intent_id)
                .await?
                .ok_or(Error::Inconsistent("a committed intent is missing"))?,
        };
        self.complete_intent(caller, provider, row, request.description.as_deref(), resumed)
            .await
    }

    /// Nobody calls the provider now, so a repeat may ask at once what became of it. Tried more than once: what is not let go holds the
    /// key, and the customer, until the claim ends.
    async fn let_go(&self, key: &KeyedRequest, intent_id: Uuid) {
        for pause in LET_GO_PAUSES {
            let released = async {
                payments::release_call(self.store.pool(), intent_id).await?;
                claims::release_claim(self.store.pool(), key).await
            };
            match released.await {
                Ok(()) => return,
                Err(error) => tracing::warn!(%intent_id, code = error.code(), "a claim was not let go"),
            }
            tokio::time::sleep(pause).await;
        }
    }

    async fn claim_payment(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &StartPayment,
        provider: &Arc<dyn PaymentProvider>,
        intent_id: IntentId,
        at: Timestamp,
    ) -> Result<Claimed, Error> {
        let stream = StreamId::of::<Order>(request.order_id);
        let loaded = self.store.load_keyed(key, &[stream], caller.metadata(at)).await?;
        let mut work = match answers::turn(loaded)? {
            Turn::Answered(done) => return Ok(Claimed::Answered(done)),
            Turn::Fresh(work) => *work,
        };
        let order = work.state::<Order>(request.order_id)?;
        if order.state == State::Absent {
            return Err(not_found().into());
        }
        if order.currency.is_none_or(|currency| !provider.supports(currency)) {
            return Err(unsupported_currency().into());
        }
        let known = reusable(&mut work, request, &**provider, at).await?;
        let resumed = known.is_some();
        if !resumed && let Err(refusal) = open_intent(&mut work, request, &**provider, intent_id, at)? {
            let mut work = work.begin().await?;
            claims::answer_claim_in(work.conn(), key, &answers::answer(refusal.status, &refusal)?).await?;
            work.commit().await?;
            return Err(refusal.into());
        }
        let new = NewIntentParts::of(work.state::<Order>(request.order_id)?, key)?;
        let mut work = work.begin().await?;
        if !claims::claim_in(work.conn(), key, CLAIM).await? {
            // Somebody holds it, or answered: look again.
            return Err(StoreError::Conflict.into());
        }
        match &known {
            None => {
                payments::insert_intent_in(work.conn(), &new.row(request, intent_id), CLAIM).await?;
            }
            Some(row) if row.provider_reference.is_none() => {
                if !payments::take_call_in(work.conn(), row.intent_id, CLAIM).await? {
                    return Err(Error::InProgress);
                }
            }
            Some(_) => {}
        }
        let committed = work.commit().await?;
        // From here on the key is held: whatever fails must let it go.
        Ok(Claimed::Intent {
            known,
            position: committed.position,
        })
    }
}

/// The open request for money of this order at this provider, while it can still be paid there.
async fn reusable(
    work: &mut UnitOfWork,
    request: &StartPayment,
    provider: &dyn PaymentProvider,
    at: Timestamp,
) -> Result<Option<IntentRow>, Error> {
    let order = work.state::<Order>(request.order_id)?;
    if order.state != State::Pending || !order.in_window(at) {
        return Ok(None);
    }
    let order_id = request.order_id.as_uuid();
    let open = work
        .read(async |conn| payments::open_intents(conn, order_id).await)
        .await?;
    Ok(open.into_iter().rev().find(|row| {
        let ends = plus_seconds(row.created_at, provider.window_seconds());
        row.provider == request.provider && ends.is_some_and(|ends| at < ends)
    }))
}

/// Decides the opening. The inner error is a refusal to be stored.
fn open_intent(
    work: &mut UnitOfWork,
    request: &StartPayment,
    provider: &dyn PaymentProvider,
    intent_id: IntentId,
    at: Timestamp,
) -> Result<Result<(), Refusal>, Error> {
    let command = order::Command::OpenIntent {
        intent_id,
        provider: request.provider.clone(),
        window_until: plus_seconds(at, provider.window_seconds()),
        at,
    };
    match work.execute::<Order>(request.order_id, command) {
        Ok(_) => Ok(Ok(())),
        Err(ExecuteError::Rejected(error)) => Ok(Err(Refusal::of(409, &error))),
        Err(ExecuteError::Store(error)) => Err(error.into()),
    }
}

/// What an intent's row takes from its order.
struct NewIntentParts {
    key: String,
    amount_minor: i64,
    currency: Currency,
    entitlement_id: Option<Uuid>,
}

impl NewIntentParts {
    fn of(order: &Order, key: &KeyedRequest) -> Result<Self, Error> {
        let entitlement_id = match order.item {
            Some(Item::Plan { entitlement_id, .. }) => Some(entitlement_id.as_uuid()),
            Some(Item::Goods { .. }) | None => None,
        };
        let amount = order
            .external()
            .ok_or(Error::Inconsistent("an order without an amount"))?;
        Ok(Self {
            // Keys are unique per principal, intents per provider.
            key: format!("{}/{}", key.principal, key.key.as_str()),
            amount_minor: amount.amount_minor(),
            currency: amount.currency(),
            entitlement_id,
        })
    }

    fn row<'a>(&'a self, request: &'a StartPayment, intent_id: IntentId) -> NewIntent<'a> {
        NewIntent {
            intent_id: intent_id.as_uuid(),
            order_id: request.order_id.as_uuid(),
            entitlement_id: self.entitlement_id,
            provider: &request.provider,
            amount_minor: self.amount_minor,
            currency: self.currency.as_str(),
            idempotency_key: &self.key,
        }
    }
}

const fn unsupported_currency() -> Refusal {
    Refusal::new(
        422,
        "provider_currency_unsupported",
        "the payment provider does not take this currency",
    )
}
