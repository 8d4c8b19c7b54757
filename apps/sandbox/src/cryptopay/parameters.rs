//! Parameters of a call: query, form or JSON, all the same to the API.

use std::collections::BTreeMap;

use axum::{
    body::{Body, to_bytes},
    http::{Request, header},
};
use domain::time::Timestamp;
use reqwest::Url;
use serde_json::Value;

use super::failure::Failure;

const MAX_BODY_BYTES: usize = 64 * 1024;

/// Parameters by name, as text.
#[derive(Debug, Default)]
pub(super) struct Parameters(BTreeMap<String, String>);

impl Parameters {
    pub(super) async fn read(request: Request<Body>) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let is_json = parts
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.starts_with("application/json"));
        let mut all = form(parts.uri.query().unwrap_or(""));
        let body = to_bytes(body, MAX_BODY_BYTES)
            .await
            .map_err(|_| Failure::invalid("REQUEST_TOO_LARGE"))?;
        if is_json && !body.is_empty() {
            let fields: BTreeMap<String, Value> =
                serde_json::from_slice(&body).map_err(|_| Failure::invalid("PARAMETERS_INVALID"))?;
            all.extend(
                fields
                    .into_iter()
                    .filter_map(|(name, value)| Some((name, plain(value)?))),
            );
        } else {
            all.extend(form(&String::from_utf8_lossy(&body)));
        }
        Ok(Self(all))
    }

    #[cfg(test)]
    pub(super) fn of_query(text: &str) -> Self {
        Self(form(text))
    }

    /// A parameter that is there and not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A whole number, if there is one.
    pub(super) fn number(&self, name: &str, refusal: &'static str) -> Result<Option<i64>, Failure> {
        self.text(name)
            .map(|text| text.parse().map_err(|_| Failure::invalid(refusal)))
            .transpose()
    }

    /// A comma list of whole numbers, if there is one.
    pub(super) fn numbers(&self, name: &str, refusal: &'static str) -> Result<Option<Vec<i64>>, Failure> {
        let read = |text: &str| {
            text.split(',')
                .map(|id| id.trim().parse())
                .collect::<Result<Vec<i64>, _>>()
        };
        self.text(name)
            .map(|text| read(text).map_err(|_| Failure::invalid(refusal)))
            .transpose()
    }

    /// So many seconds after `now`, if the parameter is there.
    pub(super) fn after(&self, name: &str, now: Timestamp) -> Result<Option<Timestamp>, Failure> {
        let invalid = Failure::invalid("EXPIRES_IN_INVALID");
        match self.number(name, "EXPIRES_IN_INVALID")? {
            None => Ok(None),
            Some(seconds @ 1..=2_678_400) => domain::time::plus_seconds(now, seconds).map(Some).ok_or(invalid),
            Some(_) => Err(invalid),
        }
    }
}

fn form(text: &str) -> BTreeMap<String, String> {
    let Ok(mut url) = Url::parse("http://simulator") else {
        return BTreeMap::new();
    };
    url.set_query(Some(text));
    url.query_pairs()
        .into_owned()
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

fn plain(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
