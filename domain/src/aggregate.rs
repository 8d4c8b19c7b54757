//! What every aggregate of this product is: a `cqrs_es::Aggregate` whose decision is one pure function.

use cqrs_es::event_sink::EventSink;
use cqrs_es::persist::EventUpcaster;

use crate::{log::Metadata, topics::Message};

/// An aggregate that decides from its whole state, at once, without waiting for anything.
pub trait Decide: cqrs_es::Aggregate<Services = ()> {
    /// What the command leads to. An idempotent repeat leads to no event.
    ///
    /// # Errors
    /// The aggregate's own rejection; the state is not changed then.
    fn decide(&self, command: Self::Command) -> Result<Vec<Self::Event>, Self::Error>;

    /// The messages that an event owes to the outbox, in order. `self` holds the event already; `event_id` is
    /// `<aggregate type>:<id>:<sequence>`.
    fn announce(&self, event: &Self::Event, event_id: &str, metadata: &Metadata) -> Vec<Message>;

    /// Upcasters in ascending order of version: one fold brings a stored event of any age to today's form.
    fn upcasters() -> Vec<Box<dyn EventUpcaster>>;
}

/// The one asynchronous function of this crate: `cqrs_es` wants events written to a sink, which never waits here.
pub async fn write_decision<A: Decide>(
    aggregate: &mut A,
    command: A::Command,
    sink: &EventSink<A>,
) -> Result<(), A::Error> {
    for event in aggregate.decide(command)? {
        sink.write(event, aggregate).await;
    }
    Ok(())
}

/// A rejection that the outside may see: a stable code beside the prose.
pub trait Rejection: std::error::Error + PartialEq + Send + Sync + 'static {
    /// Stable machine value, as in problem documents.
    fn code(&self) -> &'static str;
}
