//! The chain at work, over a past that this test makes up: the product has shipped first versions only.

use cqrs_es::Aggregate as _;
use serde_json::json;

use super::*;
use crate::{
    aggregate::Decide,
    delivery::Delivery,
    entitlement::Entitlement,
    fixtures::{at, id},
    order::{self, Order},
};

/// Once an order told only a total and had no currency; then the total became a subtotal; then the currency came.
const MADE_UP: &[Step] = &[
    Step {
        event_type: "order.placed",
        from: 0,
        change: name_subtotal,
    },
    Step {
        event_type: "order.placed",
        from: 1,
        change: add_currency,
    },
    Step {
        event_type: "order.cancelled",
        from: 1,
        change: |_| json!("a step of another type"),
    },
];

fn name_subtotal(mut payload: Value) -> Value {
    if let Some(fields) = payload.as_object_mut() {
        let total = fields.remove("total").unwrap_or_default();
        fields.insert("subtotalMinor".to_owned(), total.clone());
        fields.insert("externalMinor".to_owned(), total);
        fields.insert("discountMinor".to_owned(), json!(0));
        fields.insert("walletMinor".to_owned(), json!(0));
    }
    payload
}

fn add_currency(mut payload: Value) -> Value {
    if let Some(fields) = payload.as_object_mut() {
        fields.insert("currency".to_owned(), json!("RUB"));
    }
    payload
}

fn fold(upcasters: &[Box<dyn EventUpcaster>], event: SerializedEvent) -> SerializedEvent {
    upcasters.iter().fold(event, |event, step| {
        if step.can_upcast(&event.event_type, &event.event_version) {
            step.upcast(event)
        } else {
            event
        }
    })
}

fn stored(version: &str, payload: Value) -> SerializedEvent {
    let id = "00000000-0000-0000-0000-000000000001".to_owned();
    SerializedEvent::new(
        id,
        1,
        "order".to_owned(),
        "order.placed".to_owned(),
        version.to_owned(),
        payload,
        Value::Null,
    )
}

fn oldest() -> Value {
    json!({
        "type": "order.placed",
        "orderId": "00000000-0000-0000-0000-000000000001",
        "customerId": "00000000-0000-0000-0000-000000000002",
        "item": {"type": "goods", "product": {
            "code": "stars_100", "provider": "fragment", "kind": {"type": "telegram_stars", "quantity": 100}, "costMinor": null}},
        "total": 19_900,
        "expiresAt": "2030-03-17T18:46:40Z",
        "at": "2030-03-17T17:46:40Z",
    })
}

#[test]
fn an_old_event_climbs_all_steps_and_folds() {
    let event = fold(&upcasters(MADE_UP), stored("0", oldest()));
    assert_eq!(event.event_version, "2");
    let mut order = Order::default();
    order.apply(serde_json::from_value(event.payload).expect("today's form"));
    assert_eq!(order.order_id, id(1));
    assert_eq!(
        (order.subtotal_minor, order.external_minor, order.wallet_minor),
        (19_900, 19_900, 0)
    );
    assert_eq!(
        order.external().map(|due| due.to_string()),
        Some("199.00 RUB".to_owned())
    );
    assert_eq!((order.created_at, order.expires_at), (Some(at(0)), Some(at(3600))));
}

#[test]
fn an_event_enters_at_its_own_version() {
    let middle = name_subtotal(oldest());
    let event = fold(&upcasters(MADE_UP), stored("1", middle.clone()));
    assert_eq!(
        (event.event_version.as_str(), event.payload),
        ("2", add_currency(middle))
    );
    for version in ["2", "3", "", "1.0", "x", "-1"] {
        assert_eq!(
            fold(&upcasters(MADE_UP), stored(version, json!({}))).payload,
            json!({}),
            "{version}"
        );
    }
}

#[test]
fn without_its_steps_an_old_event_is_refused_and_not_guessed() {
    assert!(serde_json::from_value::<order::Event>(oldest()).is_err());
}

/// A step out of order would be passed before its time, and silently left out.
fn check_ascending(steps: &[Step]) {
    for (place, step) in steps.iter().enumerate() {
        let later = steps
            .iter()
            .skip(place + 1)
            .filter(|other| other.event_type == step.event_type);
        for other in later {
            assert!(
                other.from > step.from,
                "{} {} stands behind {}",
                step.event_type,
                other.from,
                step.from
            );
        }
        let joined = step.from == 1 || steps.iter().take(place).any(|one| one.from + 1 == step.from);
        assert!(joined, "{} {} has no step before it", step.event_type, step.from);
    }
}

#[test]
fn every_list_is_ascending_and_can_be_built() {
    let lists = [
        order::upcast::STEPS,
        crate::entitlement::upcast::STEPS,
        crate::delivery::upcast::STEPS,
    ];
    lists.into_iter().for_each(check_ascending);
    let built = [
        Order::upcasters().len(),
        Entitlement::upcasters().len(),
        Delivery::upcasters().len(),
    ];
    assert_eq!(built, lists.map(<[Step]>::len));
}
