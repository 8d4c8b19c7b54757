//! What happens in a shop, told by commands to the real aggregates, so that every stream is one that the product would write.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    aggregate::Decide,
    delivery::{self, Delivery, FailureClass, Submission},
    entitlement::{self, Entitlement, OpenOperation, RemoteStatus},
    goods::{Kind, Product},
    ids::{CustomerId, EntitlementId, IntentId, OperationId, OrderId, PlanVersionId, SubscriptionId},
    money::Money,
    order::{self, Item, Operation, Order},
    plan::{Limits, Terms},
};
use serde::Serialize;
use uuid::Uuid;

use crate::log::Said;

/// An id that is the same in every run: the `n`th of its kind.
pub(crate) fn id(kind: u16, n: u32) -> Uuid {
    Uuid::from_u128((u128::from(kind) << 64) | u128::from(n) | (0x7000_u128 << 64 << 16))
}

fn at(n: u32) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000 + i64::from(n))
}

/// A stream that grows by commands.
pub(crate) struct Stream<A> {
    kind: &'static str,
    id: Uuid,
    pub(crate) state: A,
}

impl<A: Decide<Event: Serialize>> Stream<A> {
    fn new(kind: &'static str, id: Uuid) -> Self {
        Self {
            kind,
            id,
            state: A::default(),
        }
    }

    /// What a command leads to; a refused one leads to nothing.
    pub(crate) fn tell(&mut self, command: A::Command) -> Vec<Said> {
        let events = self.state.decide(command).unwrap_or_default();
        let mut said = Vec::new();
        for event in events {
            said.push((self.kind, self.id, serde_json::to_value(&event).unwrap()));
            self.state.apply(event);
        }
        said
    }
}

/// The `n`th customer's purchase: an order, its entitlement and what becomes of both.
pub(crate) struct Purchase {
    n: u32,
    pub(crate) order: Stream<Order>,
    pub(crate) entitlement: Stream<Entitlement>,
}

impl Purchase {
    pub(crate) fn new(n: u32) -> Self {
        Self {
            n,
            order: Stream::new("order", id(1, n)),
            entitlement: Stream::new("entitlement", id(2, n)),
        }
    }

    fn terms(&self) -> Terms {
        Terms {
            plan_version_id: PlanVersionId::new(id(9, 1)),
            plan_code: format!("plan-{}", self.n % 3),
            duration_seconds: 2_592_000,
            grace_seconds: 0,
            limits: Limits {
                traffic_bytes: self.n.is_multiple_of(2).then_some(1 << 30),
                devices: None,
                squads: (0..self.n % 3).map(|squad| id(8, squad)).collect(),
            },
        }
    }

    fn operation(&self, step: u32) -> OpenOperation {
        OpenOperation {
            operation_id: self.operation_id(step),
            idempotency_key: format!("order:{}:{step}", id(1, self.n)),
            correlation_id: format!("correlation-{}", self.n),
        }
    }

    pub(crate) fn operation_id(&self, step: u32) -> OperationId {
        OperationId::new(id(3, self.n * 1000 + step))
    }

    pub(crate) fn placed(&mut self) -> Vec<Said> {
        let item = Item::Plan {
            operation: Operation::Purchase,
            entitlement_id: EntitlementId::new(id(2, self.n)),
            subscription_id: SubscriptionId::new(id(4, self.n)),
            terms: self.terms(),
        };
        self.order.tell(order::Command::Place {
            order_id: OrderId::new(id(1, self.n)),
            customer_id: CustomerId::new(id(5, self.n % 7)),
            item,
            currency: "RUB".parse().unwrap(),
            subtotal_minor: 10_000,
            discount_minor: 0,
            wallet_minor: 0,
            expires_at: at(self.n + 3600),
            at: at(self.n),
        })
    }

    pub(crate) fn asked(&mut self) -> Vec<Said> {
        self.order.tell(order::Command::OpenIntent {
            intent_id: IntentId::new(id(6, self.n)),
            provider: "manual".to_owned(),
            window_until: None,
            at: at(self.n + 1),
        })
    }

    pub(crate) fn seen(&mut self, amount_minor: i64) -> Vec<Said> {
        self.order.tell(order::Command::ObservePayment {
            intent_id: IntentId::new(id(6, self.n)),
            provider: "manual".to_owned(),
            provider_event_id: format!("event-{amount_minor}"),
            amount: Money::new(amount_minor, "RUB".parse().unwrap()).unwrap(),
            at: at(self.n + 2),
        })
    }

    /// The settlement: the order is paid and the entitlement granted, in one commit.
    pub(crate) fn settled(&mut self) -> Vec<Said> {
        let mut said = self.seen(10_000);
        said.extend(self.entitlement.tell(entitlement::Command::Grant {
            entitlement_id: EntitlementId::new(id(2, self.n)),
            subscription_id: SubscriptionId::new(id(4, self.n)),
            customer_id: CustomerId::new(id(5, self.n % 7)),
            order_id: OrderId::new(id(1, self.n)),
            terms: self.terms(),
            effective_at: None,
            operation: self.operation(0),
            at: at(self.n + 2),
        }));
        said
    }

    pub(crate) fn extended(&mut self, step: u32) -> Vec<Said> {
        self.entitlement.tell(entitlement::Command::Extend {
            order_id: OrderId::new(id(7, self.n * 1000 + step)),
            terms: self.terms(),
            effective_at: None,
            operation: self.operation(step),
            at: at(self.n + step),
        })
    }

    pub(crate) fn applied(&mut self, step: u32) -> Vec<Said> {
        let version = self.entitlement.state.changes.last().map_or(1, |change| change.version);
        let mut said = self.entitlement.tell(entitlement::Command::RecordApplied {
            operation_id: self.operation_id(step),
            version,
            remote_user_id: i64::from(self.n),
            remote_status: RemoteStatus::Active,
            at: at(self.n + 10),
        });
        said.extend(self.order.tell(order::Command::MarkFulfilled { at: at(self.n + 10) }));
        said
    }

    pub(crate) fn cancelled(&mut self) -> Vec<Said> {
        self.order.tell(order::Command::Cancel { at: at(self.n + 5) })
    }
}

/// The `n`th delivery of goods.
pub(crate) struct Goods {
    n: u32,
    pub(crate) delivery: Stream<Delivery>,
}

impl Goods {
    pub(crate) fn new(n: u32) -> Self {
        Self {
            n,
            delivery: Stream::new("delivery", id(1, 1_000_000 + n)),
        }
    }

    pub(crate) fn owed(&mut self) -> Vec<Said> {
        self.delivery.tell(delivery::Command::Owe {
            order_id: OrderId::new(id(1, 1_000_000 + self.n)),
            customer_id: CustomerId::new(id(5, self.n % 7)),
            product: Product {
                code: "stars-50".to_owned(),
                provider: "fragment".to_owned(),
                kind: Kind::TelegramStars { quantity: 50 },
                cost_minor: Some(7000),
            },
            price: Money::new(9900, "RUB".parse().unwrap()).unwrap(),
            at: at(self.n),
        })
    }

    pub(crate) fn submitted(&mut self) -> Vec<Said> {
        self.delivery.tell(delivery::Command::StartSubmission {
            deadline: at(self.n + 100_000),
            at: at(self.n + 50_000),
        })
    }

    pub(crate) fn answered(&mut self, outcome: Submission) -> Vec<Said> {
        let attempt = self.delivery.state.attempts;
        self.delivery.tell(delivery::Command::RecordSubmission {
            attempt,
            outcome,
            at: at(self.n + 50_001),
        })
    }

    pub(crate) fn failed(&mut self, class: FailureClass) -> Vec<Said> {
        self.answered(Submission::Failed {
            class,
            code: "provider_said_no".to_owned(),
        })
    }
}

/// `count` purchases and a third as many deliveries, interleaved; each with its own fate.
pub(crate) fn shop(first: u32, count: u32) -> Vec<Vec<Said>> {
    let mut commits = Vec::new();
    let mut purchases: Vec<Purchase> = (first..first + count).map(Purchase::new).collect();
    let mut goods: Vec<Goods> = (first..first + count / 3).map(Goods::new).collect();
    for step in 0..6 {
        for purchase in &mut purchases {
            commits.push(match (step, purchase.n % 5) {
                (0, _) => purchase.placed(),
                (1, _) => purchase.asked(),
                (2, 1) => purchase.seen(9_000),
                (2, 2) => purchase.cancelled(),
                (3, _) => purchase.settled(),
                (4, 3) => purchase.extended(1),
                (4, 0) => purchase.applied(0),
                (5, 3) => purchase.applied(1),
                _ => Vec::new(),
            });
        }
        for one in &mut goods {
            commits.push(match (step, one.n % 4) {
                (0, _) => one.owed(),
                (1, _) => one.submitted(),
                (2, 0) => one.answered(Submission::Delivered),
                (2, 1) => one.failed(FailureClass::Retryable),
                (2, 2) => one.failed(FailureClass::Permanent),
                (2, 3) => one.failed(FailureClass::Ambiguous),
                _ => Vec::new(),
            });
        }
    }
    commits.retain(|commit| !commit.is_empty());
    commits
}
