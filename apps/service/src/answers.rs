//! Answers to keyed requests: made once, stored with the effect, given again to every repeat.

use domain::ids::OrderId;
use serde::{Serialize, de::DeserializeOwned};
use store::{KeyedRequest, Loaded, StoreError, StoredAnswer, UnitOfWork};

use crate::{Error, Refusal};

/// What a use case did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done<T> {
    /// The answer.
    pub value: T,
    /// Place in the log that the effect reached; `None` where nothing was appended now.
    pub position: Option<i64>,
    /// The answer was given before: nothing happened now.
    pub repeated: bool,
}

/// Either work to do, or the answer that was given before.
pub(crate) enum Turn<T> {
    Fresh(Box<UnitOfWork>),
    Answered(Done<T>),
}

/// The order that a request placed long ago, where retention left nothing else of its answer.
pub(crate) fn placed_order(loaded: &Loaded) -> Option<OrderId> {
    let Loaded::Answered(answer) = loaded else {
        return None;
    };
    let id = answer.body.get(store::retention::PLACED_ORDER)?.as_str()?;
    id.parse::<uuid::Uuid>().ok().map(OrderId::new)
}

/// Sorts what a keyed load found.
pub(crate) fn turn<T: DeserializeOwned>(loaded: Loaded) -> Result<Turn<T>, Error> {
    match loaded {
        Loaded::Fresh(work) => Ok(Turn::Fresh(Box::new(work))),
        Loaded::Answered(answer) => Ok(Turn::Answered(read(answer)?)),
        Loaded::KeyReused => Err(Error::KeyReused),
        Loaded::InProgress => Err(Error::InProgress),
    }
}

/// Reads a stored answer; a stored refusal is refused again.
fn read<T: DeserializeOwned>(answer: StoredAnswer) -> Result<Done<T>, Error> {
    let unreadable = |reason| StoreError::Corrupt {
        place: "a stored answer".to_owned(),
        reason: Box::new(reason),
    };
    if answer.status >= 400 {
        let refusal: Refusal = serde_json::from_value(answer.body).map_err(unreadable)?;
        return Err(refusal.into());
    }
    let value = serde_json::from_value(answer.body).map_err(unreadable)?;
    Ok(Done {
        value,
        position: None,
        repeated: true,
    })
}

/// An answer to store.
pub(crate) fn answer(status: u16, value: &impl Serialize) -> Result<StoredAnswer, Error> {
    let body = serde_json::to_value(value).map_err(|reason| StoreError::Corrupt {
        place: "an answer".to_owned(),
        reason: Box::new(reason),
    })?;
    Ok(StoredAnswer { status, body })
}

/// Stores a refusal as the answer, and refuses.
pub(crate) async fn refuse<T>(mut work: UnitOfWork, key: &KeyedRequest, refusal: Refusal) -> Result<T, Error> {
    work.answer(key, answer(refusal.status, &refusal)?);
    work.commit().await?;
    Err(refusal.into())
}
