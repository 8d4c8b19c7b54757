//! Between domain events and stored columns.

use cqrs_es::persist::{EventUpcaster, SerializedEvent};
use domain::aggregate::Decide;
use serde::Serialize;
use sqlx::{
    Decode, Postgres, Type, ValueRef as _,
    error::BoxDynError,
    postgres::{PgTypeInfo, PgValueFormat, PgValueRef},
};

use crate::StoreError;

/// RFC 8785 JSON of a value: what is inserted and what is hashed.
pub(crate) fn canonical(value: &impl Serialize) -> Result<String, StoreError> {
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
    /// [`StoreError::Corrupt`], naming the event, when the payload does not fit its type.
    pub fn decode(&self, stored: Stored<'_>) -> Result<A::Event, StoreError> {
        let current = !self
            .upcasters
            .iter()
            .any(|step| step.can_upcast(stored.event_type, stored.event_version));
        let event = if current {
            serde_json::from_str(stored.payload)
        } else {
            self.upcast(stored)
        };
        event.map_err(|reason| {
            StoreError::corrupt(
                format!("{}/{}@{}", A::TYPE, stored.aggregate_id, stored.sequence),
                reason,
            )
        })
    }

    /// One fold over the list, oldest step first.
    fn upcast(&self, stored: Stored<'_>) -> Result<A::Event, serde_json::Error> {
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
        serde_json::from_value(event.payload)
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
    use super::holds_nul;

    #[test]
    fn only_a_real_nul_counts() {
        assert!(holds_nul(r#"{"a":"x\u0000"}"#));
        assert!(holds_nul(r#"{"a":"\\\u0000"}"#));
        assert!(!holds_nul(r#"{"a":"\\u0000"}"#));
        assert!(!holds_nul(r#"{"a":"u0000"}"#));
    }
}
