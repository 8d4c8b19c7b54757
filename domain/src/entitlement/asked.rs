//! What an operator may ask of an entitlement. Part of a planned change, so its words are stored for ever.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::OperationKind;
use crate::{money::MAX_MINOR, plan::Limits, time::Timestamp};

/// Most squads of one user.
pub const MAX_SQUADS: usize = 100;

/// A limit that is named: unlimited is a word of its own, never an absent number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    from = "Named<T>",
    into = "Named<T>",
    bound(serialize = "T: Copy + Serialize", deserialize = "T: Deserialize<'de>")
)]
pub enum Limit<T> {
    /// No limit.
    Unlimited,
    /// At most so many. Greater than zero, because the panel reads zero as unlimited.
    AtMost(T),
}

/// As stored: an object bears fields that a later version adds.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Named<T> {
    /// Null is unlimited.
    most: Option<T>,
}

impl<T> From<Named<T>> for Limit<T> {
    fn from(named: Named<T>) -> Self {
        named.most.into()
    }
}

impl<T> From<Limit<T>> for Named<T> {
    fn from(limit: Limit<T>) -> Self {
        Self {
            most: limit.into_option(),
        }
    }
}

impl<T> Limit<T> {
    /// As plans write it: nothing is unlimited.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Unlimited => None,
            Self::AtMost(most) => Some(most),
        }
    }
}

impl<T> From<Option<T>> for Limit<T> {
    fn from(most: Option<T>) -> Self {
        most.map_or(Self::Unlimited, Self::AtMost)
    }
}

/// A change that an operator asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Asked {
    /// A later paid end, as a gift.
    EndsAt {
        /// Strictly later than the present one.
        ends_at: Timestamp,
    },
    /// Other limits; an absent one stays as it is.
    Limits {
        /// Bytes of traffic.
        traffic_bytes: Option<Limit<i64>>,
        /// Devices at once.
        devices: Option<Limit<i32>>,
    },
    /// Other squads: the whole set.
    Squads {
        /// May be none at all.
        squads: Vec<Uuid>,
    },
    /// Access is open again.
    Enable,
    /// Access is shut until it is enabled.
    Disable,
    /// Used traffic starts anew.
    ResetTraffic,
    /// Access is shut, and the time until it is resumed is not counted.
    Pause,
    /// Ends a pause; the time that it took is added to the paid end.
    Resume,
}

impl Asked {
    /// The operation that brings it to the panel. The seeds know eight: a pause shuts, its end opens.
    pub const fn operation(&self) -> OperationKind {
        match self {
            Self::EndsAt { .. } => OperationKind::Extend,
            Self::Limits { .. } => OperationKind::SetLimits,
            Self::Squads { .. } => OperationKind::SetSquads,
            Self::Enable | Self::Resume => OperationKind::Enable,
            Self::Disable | Self::Pause => OperationKind::Disable,
            Self::ResetTraffic => OperationKind::ResetTraffic,
        }
    }

    /// May be asked for a later moment. A pause counts time from the moment it is asked.
    pub(super) const fn may_be_planned(&self) -> bool {
        !matches!(self, Self::Pause | Self::Resume)
    }

    /// Squads sorted and without repeats, so that equal wishes are equal bytes.
    pub(super) fn normalised(mut self) -> Self {
        if let Self::Squads { squads } = &mut self {
            squads.sort_unstable();
            squads.dedup();
        }
        self
    }

    /// Asks for what was asked before: each limit that is named is named the same.
    pub(super) fn repeats(&self, before: &Self) -> bool {
        match (self, before) {
            (
                Self::Limits { traffic_bytes, devices },
                Self::Limits {
                    traffic_bytes: traffic_before,
                    devices: devices_before,
                },
            ) => {
                (traffic_bytes.is_none() || traffic_bytes == traffic_before)
                    && (devices.is_none() || devices == devices_before)
            }
            (now, before) => now == before,
        }
    }

    /// The numbers of it can be sold, whatever the entitlement's state.
    pub(super) fn is_valid(&self) -> bool {
        match self {
            Self::Limits {
                traffic_bytes: None,
                devices: None,
            } => false,
            Self::Limits { traffic_bytes, devices } => {
                let traffic = traffic_bytes.and_then(Limit::into_option);
                let devices = devices.and_then(Limit::into_option);
                traffic.is_none_or(|bytes| (1..=MAX_MINOR).contains(&bytes)) && devices.is_none_or(|most| most >= 1)
            }
            Self::Squads { squads } => squads.len() <= MAX_SQUADS,
            Self::EndsAt { .. } | Self::Enable | Self::Disable | Self::ResetTraffic | Self::Pause | Self::Resume => {
                true
            }
        }
    }
}

/// `limits` with what is named replaced.
pub(super) fn limited(limits: &Limits, traffic_bytes: Option<Limit<i64>>, devices: Option<Limit<i32>>) -> Limits {
    Limits {
        traffic_bytes: traffic_bytes.map_or(limits.traffic_bytes, Limit::into_option),
        devices: devices.map_or(limits.devices, Limit::into_option),
        squads: limits.squads.clone(),
    }
}
