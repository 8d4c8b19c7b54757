//! A `reconcile` that nobody's purchase led to: it enters the stream only with something to tell.

use super::*;
use crate::entitlement::BadEnd;

fn ended_badly(operation: u128, end: BadEnd, second: i64) -> Command {
    Command::EndReconcile {
        operation: open(operation),
        end,
        code: "remnawave_http_500".to_owned(),
        at: at(second),
    }
}

fn failed(operation: u128, second: i64) -> Event {
    Event::OperationFailed {
        operation_id: id(operation),
        code: "remnawave_http_500".to_owned(),
        attempts: 12,
        at: at(second),
    }
}

#[test]
fn a_reconcile_of_the_pass_enters_the_stream_with_its_bad_end_and_without_a_job() {
    let shown = live_and([applied(1, 10), succeeded(61, false, 10)]);
    let beginning = opened(70, OperationKind::Reconcile, 1, None, 30);
    TestFramework::<Entitlement>::with(())
        .given(shown.clone())
        .when(ended_badly(70, BadEnd::Failed { attempts: 12 }, 30))
        .then_expect_events(vec![beginning.clone(), failed(70, 30)]);
    let entered = [beginning.clone(), failed(70, 30)];
    let after = folded(shown.iter().cloned().chain(entered).collect::<Vec<_>>());
    assert_eq!(
        after.announce(&beginning, "entitlement:1:5", &Metadata::default()),
        Vec::new()
    );
    assert_eq!(
        after.decide(ended_badly(70, BadEnd::Failed { attempts: 12 }, 40)),
        Ok(Vec::new()),
        "it ends once"
    );
    let retried = after.decide(Command::RetryOperation {
        operation_id: id(70),
        at: at(50),
    });
    assert_eq!(
        retried,
        Ok(vec![Event::OperationRetried {
            operation_id: id(70),
            at: at(50)
        }]),
        "an operator may give it a new budget, as any other"
    );
    let cancelled = folded(shown)
        .decide(ended_badly(71, BadEnd::Cancelled, 30))
        .expect("accepted");
    assert!(matches!(
        cancelled.as_slice(),
        [Event::OperationOpened { .. }, Event::OperationCancelled { .. }]
    ));
}
