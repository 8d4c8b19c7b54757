//! A change as it comes in: a word and some fields, of which each word takes its own.

use domain::{
    entitlement::{Asked, Limit, MAX_SQUADS},
    ids::EntitlementId,
    time::Timestamp,
};
use serde::Serialize;
use uuid::{Uuid, Variant};

use crate::Refusal;

/// A change that an operator asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeEntitlement {
    /// Whose.
    pub entitlement_id: EntitlementId,
    /// What is asked.
    pub request: ChangeRequest,
    /// Not to be shown before; absent or past means at once.
    pub effective_at: Option<Timestamp>,
    /// Why.
    pub reason: Option<String>,
}

/// What is asked: one of the operations that operators may open, with the fields that belong to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeRequest {
    /// The desired state becomes another one.
    Change(Asked),
    /// The panel is compared with the desired state, and made to agree.
    Reconcile,
}

/// The fields of a request, before it is known which belong to it. An outer `None` is a field that was not named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// A later paid end.
    pub ends_at: Option<Timestamp>,
    /// Bytes; an inner `None` is unlimited.
    pub traffic_allowance_bytes: Option<Option<i64>>,
    /// Devices at once; an inner `None` is unlimited.
    pub device_limit: Option<Option<i32>>,
    /// The whole set.
    pub squad_ids: Option<Vec<String>>,
}

const CODE: &str = "fulfillment_operation_rejected";

const fn rejected(detail: &'static str) -> Refusal {
    Refusal::new(422, CODE, detail)
}

impl ChangeRequest {
    /// Reads one of `extend`, `set_limits`, `set_squads`, `enable`, `disable`, `reset_traffic`, `reconcile` with its fields.
    ///
    /// # Errors
    /// [`Refusal`] `fulfillment_operation_rejected` for another word, a field that is missing or belongs to another word, and squads that
    /// are no UUIDs or too many.
    pub fn parse(operation: &str, fields: Fields) -> Result<Self, Refusal> {
        let Fields {
            ends_at,
            traffic_allowance_bytes: traffic,
            device_limit: devices,
            squad_ids: squads,
        } = fields;
        let asked = match (operation, ends_at, traffic, devices, squads) {
            ("extend", Some(ends_at), None, None, None) => Asked::EndsAt { ends_at },
            ("extend", ..) => return Err(rejected("extend takes endsAt and nothing else")),
            ("set_limits", None, None, None, None) => {
                return Err(rejected("set_limits takes trafficAllowanceBytes, deviceLimit or both"));
            }
            ("set_limits", None, traffic, devices, None) => Asked::Limits {
                traffic_bytes: traffic.map(Limit::from),
                devices: devices.map(Limit::from),
            },
            ("set_limits", ..) => return Err(rejected("set_limits takes trafficAllowanceBytes, deviceLimit or both")),
            ("set_squads", None, None, None, Some(squads)) => Asked::Squads { squads: read(&squads)? },
            ("set_squads", ..) => return Err(rejected("set_squads takes squadIDs and nothing else")),
            ("enable", None, None, None, None) => Asked::Enable,
            ("disable", None, None, None, None) => Asked::Disable,
            ("reset_traffic", None, None, None, None) => Asked::ResetTraffic,
            ("reconcile", None, None, None, None) => return Ok(Self::Reconcile),
            ("enable" | "disable" | "reset_traffic" | "reconcile", ..) => {
                return Err(rejected("this operation takes no endsAt, limits or squadIDs"));
            }
            ("create", ..) => return Err(rejected("only a purchase creates; reconcile makes a missing user anew")),
            _ => return Err(rejected("the operation is not one that operators may open")),
        };
        Ok(Self::Change(asked))
    }

    /// The operation that it opens, as stored.
    pub fn operation(&self) -> String {
        match self {
            Self::Change(asked) => asked.operation().as_str().to_owned(),
            Self::Reconcile => "reconcile".to_owned(),
        }
    }
}

/// The panel takes RFC 9562 UUIDs, the nil and the greatest one, and refuses a whole user for any other.
fn read(squads: &[String]) -> Result<Vec<Uuid>, Refusal> {
    if squads.len() > MAX_SQUADS {
        return Err(rejected("too many squads"));
    }
    let usable = |id: &Uuid| {
        let proper = id.get_variant() == Variant::RFC4122 && (1..=8).contains(&id.get_version_num());
        proper || id.is_nil() || id.is_max()
    };
    squads
        .iter()
        .map(|text| text.parse().ok().filter(usable))
        .collect::<Option<_>>()
        .ok_or_else(|| rejected("a squad is not a UUID"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUAD: &str = "5a1db0c0-0001-4e5a-8b1e-000000000001";

    fn fields(change: impl FnOnce(&mut Fields)) -> Fields {
        let mut fields = Fields::default();
        change(&mut fields);
        fields
    }

    fn squads(texts: &[&str]) -> Fields {
        fields(|one| one.squad_ids = Some(texts.iter().map(|text| (*text).to_owned()).collect()))
    }

    #[test]
    fn each_operation_takes_its_own_fields() {
        let end = Timestamp::default();
        let parse = |operation, fields| ChangeRequest::parse(operation, fields).map(|request| request.operation());
        for (operation, given) in [
            ("extend", fields(|one| one.ends_at = Some(end))),
            ("set_limits", fields(|one| one.device_limit = Some(None))),
            ("set_limits", fields(|one| one.traffic_allowance_bytes = Some(Some(5)))),
            ("set_squads", squads(&[])),
            ("set_squads", squads(&[SQUAD, "00000000-0000-0000-0000-000000000000"])),
            ("enable", Fields::default()),
            ("disable", Fields::default()),
            ("reset_traffic", Fields::default()),
            ("reconcile", Fields::default()),
        ] {
            assert_eq!(parse(operation, given), Ok(operation.to_owned()));
        }
        for (operation, given) in [
            ("extend", Fields::default()),
            (
                "extend",
                fields(|one| (one.ends_at, one.device_limit) = (Some(end), Some(Some(1)))),
            ),
            ("set_limits", Fields::default()),
            (
                "set_limits",
                fields(|one| (one.ends_at, one.device_limit) = (Some(end), Some(Some(1)))),
            ),
            ("set_squads", Fields::default()),
            ("set_squads", squads(&[SQUAD, "main"])),
            ("set_squads", squads(&["00000000-0000-0000-0000-000000000005"])),
            ("set_squads", squads(&[SQUAD; MAX_SQUADS + 1])),
            ("disable", fields(|one| one.ends_at = Some(end))),
            ("reconcile", squads(&[])),
            ("create", Fields::default()),
            ("pause", Fields::default()),
            ("teleport", Fields::default()),
            ("", Fields::default()),
        ] {
            assert_eq!(
                parse(operation, given).map_err(|refusal| refusal.code.into_owned()),
                Err(CODE.to_owned())
            );
        }
    }
}
