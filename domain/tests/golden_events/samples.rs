//! One event of every type. Each function walks its enum by an exhaustive match, so that a new event cannot be left out.

use std::iter::successors;

use domain::{
    delivery::{self, FailureClass},
    entitlement::{self, Asked, DriftKind, Limit, OperationKind, RemoteStatus, Side},
    goods::{Kind, Product},
    ids::OrderId,
    money::Money,
    order::{self, Classification, Item, Operation},
    plan::{Limits, Terms},
    time::{Timestamp, plus_seconds},
};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) fn at(seconds: i64) -> Timestamp {
    let start = Timestamp::from_timestamp(1_900_000_000, 123_456_000).expect("a moment of the calendar");
    plus_seconds(start, seconds).expect("a moment of the calendar")
}

pub(crate) fn id<T: From<Uuid>>(number: u128) -> T {
    Uuid::from_u128((0x0190_5c3a_7e00_7000_8000 << 48) | number).into()
}

fn money() -> Money {
    Money::new(49_900, "RUB".parse().expect("known")).expect("in range")
}

fn terms() -> Terms {
    Terms {
        plan_version_id: id(900),
        plan_code: "standard".to_owned(),
        duration_seconds: 2_592_000,
        grace_seconds: 259_200,
        limits: Limits {
            traffic_bytes: Some(107_374_182_400),
            devices: None,
            squads: vec![id(7), id(8)],
        },
    }
}

fn product() -> Product {
    Product {
        code: "premium_3".to_owned(),
        provider: "fragment".to_owned(),
        kind: Kind::TelegramPremium { months: 3 },
        cost_minor: Some(11_800),
    }
}

pub(crate) fn order_events() -> Vec<order::Event> {
    use order::Event;
    let item = Item::Plan {
        operation: Operation::Purchase,
        entitlement_id: id(30),
        subscription_id: id(40),
        terms: terms(),
    };
    let first = Event::Placed {
        order_id: id(1),
        customer_id: id(2),
        item,
        currency: money().currency(),
        subtotal_minor: 59_900,
        discount_minor: 5_000,
        wallet_minor: 5_000,
        external_minor: 49_900,
        expires_at: at(3600),
        at: at(0),
    };
    successors(Some(first), |event| match event {
        Event::Placed { .. } => Some(Event::WindowExtended {
            expires_at: at(259_200),
            at: at(1),
        }),
        Event::WindowExtended { .. } => Some(Event::IntentOpened {
            intent_id: id(50),
            provider: "cryptobot".to_owned(),
            amount: money(),
            at: at(2),
        }),
        Event::IntentOpened { .. } => Some(Event::PaymentObserved {
            intent_id: id(50),
            provider: "cryptobot".to_owned(),
            provider_event_id: "update:77".to_owned(),
            amount: money(),
            classification: Classification::PaidAfterCancellation,
            at: at(3),
        }),
        Event::PaymentObserved { .. } => Some(Event::Paid {
            intent_id: Some(id(50)),
            paid_minor: 54_900,
            classification: Classification::Paid,
            at: at(4),
        }),
        Event::Paid { .. } => Some(Event::Cancelled { at: at(5) }),
        Event::Cancelled { .. } => Some(Event::Expired { at: at(6) }),
        Event::Expired { .. } => Some(Event::Fulfilled { at: at(7) }),
        Event::Fulfilled { .. } => None,
    })
    .collect()
}

pub(crate) fn entitlement_events() -> Vec<entitlement::Event> {
    use entitlement::Event;
    let first = Event::Granted {
        entitlement_id: id(30),
        subscription_id: id(40),
        customer_id: id(2),
        order_id: id(1),
        terms: terms(),
        starts_at: at(0),
        ends_at: at(2_592_000),
        effective_at: None,
        version: 1,
        at: at(0),
    };
    successors(Some(first), |event| match event {
        Event::Granted { .. } => Some(Event::Extended {
            order_id: id(3),
            terms: terms(),
            ends_at: at(5_184_000),
            effective_at: Some(at(60)),
            reset_traffic: true,
            limits: Limits {
                devices: Some(5),
                ..terms().limits
            },
            version: 2,
            at: at(1),
        }),
        Event::Extended { .. } => Some(Event::OperationOpened {
            operation_id: id(60),
            operation: OperationKind::SetLimits,
            version: 2,
            order_id: Some(id::<OrderId>(3)),
            idempotency_key: "order:3:fulfill".to_owned(),
            correlation_id: "payment:update:77".to_owned(),
            effective_at: Some(at(60)),
            at: at(2),
        }),
        Event::OperationOpened { .. } => Some(Event::Applied {
            version: 2,
            remote_user_id: 501,
            remote_status: RemoteStatus::Limited,
            at: at(3),
        }),
        Event::Applied { .. } => Some(Event::OperationSucceeded {
            operation_id: id(60),
            superseded: true,
            at: at(4),
        }),
        Event::OperationSucceeded { .. } => Some(Event::OperationFailed {
            operation_id: id(60),
            code: "remnawave_http_400".to_owned(),
            attempts: 12,
            at: at(5),
        }),
        Event::OperationFailed { .. } => Some(Event::OperationCancelled {
            operation_id: id(60),
            code: "operator_cancelled".to_owned(),
            at: at(6),
        }),
        Event::OperationCancelled { .. } => Some(Event::OperationRetried {
            operation_id: id(60),
            at: at(7),
        }),
        Event::OperationRetried { .. } => Some(Event::DriftDetected {
            operation_id: Some(id(65)),
            kind: DriftKind::Squads,
            expected: Side::Value {
                value: json!([id::<Uuid>(7), id::<Uuid>(8)]),
            },
            observed: Side::Value { value: json!([]) },
            version: 2,
            at: at(8),
        }),
        Event::DriftDetected { .. } => Some(Event::DriftCorrected {
            operation_id: None,
            kind: DriftKind::Squads,
            version: 2,
            at: at(9),
        }),
        Event::DriftCorrected { .. } => Some(Event::EndMoved {
            operation_id: id(66),
            ends_at: at(6_000_000),
            version: 3,
            at: at(10),
        }),
        Event::EndMoved { .. } => Some(Event::LimitsChanged {
            operation_id: id(67),
            traffic_bytes: None,
            devices: Some(5),
            version: 4,
            at: at(11),
        }),
        Event::LimitsChanged { .. } => Some(Event::SquadsChanged {
            operation_id: id(68),
            squads: vec![id(7), id(9)],
            version: 5,
            at: at(12),
        }),
        Event::SquadsChanged { .. } => Some(Event::Disabled {
            operation_id: id(69),
            version: 6,
            at: at(13),
        }),
        Event::Disabled { .. } => Some(Event::Enabled {
            operation_id: id(70),
            version: 7,
            at: at(14),
        }),
        Event::Enabled { .. } => Some(Event::TrafficReset {
            operation_id: id(71),
            version: 8,
            at: at(15),
        }),
        Event::TrafficReset { .. } => Some(Event::Paused {
            operation_id: id(72),
            version: 9,
            at: at(16),
        }),
        Event::Paused { .. } => Some(Event::Resumed {
            operation_id: id(73),
            ends_at: at(6_000_100),
            paused_seconds: 100,
            version: 10,
            at: at(116),
        }),
        Event::Resumed { .. } => Some(Event::ChangePlanned {
            operation_id: id(74),
            asked: Asked::Limits {
                traffic_bytes: Some(Limit::AtMost(5_368_709_120)),
                devices: None,
            },
            effective_at: at(200),
            at: at(117),
        }),
        Event::ChangePlanned { .. } => Some(Event::ChangeDropped {
            operation_id: id(74),
            at: at(118),
        }),
        Event::ChangeDropped { .. } => None,
    })
    .collect()
}

pub(crate) fn delivery_events() -> Vec<delivery::Event> {
    use delivery::Event;
    let first = Event::Owed {
        order_id: id(1),
        customer_id: id(2),
        product: product(),
        price: money(),
        at: at(0),
    };
    successors(Some(first), |event| match event {
        Event::Owed { .. } => Some(Event::SubmissionStarted {
            attempt: 1,
            deadline: at(130),
            at: at(1),
        }),
        Event::SubmissionStarted { .. } => Some(Event::Accepted {
            attempt: 1,
            reference: "tx-9".to_owned(),
            poll_at: at(62),
            at: at(2),
        }),
        Event::Accepted { .. } => Some(Event::Delivered { attempt: 1, at: at(3) }),
        Event::Delivered { .. } => Some(Event::AttemptFailed {
            attempt: 1,
            class: FailureClass::ProviderUnavailable,
            code: "http_401".to_owned(),
            retry_at: Some(at(124)),
            at: at(4),
        }),
        Event::AttemptFailed { .. } => Some(Event::Parked {
            code: "submission_abandoned".to_owned(),
            at: at(5),
        }),
        Event::Parked { .. } => Some(Event::Resolved {
            delivered: false,
            reason: "asked the provider".to_owned(),
            at: at(6),
        }),
        Event::Resolved { .. } => Some(Event::Failed {
            code: "attempts_exhausted".to_owned(),
            at: at(7),
        }),
        Event::Failed { .. } => Some(Event::Cancelled {
            reason: "the customer asked".to_owned(),
            at: at(8),
        }),
        Event::Cancelled { .. } => Some(Event::RefundOwed {
            amount: money(),
            at: at(9),
        }),
        Event::RefundOwed { .. } => None,
    })
    .collect()
}

pub(crate) fn classifications() -> [(Classification, &'static str); 7] {
    [
        (Classification::Paid, "paid"),
        (Classification::Late, "late"),
        (Classification::PaidAfterCancellation, "paid_after_cancellation"),
        (Classification::Underpayment, "underpayment"),
        (Classification::Overpayment, "overpayment"),
        (Classification::CurrencyMismatch, "currency_mismatch"),
        (Classification::Duplicate, "duplicate"),
    ]
}

pub(crate) fn remote_statuses() -> [(RemoteStatus, &'static str); 5] {
    [
        (RemoteStatus::Active, "active"),
        (RemoteStatus::Disabled, "disabled"),
        (RemoteStatus::Limited, "limited"),
        (RemoteStatus::Expired, "expired"),
        (RemoteStatus::Other, "other"),
    ]
}

pub(crate) fn failure_classes() -> [(FailureClass, &'static str); 6] {
    [
        (FailureClass::Retryable, "retryable"),
        (FailureClass::ProviderBalance, "provider_balance"),
        (FailureClass::ProviderUnavailable, "provider_unavailable"),
        (FailureClass::Permanent, "permanent"),
        (FailureClass::RecipientInvalid, "recipient_invalid"),
        (FailureClass::Ambiguous, "ambiguous"),
    ]
}

pub(crate) fn operation_kinds() -> [(OperationKind, &'static str); 9] {
    [
        (OperationKind::Create, "create"),
        (OperationKind::Reconcile, "reconcile"),
        (OperationKind::Extend, "extend"),
        (OperationKind::SetLimits, "set_limits"),
        (OperationKind::SetSquads, "set_squads"),
        (OperationKind::Enable, "enable"),
        (OperationKind::Disable, "disable"),
        (OperationKind::ResetTraffic, "reset_traffic"),
        (OperationKind::Unknown("teleport".to_owned()), "teleport"),
    ]
}

/// The forms of an item that the golden order does not show.
pub(crate) fn items() -> [(Item, Value); 2] {
    let goods = Item::Goods {
        product: Product {
            kind: Kind::TelegramStars { quantity: 50 },
            cost_minor: None,
            ..product()
        },
    };
    let product = json!({
        "code": "premium_3", "provider": "fragment", "costMinor": null,
        "kind": {"type": "telegram_stars", "quantity": 50},
    });
    let limits = Limits {
        traffic_bytes: None,
        devices: Some(3),
        squads: Vec::new(),
    };
    let terms = Terms { limits, ..terms() };
    let extension = Item::Plan {
        operation: Operation::Extension,
        entitlement_id: id(30),
        subscription_id: id(40),
        terms,
    };
    let plan = json!({
        "type": "plan", "operation": "extension",
        "entitlementId": "01905c3a-7e00-7000-8000-00000000001e", "subscriptionId": "01905c3a-7e00-7000-8000-000000000028",
        "terms": {
            "planVersionId": "01905c3a-7e00-7000-8000-000000000384", "planCode": "standard",
            "durationSeconds": 2_592_000, "graceSeconds": 259_200,
            "limits": {"trafficBytes": null, "devices": 3, "squads": []},
        },
    });
    [(goods, json!({"type": "goods", "product": product})), (extension, plan)]
}
