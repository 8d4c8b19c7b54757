//! The rules of this aggregate.

use cqrs_es::persist::EventUpcaster;
use cqrs_es::{Aggregate, event_sink::EventSink};

use super::{Command, Error, Event, Order, upcast};
use crate::{
    aggregate::{Decide, write_decision},
    log::Metadata,
    topics::Message,
};

impl Aggregate for Order {
    const TYPE: &'static str = "order";
    type Command = Command;
    type Event = Event;
    type Error = Error;
    type Services = ();

    async fn handle(&mut self, command: Command, (): &(), sink: &EventSink<Self>) -> Result<(), Error> {
        write_decision(self, command, sink).await
    }

    fn apply(&mut self, _event: Event) {}
}

impl Decide for Order {
    fn decide(&self, _command: Command) -> Result<Vec<Event>, Error> {
        Ok(Vec::new())
    }

    fn announce(&self, _event: &Event, _event_id: &str, _metadata: &Metadata) -> Vec<Message> {
        Vec::new()
    }

    fn upcasters() -> Vec<Box<dyn EventUpcaster>> {
        upcast::upcasters()
    }
}
