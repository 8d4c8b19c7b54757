//! One trace, link by link.

use std::collections::BTreeSet;

use omniflow::driver::Bought;

use crate::up::{
    collector::Exported,
    telemetry::{CALLER, CREDENTIALS, Running, SOON, TRACE},
};

/// From the caller's request to the call of the panel, and every link of it.
pub(crate) async fn one_trace(running: &Running, order: &Bought) {
    let request = "POST /v1/admin/payments/{id}/manual-decision";
    let publish = "publish entitlement.operation_opened";
    let names = [
        request,
        "events.append",
        publish,
        // The panel fails the first run; the second one is told too.
        "job fulfillment",
        "job fulfillment",
        "panel create_user",
    ];
    let spans = running.collector.trace(TRACE, &names, SOON).await;
    let named = |name: &str| -> Vec<&Exported> { spans.iter().filter(|one| one.span.name == name).collect() };

    let [request] = named(request)[..] else {
        panic!("one request: {spans:?}")
    };
    assert_eq!(
        (request.parent().as_str(), request.service.as_str()),
        (CALLER, "omniflow-api")
    );
    assert_eq!(request.span.trace_state, "vendor=opaque");
    for published in named(publish) {
        assert_eq!(published.parent(), request.id());
    }
    let jobs = named("job fulfillment");
    for job in &jobs {
        assert_eq!((job.parent(), job.service.as_str()), (request.id(), "omniflow-worker"));
    }
    for call in named("panel create_user") {
        assert!(jobs.iter().any(|job| job.id() == call.parent()), "{call:?}");
    }
    let appended = named("events.append");
    let parents: BTreeSet<_> = appended.iter().map(|one| one.parent()).collect();
    assert!(parents.contains(&request.id()) && jobs.iter().any(|job| parents.contains(&job.id())));
    assert!(
        running
            .collector
            .credentials()
            .iter()
            .all(|header| header == CREDENTIALS)
    );

    let stored: Vec<(String, Option<String>)> = sqlx::query_as(
        "select event_type, metadata ->> 'traceparent' from events where aggregate_id in ($1, $2) order by position",
    )
    .bind(order.id.to_string())
    .bind(order.entitlement_id.expect("a plan").to_string())
    .fetch_all(&running.pool)
    .await
    .expect("the log can be read");
    for (event, expected) in [
        ("order.paid", request.id()),
        ("entitlement.operation_succeeded", jobs.last().expect("two").id()),
    ] {
        let trace = stored
            .iter()
            .find(|(kind, _)| kind == event)
            .and_then(|(_, trace)| trace.clone());
        let trace = trace.unwrap_or_else(|| panic!("{event} names its trace: {stored:?}"));
        let ours = jobs.iter().map(|job| job.id()).chain([expected]);
        assert!(
            ours.into_iter().any(|id| trace == format!("00-{TRACE}-{id}-01")),
            "{event}: {trace}"
        );
    }
}
