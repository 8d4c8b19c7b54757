//! The rules of an entitlement: each command is decided from the whole state at once.

use cqrs_es::persist::EventUpcaster;
use cqrs_es::{Aggregate, event_sink::EventSink};

use super::{Command, Entitlement, Error, Event, changes, grant, operations, public, reconcile, upcast};
use crate::{
    aggregate::{Decide, write_decision},
    log::Metadata,
    time::to_stored_precision as stored,
    topics::Message,
};

impl Aggregate for Entitlement {
    const TYPE: &'static str = "entitlement";
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

impl Decide for Entitlement {
    #[expect(clippy::too_many_lines, reason = "one arm a command, every field of it in sight")]
    fn decide(&self, command: Command) -> Result<Vec<Event>, Error> {
        if !self.is_granted() && !matches!(command, Command::Grant { .. }) {
            return Err(Error::NotFound);
        }
        match command {
            Command::Grant {
                entitlement_id,
                subscription_id,
                customer_id,
                order_id,
                terms,
                effective_at,
                operation,
                at,
            } => {
                let owner = grant::Owner {
                    entitlement: entitlement_id,
                    subscription: subscription_id,
                    customer: customer_id,
                };
                let period = grant::Period::new(order_id, terms, effective_at, at);
                grant::first(self, owner, period, operation)
            }
            Command::Extend {
                order_id,
                terms,
                effective_at,
                operation,
                at,
            } => grant::further(self, grant::Period::new(order_id, terms, effective_at, at), operation),
            Command::Change {
                asked,
                effective_at,
                operation,
                at,
            } => {
                let wish = changes::Wish {
                    asked,
                    effective_at,
                    operation,
                    at,
                };
                changes::change(self, wish)
            }
            Command::TakeEffect { at } => Ok(changes::take_effect(&mut self.clone(), stored(at))),
            Command::OpenReconcile { operation, at } => operations::open_reconcile(self, operation, stored(at)),
            Command::RecordApplied {
                operation_id,
                version,
                remote_user_id,
                remote_status,
                at,
            } => {
                let shown = operations::Shown {
                    version,
                    remote_user_id,
                    remote_status,
                    at: stored(at),
                };
                operations::record_applied(self, operation_id, &shown)
            }
            Command::RecordDrift {
                operation_id,
                version,
                observed,
                at,
            } => {
                let look = reconcile::Look {
                    operation_id,
                    version,
                    observed,
                    at: stored(at),
                };
                Ok(reconcile::record_drift(self, &look))
            }
            Command::RecordReconciled {
                operation_id,
                agreed,
                at,
            } => reconcile::record_reconciled(self, operation_id, agreed, stored(at)),
            Command::EndReconcile {
                operation,
                end,
                code,
                at,
            } => reconcile::end_badly(self, operation, end, code, stored(at)),
            Command::CloseSuperseded { operation_id, at } => {
                operations::close_superseded(self, operation_id, stored(at))
            }
            Command::RecordFailed {
                operation_id,
                code,
                attempts,
                at,
            } => operations::record_failed(self, operation_id, code, attempts, stored(at)),
            Command::RetryOperation { operation_id, at } => operations::retry(self, operation_id, stored(at)),
            Command::CancelOperation { operation_id, code, at } => {
                operations::cancel(self, operation_id, code, stored(at))
            }
        }
    }

    fn announce(&self, event: &Event, _event_id: &str, _metadata: &Metadata) -> Vec<Message> {
        public::announce(self, event)
    }

    fn upcasters() -> Vec<Box<dyn EventUpcaster>> {
        crate::upcast::upcasters(upcast::STEPS)
    }
}
