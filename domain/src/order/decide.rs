//! The rules of an order: each command is decided from the whole state at once.

use cqrs_es::persist::EventUpcaster;
use cqrs_es::{Aggregate, event_sink::EventSink};

use super::{Command, Error, Event, Item, Order, State, payment, place, public, upcast};
use crate::{
    aggregate::{Decide, write_decision},
    ids::IntentId,
    log::Metadata,
    time::{Timestamp, to_stored_precision as stored},
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

    fn apply(&mut self, event: Event) {
        self.evolve(event);
    }
}

impl Decide for Order {
    fn decide(&self, command: Command) -> Result<Vec<Event>, Error> {
        if self.state == State::Absent && !matches!(command, Command::Place { .. }) {
            return Err(Error::NotFound);
        }
        match command {
            Command::Place {
                order_id,
                customer_id,
                item,
                currency,
                subtotal_minor,
                discount_minor,
                wallet_minor,
                expires_at,
                at,
            } => {
                let amounts = place::Amounts {
                    currency,
                    subtotal_minor,
                    discount_minor,
                    wallet_minor,
                };
                let window = place::Window {
                    at: stored(at),
                    expires_at: stored(expires_at),
                };
                place::decide(self, order_id, customer_id, item, amounts, window)
            }
            Command::OpenIntent {
                intent_id,
                provider,
                window_until,
                at,
            } => self.open_intent(intent_id, provider, window_until.map(stored), stored(at)),
            Command::ObservePayment {
                intent_id,
                provider,
                provider_event_id,
                amount,
                at,
            } => {
                let seen = payment::Seen {
                    intent_id,
                    provider,
                    provider_event_id,
                    amount,
                    at: stored(at),
                };
                payment::decide(self, seen)
            }
            Command::Cancel { at } => self.cancel(stored(at)),
            Command::Expire { at } => Ok(self.expire(stored(at))),
            Command::MarkFulfilled { at } => self.mark_fulfilled(stored(at)),
        }
    }

    fn announce(&self, event: &Event, event_id: &str, _metadata: &Metadata) -> Vec<Message> {
        public::announce(self, event, event_id)
    }

    fn upcasters() -> Vec<Box<dyn EventUpcaster>> {
        crate::upcast::upcasters(upcast::STEPS)
    }
}

impl Order {
    fn open_intent(
        &self,
        intent_id: IntentId,
        provider: String,
        window_until: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<Vec<Event>, Error> {
        if let Some(known) = self.intents.get(&intent_id) {
            // The repeat of a request whose answer was lost: still true after the order was paid.
            return if known.provider == provider {
                Ok(Vec::new())
            } else {
                Err(Error::IntentConflict)
            };
        }
        if self.external_minor == 0 {
            return Err(Error::PaymentNotRequired);
        }
        let amount = self.external().ok_or(Error::NotPayable)?;
        if self.state != State::Pending || !self.in_window(at) {
            return Err(Error::NotPayable);
        }
        let mut events = vec![Event::IntentOpened {
            intent_id,
            provider,
            amount,
            at,
        }];
        if let Some(expires_at) = window_until.filter(|until| self.may_extend_to(*until)) {
            events.push(Event::WindowExtended { expires_at, at });
        }
        Ok(events)
    }

    /// A window only grows, and never for goods: their price holds only as long as the quote.
    fn may_extend_to(&self, until: Timestamp) -> bool {
        let goods = matches!(self.item, Some(Item::Goods { .. }));
        !goods && self.expires_at.is_some_and(|expires_at| until > expires_at)
    }

    fn cancel(&self, at: Timestamp) -> Result<Vec<Event>, Error> {
        match self.state {
            State::Pending => Ok(vec![Event::Cancelled { at }]),
            State::Cancelled => Ok(Vec::new()),
            State::Absent | State::Paid | State::Fulfilled | State::Expired => Err(Error::NotCancellable),
        }
    }

    /// The sweep meets orders that moved on since it selected them: those are left as they are.
    fn expire(&self, at: Timestamp) -> Vec<Event> {
        if self.state == State::Pending && !self.in_window(at) {
            vec![Event::Expired { at }]
        } else {
            Vec::new()
        }
    }

    fn mark_fulfilled(&self, at: Timestamp) -> Result<Vec<Event>, Error> {
        match self.state {
            State::Paid => Ok(vec![Event::Fulfilled { at }]),
            State::Fulfilled => Ok(Vec::new()),
            State::Absent | State::Pending | State::Cancelled | State::Expired => Err(Error::NotPaid),
        }
    }
}
