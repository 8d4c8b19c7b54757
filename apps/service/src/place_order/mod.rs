//! Placing an order: of a plan (new or longer) or of goods. Repeating it with its key gives the first answer again.

mod quote;
mod recipient;

use domain::{
    entitlement::Entitlement,
    ids::{CustomerId, EntitlementId, OperationId, OrderId, PlanVersionId},
    money::Currency,
    order::{self, Item, Order},
    time::{Timestamp, plus_seconds},
};
use serde::Serialize;
use store::{ExecuteError, KeyedRequest, StreamId, UnitOfWork};

use crate::{
    Caller, Done, Error, OrderView, Refusal, Service,
    answers::{self, Turn},
    maintenance::{CLOSED, Known},
    retry::retry_on_conflict,
    settlement,
};

use quote::{NewIds, Quote};
pub use recipient::RecipientIn;

/// How long an order may be paid before anybody knows with what.
const WINDOW_SECONDS: i64 = 3_600;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceOrder {
    /// Who buys.
    pub customer_id: CustomerId,
    /// To be paid in.
    pub currency: Currency,
    /// What.
    pub item: Wanted,
}

/// What a customer may want.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Wanted {
    /// A new subscription.
    Purchase {
        /// As in the catalog.
        plan_version_id: PlanVersionId,
    },
    /// More time on a subscription that the customer has.
    Extension {
        /// As in the catalog.
        plan_version_id: PlanVersionId,
        /// The customer's.
        entitlement_id: EntitlementId,
    },
    /// Digital goods for somebody.
    Goods {
        /// Code in the catalog.
        product: String,
        /// Who receives them.
        recipient: RecipientIn,
    },
}

/// Everything of one request that must stay the same when it runs again.
struct Attempt {
    order_id: OrderId,
    operation_id: OperationId,
    at: Timestamp,
    quote: Result<Quote, Refusal>,
}

impl Service {
    /// Places an order; one that costs nothing is born paid and settles in the same unit of work.
    ///
    /// # Errors
    /// [`Error::Refused`] (`maintenance_active`, `plan_unavailable`, `product_unavailable`, `shop_unavailable`, `price_unavailable`, `recipient_invalid`,
    /// `subscription_target_not_found`, `order_rejected`), [`Error::KeyReused`], or a fault of the store.
    pub async fn place_order(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &PlaceOrder,
    ) -> Result<Done<OrderView>, Error> {
        if self.gate.look().await == Known::Open {
            return self.answer_while_closed(caller, key).await;
        }
        let ids = NewIds {
            order_id: self.ids.next().into(),
            entitlement_id: self.ids.next().into(),
            subscription_id: self.ids.next().into(),
        };
        let quote = match self.quote(request, ids).await {
            // What will be different in a minute is no answer to keep.
            Err(refusal) if refusal.status >= 500 => return Err(refusal.into()),
            quote => quote,
        };
        let attempt = Attempt {
            order_id: ids.order_id,
            operation_id: self.ids.next().into(),
            at: self.clock.now(),
            quote,
        };
        retry_on_conflict(&*self.ids, || self.place_once(caller, key, request, &attempt)).await
    }

    /// An order that was placed before is found again; a new one is refused, and the refusal is not kept: the same request may succeed later.
    async fn answer_while_closed(&self, caller: &Caller, key: &KeyedRequest) -> Result<Done<OrderView>, Error> {
        let metadata = caller.metadata(self.clock.now());
        match answers::turn(self.store.load_keyed(key, &[], metadata).await?)? {
            Turn::Answered(done) => Ok(done),
            Turn::Fresh(_) => Err(CLOSED.into()),
        }
    }

    async fn place_once(
        &self,
        caller: &Caller,
        key: &KeyedRequest,
        request: &PlaceOrder,
        attempt: &Attempt,
    ) -> Result<Done<OrderView>, Error> {
        let streams = attempt.streams(request);
        let loaded = self
            .store
            .load_keyed(key, &streams, caller.metadata(attempt.at))
            .await?;
        // Retention removed the answer, but not the key: the order that it placed is answered as it is now.
        if let Some(order_id) = answers::placed_order(&loaded) {
            return Ok(Done {
                value: self.get_order(order_id).await?,
                position: None,
                repeated: true,
            });
        }
        let mut work = match answers::turn(loaded)? {
            Turn::Answered(done) => return Ok(done),
            Turn::Fresh(work) => *work,
        };
        match place_into(&mut work, caller, request, attempt)? {
            Err(refusal) => answers::refuse(work, key, refusal).await,
            Ok(view) => {
                let answer = answers::answer(201, &view)?;
                let recipient = attempt.quote.as_ref().ok().and_then(|quote| quote.recipient.as_ref());
                let committed = match recipient {
                    None => {
                        work.answer(key, answer);
                        work.commit().await?
                    }
                    Some(recipient) => {
                        let mut work = work.begin().await?;
                        let order_id = attempt.order_id.as_uuid();
                        store::recipients::insert_recipient_in(work.conn(), order_id, recipient).await?;
                        work.answer(key, answer);
                        work.commit().await?
                    }
                };
                Ok(Done {
                    value: view,
                    position: committed.position,
                    repeated: false,
                })
            }
        }
    }
}

impl Attempt {
    /// The order; with it what settling it at once would touch, and what an extension must find.
    fn streams(&self, request: &PlaceOrder) -> Vec<StreamId> {
        let order = StreamId::of::<Order>(self.order_id.as_uuid());
        match (&self.quote, &request.item) {
            (Ok(quote), _) => settlement::streams(self.order_id, quote.entitlement_id()).to_vec(),
            (Err(_), _) => vec![order],
        }
    }
}

/// Decides the whole order in memory. The inner error is a refusal to be stored.
fn place_into(
    work: &mut UnitOfWork,
    caller: &Caller,
    request: &PlaceOrder,
    attempt: &Attempt,
) -> Result<Result<OrderView, Refusal>, Error> {
    let quote = match &attempt.quote {
        Ok(quote) => quote,
        Err(refusal) => return Ok(Err(refusal.clone())),
    };
    let item = match target(work, request, quote)? {
        Ok(item) => item,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let command = order::Command::Place {
        order_id: attempt.order_id,
        customer_id: request.customer_id,
        item,
        currency: request.currency,
        subtotal_minor: quote.price.amount_minor(),
        discount_minor: 0,
        wallet_minor: 0,
        expires_at: plus_seconds(attempt.at, WINDOW_SECONDS).ok_or(Error::Inconsistent("the calendar ends"))?,
        at: attempt.at,
    };
    let events = match work.execute::<Order>(attempt.order_id.as_uuid(), command) {
        Ok(events) => events,
        Err(ExecuteError::Rejected(error)) => return Ok(Err(Refusal::named(422, "order_rejected", &error))),
        Err(ExecuteError::Store(error)) => return Err(error.into()),
    };
    if settlement::is_settled(&events) {
        let (at, correlation) = (attempt.at, &caller.correlation_id);
        settlement::settle(work, attempt.order_id, attempt.operation_id, correlation, at)?;
    }
    let order = work.state::<Order>(attempt.order_id.as_uuid())?;
    OrderView::of(order)
        .map(Ok)
        .ok_or(Error::Inconsistent("a placed order without its parts"))
}

/// The item with the subscription it is for: that of the entitlement named, if it is the customer's own.
fn target(work: &UnitOfWork, request: &PlaceOrder, quote: &Quote) -> Result<Result<Item, Refusal>, Error> {
    let mut item = quote.item.clone();
    if let (Wanted::Extension { entitlement_id, .. }, Item::Plan { subscription_id, .. }) = (&request.item, &mut item) {
        let entitlement = work.state::<Entitlement>(entitlement_id.as_uuid())?;
        // Somebody else's looks exactly like none.
        if entitlement.entitlement_id != *entitlement_id || entitlement.customer_id != request.customer_id {
            return Ok(Err(Refusal::new(
                422,
                "subscription_target_not_found",
                "the customer has no such subscription",
            )));
        }
        *subscription_id = entitlement.subscription_id;
    }
    Ok(Ok(item))
}
