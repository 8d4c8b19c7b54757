//! What holds for every aggregate, whatever is asked of it in whatever order.

use std::fmt::Debug;

use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use crate::aggregate::Decide;

/// Walks through a sequence of commands. After each one `check` sees the state before, the new events and the state after.
pub(crate) fn walk<A>(
    commands: Vec<A::Command>,
    mut check: impl FnMut(&A, &[A::Event], &A) -> Result<(), TestCaseError>,
) -> Result<Vec<A::Event>, TestCaseError>
where
    A: Decide + Clone + PartialEq + Debug + Serialize + DeserializeOwned,
    A::Command: Clone + Debug,
    A::Event: PartialEq + Debug,
    A::Error: PartialEq,
{
    let mut state = A::default();
    let mut history = Vec::new();
    for command in commands {
        let decided = state.decide(command.clone());
        prop_assert!(
            state.decide(command.clone()) == decided,
            "a decision depends on state and command only"
        );
        let events = decided.unwrap_or_default();
        let mut next = state.clone();
        for event in &events {
            next.apply(as_stored(event)?);
        }
        check(&state, &events, &next)?;
        let repeated = next.decide(command.clone()).unwrap_or_default();
        prop_assert!(
            events.is_empty() || !repeats_forever(&events, &repeated),
            "{command:?} repeats {repeated:?}"
        );
        history.extend(events);
        state = next;
    }
    prop_assert_eq!(&fold::<A>(&history), &state, "one fold leads where the steps led");
    let json = serde_json::to_string(&state).expect("a state serialises");
    prop_assert_eq!(&serde_json::from_str::<A>(&json).expect("a state reads back"), &state);
    Ok(history)
}

pub(crate) fn fold<A: Decide>(events: &[A::Event]) -> A {
    let mut state = A::default();
    for event in events {
        state.apply(event.clone());
    }
    state
}

/// The event as it comes back from storage: equal, or the test has failed.
fn as_stored<E: Serialize + DeserializeOwned + PartialEq + Debug>(event: &E) -> Result<E, TestCaseError> {
    let json = serde_json::to_string(event).expect("an event serialises");
    let read = serde_json::from_str(&json).expect("an event reads back");
    prop_assert_eq!(&read, event);
    Ok(read)
}

/// The same command right after itself may add nothing, or something new, but never the same facts again.
fn repeats_forever<E: PartialEq>(events: &[E], repeated: &[E]) -> bool {
    events == repeated
}
