//! Stored events stay readable for ever: one file for each event type and version that was ever released, in `golden/events`.
//!
//! A file that exists is never changed. A new event, or a new version of one, gets a new file:
//! `cargo test -p domain --test golden_events -- --ignored` writes the missing ones.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test may be blunt, and a list long"
)]

mod samples;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    fs,
    path::PathBuf,
};

use cqrs_es::{Aggregate as _, DomainEvent, persist::SerializedEvent};
use domain::{
    aggregate::Decide,
    delivery::Delivery,
    entitlement::{Asked, Entitlement, Side},
    order::{Item, Order},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/events")
}

/// Files by event type and version.
fn files() -> BTreeMap<(String, String), Value> {
    let read = fs::read_dir(folder()).expect("the folder of golden events");
    let paths = read.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a plain name")
                .to_owned();
            let stem = name
                .strip_suffix(".json")
                .unwrap_or_else(|| panic!("{name} is no golden event"));
            let (event_type, version) = stem
                .rsplit_once(".v")
                .unwrap_or_else(|| panic!("{name} names no version"));
            let text = fs::read_to_string(&path).expect("readable");
            let payload = serde_json::from_str(&text).unwrap_or_else(|reason| panic!("{name}: {reason}"));
            ((event_type.to_owned(), version.to_owned()), payload)
        })
        .collect()
}

/// As a store reads: all steps that apply, then today's form.
fn read<A: Decide>(event_type: &str, version: &str, payload: Value) -> Result<A::Event, serde_json::Error> {
    let stored = SerializedEvent::new(
        String::new(),
        1,
        A::TYPE.to_owned(),
        event_type.to_owned(),
        version.to_owned(),
        payload,
        Value::Null,
    );
    let event = A::upcasters().iter().fold(stored, |event, step| {
        if step.can_upcast(&event.event_type, &event.event_version) {
            step.upcast(event)
        } else {
            event
        }
    });
    serde_json::from_value(event.payload)
}

/// A field that a later version might have added, at the top and in every object below.
fn with_unknown_fields(payload: &Value) -> Value {
    match payload {
        Value::Object(fields) => {
            let inner = fields
                .iter()
                .map(|(name, value)| (name.clone(), with_unknown_fields(value)));
            inner
                .chain([("addedLater".to_owned(), json!({"by": ["a", "newer", "version"]}))])
                .collect()
        }
        Value::Array(values) => values.iter().map(with_unknown_fields).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => payload.clone(),
    }
}

fn check<A>(samples: &[A::Event])
where
    A: Decide,
    A::Event: PartialEq + Debug,
{
    let files = files();
    for sample in samples {
        let key = (sample.event_type(), sample.event_version());
        let file = files.get(&key).unwrap_or_else(|| panic!("no golden file for {key:?}"));
        assert_eq!(
            &serde_json::to_value(sample).expect("serialises"),
            file,
            "the form of {key:?} has changed"
        );
        assert_eq!(file.get("type"), Some(&json!(key.0)), "the payload names its type");
    }
    let prefix = format!("{}.", A::TYPE);
    for ((event_type, version), payload) in files
        .iter()
        .filter(|((event_type, _), _)| event_type.starts_with(&prefix))
    {
        let event = read::<A>(event_type, version, payload.clone())
            .unwrap_or_else(|reason| panic!("{event_type} version {version} can no longer be read: {reason}"));
        let tolerant = read::<A>(event_type, version, with_unknown_fields(payload));
        assert_eq!(tolerant.expect("an unknown field is tolerated"), event);
    }
}

#[test]
fn b62_every_order_event_ever_released_is_read() {
    check::<Order>(&samples::order_events());
}

#[test]
fn b62_every_entitlement_event_ever_released_is_read() {
    check::<Entitlement>(&samples::entitlement_events());
}

#[test]
fn b62_every_delivery_event_ever_released_is_read() {
    check::<Delivery>(&samples::delivery_events());
}

#[test]
fn b62_every_file_belongs_to_an_aggregate_and_type_names_are_ours() {
    for (event_type, version) in files().into_keys() {
        let (aggregate, fact) = event_type
            .split_once('.')
            .unwrap_or_else(|| panic!("{event_type} has no aggregate"));
        assert!(
            [Order::TYPE, Entitlement::TYPE, Delivery::TYPE].contains(&aggregate),
            "{event_type}"
        );
        assert!(
            fact.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{event_type} is a name of the code"
        );
        assert!(
            version.parse().is_ok_and(|version: u32| version >= 1),
            "versions are plain numbers: {version}"
        );
    }
}

#[test]
fn b62_an_unknown_type_is_an_error_that_names_it() {
    let payload = json!({"type": "order.teleported", "at": "2030-03-17T17:46:40Z"});
    let reason = read::<Order>("order.teleported", "1", payload)
        .expect_err("nobody knows this event")
        .to_string();
    assert!(reason.contains("order.teleported"), "{reason}");
    let missing = read::<Order>("order.paid", "1", json!({"type": "order.paid"})).expect_err("fields are missing");
    assert!(missing.to_string().contains("missing field"), "{missing}");
}

fn check_words<T: Serialize + DeserializeOwned + PartialEq + Debug>(words: &[(T, &str)]) {
    for (value, word) in words {
        assert_eq!(serde_json::to_value(value).expect("serialises"), json!(word));
        assert_eq!(&serde_json::from_value::<T>(json!(word)).expect("reads back"), value);
    }
}

/// Words inside of events are as lasting as their types.
#[test]
fn b62_the_words_inside_of_events_stay() {
    check_words(&samples::classifications());
    check_words(&samples::remote_statuses());
    check_words(&samples::failure_classes());
    check_words(&words::drift_kinds());
    for (side, expected) in words::sides() {
        assert_eq!(serde_json::to_value(&side).expect("serialises"), expected);
        assert_eq!(serde_json::from_value::<Side>(expected).expect("reads back"), side);
    }
    check_words(&samples::operation_kinds());
    for (asked, expected) in words::asked() {
        assert_eq!(serde_json::to_value(&asked).expect("serialises"), expected);
        assert_eq!(serde_json::from_value::<Asked>(expected).expect("reads back"), asked);
    }
    for (item, expected) in samples::items() {
        assert_eq!(serde_json::to_value(&item).expect("serialises"), expected);
        assert_eq!(serde_json::from_value::<Item>(expected).expect("reads back"), item);
    }
}

fn collect<E: DomainEvent>(events: &[E], into: &mut Vec<(String, String, Value)>) {
    for event in events {
        let payload = serde_json::to_value(event).expect("serialises");
        into.push((event.event_type(), event.event_version(), payload));
    }
}

#[test]
#[ignore = "writes the files that are missing"]
fn write_missing_files() {
    let existing: BTreeSet<_> = files().into_keys().collect();
    let mut missing: Vec<(String, String, Value)> = Vec::new();
    collect(&samples::order_events(), &mut missing);
    collect(&samples::entitlement_events(), &mut missing);
    collect(&samples::delivery_events(), &mut missing);
    missing.retain(|(event_type, version, _)| !existing.contains(&(event_type.clone(), version.clone())));
    for (event_type, version, payload) in missing {
        let text = serde_json::to_string_pretty(&payload).expect("serialises") + "\n";
        fs::write(folder().join(format!("{event_type}.v{version}.json")), text).expect("writable");
    }
}
