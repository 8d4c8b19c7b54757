//! Fields of a JSON body, read as the panel's validator reads them: absent, null and value are three things.

use chrono::{DateTime, NaiveDateTime, SubsecRound as _, Utc};
use domain::time::Timestamp;
use serde_json::{Map, Value, json};
use uuid::{Uuid, Variant};

use super::answer::Failure;

/// What a body says about one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Field<T> {
    #[default]
    Absent,
    Null,
    Is(T),
}

impl<T> Field<T> {
    /// Puts a given value or null in place of what was.
    pub(super) fn put(self, target: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Null => *target = None,
            Self::Is(value) => *target = Some(value),
        }
    }

    /// The value, for fields whose null is refused.
    pub(super) fn value(self) -> Option<T> {
        match self {
            Self::Absent | Self::Null => None,
            Self::Is(value) => Some(value),
        }
    }
}

/// Reads a body and gathers everything that is wrong with it.
pub(super) struct Body<'a> {
    fields: &'a Map<String, Value>,
    errors: Vec<Value>,
}

impl<'a> Body<'a> {
    pub(super) const fn new(fields: &'a Map<String, Value>) -> Self {
        Self {
            fields,
            errors: Vec::new(),
        }
    }

    pub(super) fn refuse(&mut self, name: &str, message: &str) {
        self.errors
            .push(json!({ "code": "invalid", "path": [name], "message": message }));
    }

    /// A field by its reader. `nullable`: null is a value of its own, not an error.
    pub(super) fn field<T>(&mut self, name: &str, nullable: bool, read: impl FnOnce(&Value) -> Option<T>) -> Field<T> {
        match self.fields.get(name) {
            None => Field::Absent,
            Some(Value::Null) if nullable => Field::Null,
            Some(value) => {
                if let Some(value) = read(value) {
                    return Field::Is(value);
                }
                self.refuse(name, "Invalid input");
                Field::Absent
            }
        }
    }

    pub(super) fn require<T>(&mut self, name: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        if self.fields.get(name).is_none() {
            self.refuse(name, "Required");
        }
        self.field(name, false, read).value()
    }

    /// Ends the reading.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(Failure::Invalid(self.errors))
        }
    }
}

/// A whole number, also in the form `7.0`.
pub(super) fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64()?;
        let exact = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0;
        if exact {
            format!("{number:.0}").parse().ok()
        } else {
            None
        }
    })
}

pub(super) fn not_negative(value: &Value) -> Option<i64> {
    whole(value).filter(|number| *number >= 0)
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(super) fn username(value: &Value) -> Option<String> {
    text(value).filter(|name| {
        (3..=36).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    })
}

pub(super) fn short_uuid(value: &Value) -> Option<String> {
    text(value).filter(|id| (6..=64).contains(&id.len()))
}

pub(super) fn email(value: &Value) -> Option<String> {
    text(value).filter(|address| {
        address
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
    })
}

pub(super) fn tag(value: &Value) -> Option<String> {
    text(value).filter(|tag| {
        (1..=16).contains(&tag.len())
            && tag
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

pub(super) fn strategy(value: &Value) -> Option<String> {
    text(value).filter(|name| ["NO_RESET", "DAY", "WEEK", "MONTH", "MONTH_ROLLING"].contains(&name.as_str()))
}

/// A date and time: with `Z`, an offset, or neither (then UTC). Cut to milliseconds. A bare date is refused.
pub(super) fn instant(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    let zoned = DateTime::parse_from_rfc3339(text).map(|at| at.with_timezone(&Utc)).ok();
    let at = zoned.or_else(|| {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f")
            .ok()
            .map(|at| at.and_utc())
    })?;
    Some(at.trunc_subsecs(3))
}

/// A UUID in its usual form, of a known version and variant, or nil or max.
pub(super) fn uuid(value: &Value) -> Option<Uuid> {
    let text = value.as_str().filter(|text| text.len() == 36)?;
    let id = Uuid::parse_str(text).ok()?;
    let regular = id.get_variant() == Variant::RFC4122 && (1..=8).contains(&id.get_version_num());
    (regular || id.is_nil() || id.is_max()).then_some(id)
}

pub(super) fn uuids(value: &Value) -> Option<Vec<Uuid>> {
    value.as_array()?.iter().map(uuid).collect()
}
