//! The rules of a delivery: each command is decided from the whole state at once.

use cqrs_es::persist::EventUpcaster;
use cqrs_es::{Aggregate, event_sink::EventSink};

use super::{Command, Delivery, Error, Event, MAX_SUBMISSIONS, State, decision, outcome, public, upcast};
use crate::{
    aggregate::{Decide, write_decision},
    log::Metadata,
    time::{Timestamp, to_stored_precision as stored},
    topics::Message,
};

impl Aggregate for Delivery {
    const TYPE: &'static str = "delivery";
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

impl Decide for Delivery {
    fn decide(&self, command: Command) -> Result<Vec<Event>, Error> {
        if self.state == State::Absent && !matches!(command, Command::Owe { .. }) {
            return Err(Error::NotFound);
        }
        match command {
            Command::Owe {
                order_id,
                customer_id,
                product,
                price,
                at,
            } => {
                let owed = Event::Owed {
                    order_id,
                    customer_id,
                    product,
                    price,
                    at: stored(at),
                };
                self.owe(owed)
            }
            Command::StartSubmission { deadline, at } => self.start_submission(stored(deadline), stored(at)),
            Command::RecordSubmission { attempt, outcome, at } => {
                outcome::of_submission(self, attempt, outcome, stored(at))
            }
            Command::ParkAbandoned { attempt, at } => outcome::of_abandoned(self, attempt, stored(at)),
            Command::RecordPoll { outcome, at } => outcome::of_poll(self, outcome, stored(at)),
            Command::Resolve { verdict, reason, at } => decision::resolve(self, verdict, reason, stored(at)),
            Command::Cancel { reason, at } => decision::cancel(self, reason, stored(at)),
        }
    }

    fn announce(&self, event: &Event, _event_id: &str, _metadata: &Metadata) -> Vec<Message> {
        public::announce(event)
    }

    fn upcasters() -> Vec<Box<dyn EventUpcaster>> {
        crate::upcast::upcasters(upcast::STEPS)
    }
}

impl Delivery {
    fn owe(&self, owed: Event) -> Result<Vec<Event>, Error> {
        let Event::Owed {
            order_id,
            customer_id,
            product,
            price,
            ..
        } = &owed
        else {
            return Ok(Vec::new());
        };
        if self.state == State::Absent {
            return if price.amount_minor() < 0 {
                Err(Error::InvalidPrice)
            } else {
                Ok(vec![owed])
            };
        }
        let same = self.order_id == *order_id
            && self.customer_id == *customer_id
            && self.product.as_ref() == Some(product)
            && self.price == Some(*price);
        if same { Ok(Vec::new()) } else { Err(Error::AlreadyOwed) }
    }

    /// When the next one is due is the schedule's matter; that none is open, and that one is left, is ours.
    fn start_submission(&self, deadline: Timestamp, at: Timestamp) -> Result<Vec<Event>, Error> {
        match self.state {
            State::Owed | State::RetryWait { .. } => {
                if self.attempts >= MAX_SUBMISSIONS {
                    return Err(Error::AttemptsExhausted);
                }
                let attempt = self.attempts.checked_add(1).ok_or(Error::AttemptsExhausted)?;
                Ok(vec![Event::SubmissionStarted { attempt, deadline, at }])
            }
            State::Absent
            | State::Submitting { .. }
            | State::Accepted { .. }
            | State::NeedsReview { .. }
            | State::Delivered
            | State::Failed { .. }
            | State::Cancelled => Err(Error::NotSubmittable),
        }
    }
}
