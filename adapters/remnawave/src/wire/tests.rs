//! What is sent, byte for byte, and what is read.

use chrono::DateTime;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn push(limits: Limits, activate: bool) -> Push {
    let expire_at = DateTime::from_timestamp(1_900_000_000, 123_456_789).unwrap();
    Push {
        expire_at,
        limits,
        activate,
        shut: false,
    }
}

fn unlimited() -> Limits {
    Limits {
        traffic_bytes: None,
        devices: None,
        squads: Vec::new(),
    }
}

#[test]
fn what_is_sent_is_whole_and_never_null() {
    let created = json!(CreateIn::new("name", "omniflow:x", &push(unlimited(), false)));
    let expected = json!({
        "username": "name", "description": "omniflow:x", "expireAt": "2030-03-17T17:46:40.123Z", "status": "ACTIVE",
        "trafficLimitBytes": 0, "hwidDeviceLimit": 0, "activeInternalSquads": [],
    });
    assert_eq!(created, expected);
    let shut = Push {
        shut: true,
        ..push(unlimited(), false)
    };
    assert_eq!(json!(CreateIn::new("name", "omniflow:x", &shut))["status"], "DISABLED");
    assert_eq!(
        json!(UpdateIn::new(7, &shut)).get("status"),
        None,
        "an action shuts a user that exists"
    );
    let limits = Limits {
        traffic_bytes: Some(5),
        devices: Some(2),
        squads: vec![Uuid::nil()],
    };
    let updated = json!(UpdateIn::new(7, &push(limits.clone(), false)));
    let mut expected = json!({
        "id": 7, "expireAt": "2030-03-17T17:46:40.123Z", "trafficLimitBytes": 5, "hwidDeviceLimit": 2,
        "activeInternalSquads": ["00000000-0000-0000-0000-000000000000"],
    });
    assert_eq!(updated, expected);
    expected["status"] = json!("ACTIVE");
    assert_eq!(json!(UpdateIn::new(7, &push(limits, true))), expected);
}

fn user() -> Value {
    json!({
        "id": 7, "username": "name", "status": "ACTIVE", "expireAt": "2030-01-01T00:00:00.000Z", "trafficLimitBytes": 5,
        "hwidDeviceLimit": 3, "description": "d", "trafficLimitStrategy": "MONTH_ROLLING",
        "activeInternalSquads": [{ "uuid": "5a1db0c0-0001-4e5a-8b1e-000000000001", "name": "Standard" }],
        "userTraffic": { "usedTrafficBytes": 4, "onlineAt": null },
    })
}

fn read(user: Value) -> Option<RemoteUser> {
    serde_json::from_value::<UserOut>(user).ok().map(RemoteUser::from)
}

#[test]
fn reading_bears_what_other_versions_may_send() {
    let plain = read(user()).unwrap();
    assert_eq!((plain.id, plain.used_traffic_bytes, plain.squads.len()), (7, 4, 1));
    for (field, value, changed) in [
        ("id", json!(7.0), RemoteUser { id: 7, ..plain.clone() }),
        (
            "status",
            json!("PAUSED"),
            RemoteUser {
                status: RemoteStatus::Other,
                ..plain.clone()
            },
        ),
        (
            "hwidDeviceLimit",
            Value::Null,
            RemoteUser {
                device_limit: None,
                ..plain.clone()
            },
        ),
        (
            "description",
            Value::Null,
            RemoteUser {
                description: None,
                ..plain.clone()
            },
        ),
        ("trafficLimitBytes", json!(5e0), plain.clone()),
        (
            "userTraffic",
            Value::Null,
            RemoteUser {
                used_traffic_bytes: 0,
                ..plain.clone()
            },
        ),
        (
            "lastTrafficResetAt",
            json!("2030-01-01T00:00:00.000Z"),
            RemoteUser {
                traffic_reset_at: Some(plain.expire_at),
                ..plain.clone()
            },
        ),
        ("lastTrafficResetAt", Value::Null, plain.clone()),
        ("newField", json!({ "x": [1] }), plain.clone()),
    ] {
        let mut other = user();
        other[field] = value.clone();
        assert_eq!(read(other), Some(changed), "{field} {value}");
    }
}

#[test]
fn what_would_be_a_guess_is_not_read() {
    for (field, value) in [
        ("id", json!("7")),
        ("id", json!(7.5)),
        ("id", json!(1e300)),
        ("id", Value::Null),
        ("username", Value::Null),
        ("expireAt", json!("2030-01-01T00:00:00.000")),
        ("expireAt", json!("tomorrow")),
        ("trafficLimitBytes", json!("5")),
    ] {
        let mut other = user();
        other[field] = value.clone();
        assert_eq!(read(other), None, "{field} {value}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(body in any::<Vec<u8>>(), cut in 0_usize..400) {
        let _ = serde_json::from_slice::<Envelope<UserOut>>(&body);
        let mut whole = json!({ "response": user() }).to_string();
        whole.truncate(cut.min(whole.len()));
        let complete = whole.ends_with("}}") && serde_json::from_str::<Value>(&whole).is_ok();
        prop_assert_eq!(serde_json::from_str::<Envelope<UserOut>>(&whole).is_ok(), complete);
    }
}
