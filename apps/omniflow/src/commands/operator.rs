//! The use cases as an operator's command line calls them.

use std::path::Path;

use domain::ids::IdempotencyKey;
use ports::ids::{Ids as _, SystemIds};
use service::{Caller, Service};
use store::KeyedRequest;

use crate::{
    config::Config,
    failure::Failure,
    wiring::{
        adapters::Adapters,
        core::{assemble, connect},
        database::Database,
    },
};

/// Whose idempotency keys these are.
const PRINCIPAL: &str = "cli";

/// The use cases on the database of the settings or the data directory, without calling anything outside.
///
/// # Errors
/// [`Failure`] when the database is not there or has another schema.
pub(super) async fn service(config: &Config, data_dir: &Path) -> Result<Service, Failure> {
    let database = Database::find(config, data_dir).await?;
    let options = database.pool_options("cli", 2);
    let core = assemble(connect(&options).await?, &options, &Adapters::none(), None)?;
    Ok(core.service)
}

/// An operator at a terminal, with a fresh correlation id.
pub(super) fn caller(operator: &str) -> Caller {
    Caller::new(format!("operator:{operator}"), SystemIds.next().to_string())
}

/// An operator at a terminal who said who they are and why.
///
/// # Errors
/// [`Failure::Usage`] when a name or a reason says nothing, too much, or more than one line.
pub(super) fn caller_because(operator: &str, reason: &str) -> Result<Caller, Failure> {
    let operator = told(operator, 100, "an operator's name of 1 to 100 characters is required")?;
    let reason = told(reason, 400, "a reason of 1 to 400 characters is required")?;
    Ok(caller(operator).because(reason))
}

fn told<'a>(text: &'a str, most: usize, what: &str) -> Result<&'a str, Failure> {
    let text = text.trim();
    let fits = !text.is_empty() && text.chars().count() <= most && !text.chars().any(char::is_control);
    if fits {
        Ok(text)
    } else {
        Err(Failure::Usage(what.to_owned()))
    }
}

/// A key that is used once: a command line is not sent twice by itself.
///
/// # Errors
/// [`Failure::Usage`] when the request cannot be stored.
pub(super) fn keyed(route: &str, request: &impl serde::Serialize) -> Result<KeyedRequest, Failure> {
    let key =
        IdempotencyKey::parse(&SystemIds.next().to_string()).map_err(|error| Failure::Usage(error.to_string()))?;
    KeyedRequest::new(PRINCIPAL, key, route, request).map_err(|error| Failure::Usage(error.to_string()))
}

impl From<service::Error> for Failure {
    /// A refusal is an answer; everything else is something that is not there.
    fn from(error: service::Error) -> Self {
        use service::Severity;
        let text = format!("{error} ({})", error.code());
        match error.severity() {
            Severity::Info => Self::No(text),
            Severity::Warn | Severity::Error => Self::Unavailable(text),
        }
    }
}
