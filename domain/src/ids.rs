//! Identifiers as distinct types, so that an order id cannot be passed where a customer id is meant.
//! Ids are made by the caller (UUIDv7); nothing here creates one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps an id made elsewhere.
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// The bare UUID, for storage.
            pub const fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl Default for $name {
            /// The nil id: the identity of an aggregate that has no event yet.
            fn default() -> Self {
                Self(Uuid::nil())
            }
        }
    };
}

id!(
    /// One order. Also the id of the Delivery of a goods order.
    OrderId
);
id!(
    /// The right to one subscription, for its whole life.
    EntitlementId
);
id!(
    /// The stable handle of one remote user on the panel.
    SubscriptionId
);
id!(
    /// Who buys.
    CustomerId
);
id!(
    /// One convergence of the panel to a desired state.
    OperationId
);
id!(
    /// One request for money at one payment provider.
    IntentId
);
id!(
    /// One immutable version of a plan of the catalog.
    PlanVersionId
);

/// A key that makes a repeated request one request: 8 to 128 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct IdempotencyKey(String);

/// Why a text is no idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key has 8 to 128 visible ASCII characters")]
pub struct InvalidIdempotencyKey;

impl IdempotencyKey {
    /// Takes a caller's key as it is.
    ///
    /// # Errors
    /// [`InvalidIdempotencyKey`] when it is shorter than 8 bytes, longer than 128, or holds anything but visible ASCII.
    pub fn parse(text: &str) -> Result<Self, InvalidIdempotencyKey> {
        let fits = (8..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidIdempotencyKey)
        }
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_has_8_to_128_visible_characters() {
        for fits in ["12345678", "order-5f3c:pay/1", &"k".repeat(128)] {
            assert_eq!(
                IdempotencyKey::parse(fits).map(|key| key.as_str().to_owned()),
                Ok(fits.to_owned())
            );
        }
        for wrong in [
            "",
            "1234567",
            &"k".repeat(129),
            "1234 5678",
            "12345678\n",
            "ключключ",
            "1234567\u{0}",
        ] {
            assert_eq!(IdempotencyKey::parse(wrong), Err(InvalidIdempotencyKey), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn a_key_is_kept_as_it_is_or_refused(text in "\\PC{0,140}") {
            if let Ok(key) = IdempotencyKey::parse(&text) {
                prop_assert_eq!(key.as_str(), text.as_str());
                prop_assert!((8..=128).contains(&text.len()));
            }
        }

        #[test]
        fn an_id_is_written_and_read_as_its_uuid(number in any::<u128>()) {
            let id = OrderId::new(Uuid::from_u128(number));
            prop_assert_eq!(id.to_string().parse::<OrderId>().expect("reads back"), id);
            let json = serde_json::to_string(&id).expect("serialises");
            prop_assert_eq!(json, format!("\"{id}\""));
            let debug = format!("{id:?}");
            prop_assert!(debug.starts_with("OrderId("));
        }
    }
}
