//! Any history of calls: ids mean one user for ever, names are unique, the journal rebuilds the same panel.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta};
use domain::time::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    answer::Failure,
    change,
    input::{Create, Patch},
    state::{Effect, State},
    user::{Status, User},
};
use crate::journal::{Entry, Replay as _};

#[derive(Clone, Debug)]
enum Call {
    Create { name: u8, days: i64 },
    Patch(Value),
    Enable(i64),
    Disable(i64),
    Reset(i64),
    Delete(i64),
    Traffic(i64, i64),
    Wait(i64),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let id = 1_i64..8;
    let patch = (
        id.clone(),
        prop::option::of(prop::sample::select(vec!["ACTIVE", "DISABLED"])),
        0_i64..200,
        0_i64..40,
    )
        .prop_map(|(id, status, limit, days)| {
            let mut body = json!({ "id": id, "trafficLimitBytes": limit });
            if let Some(status) = status {
                body["status"] = json!(status);
            }
            if days > 0 {
                body["days"] = json!(days);
            }
            Call::Patch(body)
        });
    let call = prop_oneof![
        4 => (0_u8..6, -5_i64..40).prop_map(|(name, days)| Call::Create { name, days }),
        4 => patch,
        1 => id.clone().prop_map(Call::Enable),
        1 => id.clone().prop_map(Call::Disable),
        1 => id.clone().prop_map(Call::Reset),
        1 => id.clone().prop_map(Call::Delete),
        2 => (id, 0_i64..200).prop_map(|(id, bytes)| Call::Traffic(id, bytes)),
        2 => (1_i64..20).prop_map(Call::Wait),
    ];
    prop::collection::vec(call, 1..60)
}

fn carry_out(state: &State, now: Timestamp, call: &Call) -> Result<Effect, Failure> {
    match call {
        Call::Create { name, days } => {
            let body = json!({ "username": format!("user-{name}"), "expireAt": now + TimeDelta::days(*days) });
            let short_uuid = format!("short-{}", state.next_id());
            change::create(state, now, Create::read(body.to_string().as_bytes())?, short_uuid)
        }
        Call::Patch(body) => {
            let mut body = body.clone();
            if let Some(days) = body.get("days").and_then(Value::as_i64) {
                body["expireAt"] = json!(now + TimeDelta::days(days));
            }
            change::patch(state, now, Patch::read(body.to_string().as_bytes(), now)?)
        }
        Call::Enable(id) => change::enable(state, now, *id),
        Call::Disable(id) => change::disable(state, now, *id),
        Call::Reset(id) => change::reset_traffic(state, now, *id),
        Call::Delete(id) => change::delete(state, *id),
        Call::Traffic(id, bytes) => change::set_traffic(state, now, *id, *bytes),
        Call::Wait(_) => Err(Failure::NOT_FOUND),
    }
}

fn users(state: &State) -> Vec<User> {
    state.after(0).cloned().collect()
}

/// What must hold of every change, told from the user before it.
fn check_rules(before: &User, call: &Call, after: &User, now: Timestamp) {
    let (was, is) = (before.status_at(now), after.status);
    match call {
        Call::Patch(body) => match (was, body.get("status").and_then(Value::as_str)) {
            (_, Some("ACTIVE")) => assert_eq!(is, Status::Active),
            (Status::Active, Some("DISABLED")) => assert_eq!(is, Status::Disabled),
            (Status::Expired | Status::Disabled, Some("DISABLED")) | (Status::Disabled, None) => assert_eq!(is, was),
            _ => {}
        },
        Call::Reset(_) => assert_eq!((after.used_traffic_bytes, is == Status::Limited), (0, false)),
        _ => {}
    }
    assert_eq!(
        (before.id, &before.username, &before.short_uuid),
        (after.id, &after.username, &after.short_uuid)
    );
}

proptest! {
    #[test]
    fn any_history(calls in calls()) {
        let mut now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let (mut state, mut journal) = (State::default(), Vec::new());
        let mut name_of: HashMap<i64, String> = HashMap::new();
        for call in &calls {
            if let Call::Wait(days) = call {
                now += TimeDelta::days(*days);
            }
            let Ok(effect) = carry_out(&state, now, call) else { continue };
            if let Some(after) = effect.user() {
                if let Some(before) = state.get(after.id) {
                    check_rules(before, call, after, now);
                } else {
                    prop_assert!(!name_of.contains_key(&after.id), "id {} was used before", after.id);
                }
                let known = name_of.entry(after.id).or_insert_with(|| after.username.clone());
                prop_assert_eq!(&*known, &after.username);
            }
            let seq = u64::try_from(journal.len()).unwrap() + 1;
            let entry = Entry { seq, at: now, effect };
            state.apply(&entry);
            journal.push(serde_json::to_string(&entry).unwrap());

            let names: Vec<String> = users(&state).into_iter().map(|user| user.username).collect();
            prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
            for user in users(&state) {
                prop_assert!(user.expire_at > now || user.status_at(now) != Status::Active);
            }
        }
        let mut rebuilt = State::default();
        for line in &journal {
            rebuilt.apply(&serde_json::from_str(line).unwrap());
        }
        prop_assert_eq!(users(&rebuilt), users(&state));
        prop_assert_eq!(rebuilt.next_id(), state.next_id());
    }
}
