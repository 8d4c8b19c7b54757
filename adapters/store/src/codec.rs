//! Between domain events and stored columns.

use cqrs_es::{
    DomainEvent as _,
    persist::{EventUpcaster, SerializedEvent},
};
use domain::aggregate::Decide;
use serde::Serialize;
use sqlx::{
    Decode, Postgres, Type, ValueRef as _,
    error::BoxDynError,
    postgres::{PgTypeInfo, PgValueFormat, PgValueRef},
};

use crate::StoreError;

/// RFC 8785 JSON of a value: what is inserted and what is hashed.
///
/// # Errors
/// [`StoreError::Unstorable`] for text with U+0000; [`StoreError::Corrupt`] for what JSON cannot hold.
pub fn canonical(value: &impl Serialize) -> Result<String, StoreError> {
    let text =
        serde_json_canonicalizer::to_string(value).map_err(|reason| StoreError::corrupt("a value to store", reason))?;
    if holds_nul(&text) {
        Err(StoreError::Unstorable)
    } else {
        Ok(text)
    }
}

/// True where JSON text holds U+0000: the escape `\u0000` whose backslash is not itself escaped.
fn holds_nul(json: &str) -> bool {
    json.match_indices("\\u0000").any(|(at, _)| {
        let before = json
            .as_bytes()
            .iter()
            .take(at)
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        before % 2 == 0
    })
}

/// Text of a `jsonb` column, taken as it came over the wire.
#[derive(Debug)]
pub(crate) struct JsonText(pub(crate) String);

impl Type<Postgres> for JsonText {
    fn type_info() -> PgTypeInfo {
        <sqlx::types::JsonValue as Type<Postgres>>::type_info()
    }

    fn compatible(ty: &PgTypeInfo) -> bool {
        <sqlx::types::JsonValue as Type<Postgres>>::compatible(ty)
    }
}

impl<'r> Decode<'r, Postgres> for JsonText {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let binary = value.format() == PgValueFormat::Binary && value.type_info().as_ref() == &Self::type_info();
        let bytes = value.as_bytes()?;
        // The binary form of jsonb is a version byte, 1, before the text.
        let text = if binary {
            bytes
                .strip_prefix(&[1])
                .ok_or("an unknown version of the jsonb format")?
        } else {
            bytes
        };
        Ok(Self(std::str::from_utf8(text)?.to_owned()))
    }
}

/// The columns of one stored event that its decoding needs.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// The stream's id.
    pub aggregate_id: &'a str,
    /// From 1.
    pub sequence: i64,
    /// As stored.
    pub event_type: &'a str,
    /// As stored, maybe an older one.
    pub event_version: &'a str,
    /// JSON text.
    pub payload: &'a str,
}

/// Brings stored events of one aggregate to today's form.
pub struct Decoder<A> {
    upcasters: Vec<Box<dyn EventUpcaster>>,
    aggregate: std::marker::PhantomData<fn() -> A>,
}

impl<A> std::fmt::Debug for Decoder<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder")
            .field("upcasters", &self.upcasters.len())
            .finish_non_exhaustive()
    }
}

impl<A: Decide> Default for Decoder<A> {
    fn default() -> Self {
        Self {
            upcasters: A::upcasters(),
            aggregate: std::marker::PhantomData,
        }
    }
}

impl<A: Decide> Decoder<A> {
    /// Decodes one event.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], naming the event, when the payload does not fit its type, or when its version is not one that leads to
    /// today's: a newer program wrote it, and reading it by old rules would be a guess.
    pub fn decode(&self, stored: Stored<'_>) -> Result<A::Event, StoreError> {
        let old = |step: &dyn EventUpcaster| step.can_upcast(stored.event_type, stored.event_version);
        let read = if self.upcasters.iter().any(|step| old(step.as_ref())) {
            self.upcast(stored)
        } else {
            serde_json::from_str(stored.payload).map(|event| (event, None))
        };
        let (event, climbed) = read.map_err(|reason| stored.corrupt(A::TYPE, reason))?;
        let reached = climbed.as_deref().unwrap_or(stored.event_version);
        if reached == A::Event::event_version(&event) {
            Ok(event)
        } else {
            Err(stored.corrupt(A::TYPE, "its version is not known here"))
        }
    }

    /// One fold over the list, oldest step first. Also tells the version that was reached.
    fn upcast(&self, stored: Stored<'_>) -> Result<(A::Event, Option<String>), serde_json::Error> {
        let event = SerializedEvent::new(
            stored.aggregate_id.to_owned(),
            usize::try_from(stored.sequence).unwrap_or_default(),
            A::TYPE.to_owned(),
            stored.event_type.to_owned(),
            stored.event_version.to_owned(),
            serde_json::from_str(stored.payload)?,
            serde_json::Value::Null,
        );
        let event = self.upcasters.iter().fold(event, |event, step| {
            if step.can_upcast(&event.event_type, &event.event_version) {
                step.upcast(event)
            } else {
                event
            }
        });
        Ok((serde_json::from_value(event.payload)?, Some(event.event_version)))
    }
}

impl Stored<'_> {
    fn corrupt(&self, aggregate: &str, reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
        let (id, sequence) = (self.aggregate_id, self.sequence);
        let (event_type, version) = (self.event_type, self.event_version);
        StoreError::corrupt(
            format!("{aggregate}/{id}@{sequence} ({event_type} version {version})"),
            reason,
        )
    }
}

/// Decodes one event of an aggregate.
///
/// # Errors
/// As [`Decoder::decode`].
pub fn decode_event<A: Decide>(stored: Stored<'_>) -> Result<A::Event, StoreError> {
    Decoder::<A>::default().decode(stored)
}

#[cfg(test)]
mod tests {
    use domain::order::{Event, Order};

    use super::{Stored, decode_event, holds_nul};

    fn read(event_type: &str, event_version: &str, payload: &str) -> Result<Event, String> {
        let stored = Stored {
            aggregate_id: "o1",
            sequence: 7,
            event_type,
            event_version,
            payload,
        };
        decode_event::<Order>(stored).map_err(|error| {
            let reason = std::error::Error::source(&error).map(ToString::to_string);
            format!("{error}: {}", reason.unwrap_or_default())
        })
    }

    #[test]
    fn b62_what_cannot_be_read_is_an_error_that_names_type_version_and_sequence() {
        let cancelled = r#"{"type":"order.cancelled","at":"2030-03-17T17:46:40Z","later":1}"#;
        assert!(
            read("order.cancelled", "1", cancelled).is_ok(),
            "an unknown field is tolerated"
        );
        let unreadable = [
            ("order.cancelled", "2", cancelled),
            ("order.cancelled", "x", cancelled),
            ("order.teleported", "1", r#"{"type":"order.teleported"}"#),
            ("order.cancelled", "1", r#"{"type":"order.cancelled"}"#),
            ("order.cancelled", "1", "{"),
        ];
        for (event_type, version, payload) in unreadable {
            let error = read(event_type, version, payload).expect_err("refused");
            for part in ["order/o1@7", event_type, &format!("version {version}")] {
                assert!(error.contains(part), "{error} lacks {part}");
            }
        }
    }

    #[test]
    fn only_a_real_nul_counts() {
        assert!(holds_nul(r#"{"a":"x\u0000"}"#));
        assert!(holds_nul(r#"{"a":"\\\u0000"}"#));
        assert!(!holds_nul(r#"{"a":"\\u0000"}"#));
        assert!(!holds_nul(r#"{"a":"u0000"}"#));
    }
}
