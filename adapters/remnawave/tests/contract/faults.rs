//! Each fault, and what the client makes of it.

use std::time::{Duration, Instant};

use ports::panel::{FailureKind, PanelError, PanelReader as _, PanelWriter as _};
use sandbox::faults::{Fault, FaultRule, SimulatorName};

use crate::rig::Rig;

const CREATE: &str = "POST /api/users";
const LOOK: &str = "GET /api/users/by-username/*";

fn rule(route: &str, fault: Fault) -> FaultRule {
    FaultRule::new(SimulatorName::Panel, route, fault)
}

async fn create_under(rig: &Rig, name: &str, fault: Fault) -> Result<(), PanelError> {
    rig.control.set_faults(&[rule(CREATE, fault)]).await.unwrap();
    let outcome = rig.panel.create_user(name, "d", &rig.push()).await;
    rig.control.clear_faults().await.unwrap();
    outcome.map(|_| ())
}

#[tokio::test]
async fn writes_under_each_fault() {
    use FailureKind::{Misconfigured, RateLimited, Transient, Unanswered};
    let rig = Rig::start().await;
    let limited = RateLimited {
        retry_after: Some(Duration::from_secs(7)),
    };
    let capped = RateLimited {
        retry_after: Some(Duration::from_hours(1)),
    };
    for (index, (fault, kind, code, made)) in [
        (Fault::status(500), Transient, "remnawave_http_500", false),
        (Fault::status(503), Transient, "remnawave_http_503", false),
        (
            Fault::status(504).after_handling(),
            Unanswered,
            "remnawave_http_504",
            true,
        ),
        (Fault::rate_limited(7), limited, "remnawave_http_429", false),
        (Fault::rate_limited(99_999_999), capped, "remnawave_http_429", false),
        (Fault::reset_before(), Unanswered, "remnawave_unavailable", false),
        (Fault::lost_answer(), Unanswered, "remnawave_unavailable", true),
        (Fault::garbage(), Unanswered, "remnawave_bad_answer", false),
        (
            Fault::garbage().after_handling(),
            Unanswered,
            "remnawave_bad_answer",
            true,
        ),
        (Fault::html(200), Unanswered, "remnawave_bad_answer", false),
        (
            Fault::html(502).after_handling(),
            Unanswered,
            "remnawave_http_502",
            true,
        ),
        (Fault::html(404), Misconfigured, "remnawave_http_404", false),
        (Fault::html(302), Misconfigured, "remnawave_http_302", false),
        (
            Fault::oversized(3 * 1024 * 1024),
            Unanswered,
            "remnawave_answer_too_large",
            false,
        ),
        (Fault::late_answer(2_500), Unanswered, "remnawave_timeout", true),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("user-{index}");
        let error = create_under(&rig, &name, fault.clone()).await.unwrap_err();
        assert_eq!((error.kind, error.code.as_str()), (kind, code), "{fault:?}");
        assert_eq!(
            rig.panel.user_by_username(&name).await.unwrap().is_some(),
            made,
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn reads_without_an_answer_are_merely_transient() {
    let rig = Rig::start().await;
    for fault in [
        Fault::reset_before(),
        Fault::lost_answer(),
        Fault::garbage(),
        Fault::oversized(3 * 1024 * 1024),
        Fault::html(502),
        Fault::late_answer(2_500),
    ] {
        rig.control.set_faults(&[rule(LOOK, fault.clone())]).await.unwrap();
        let error = rig.panel.user_by_username("nobody").await.unwrap_err();
        assert_eq!(error.kind, FailureKind::Transient, "{fault:?}");
    }
}

#[tokio::test]
async fn a_slow_answer_within_the_timeout_is_an_answer() {
    let rig = Rig::start().await;
    let begun = Instant::now();
    create_under(&rig, "patient", Fault::slow(300)).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

/// The late write: the client has given up, the request is carried out nevertheless.
#[tokio::test]
async fn a_request_may_land_after_the_client_gave_up() {
    let rig = Rig::start().await;
    let error = create_under(&rig, "late-write", Fault::slow(2_000)).await.unwrap_err();
    assert_eq!(
        (error.kind, error.code.as_str()),
        (FailureKind::Unanswered, "remnawave_timeout")
    );
    assert_eq!(rig.panel.user_by_username("late-write").await.unwrap(), None);
    let deadline = Instant::now() + Duration::from_secs(5);
    while rig.panel.user_by_username("late-write").await.unwrap().is_none() {
        assert!(Instant::now() < deadline, "the request never landed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn scripts_count_and_by_chance_is_by_seed() {
    let rig = Rig::start().await;
    rig.control
        .set_faults(&[rule(LOOK, Fault::status(500)).nth(2)])
        .await
        .unwrap();
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        outcomes.push(rig.panel.user_by_username("nobody").await.is_ok());
    }
    assert_eq!(outcomes, [true, false, true, true]);
    let counts = rig.control.faults().await.unwrap();
    assert_eq!((counts[0].matched, counts[0].fired), (4, 1));

    let mut runs = Vec::new();
    for _ in 0..2 {
        rig.control
            .set_faults(&[rule("* /api/**", Fault::status(503)).chance(300, 42)])
            .await
            .unwrap();
        let mut outcomes = Vec::new();
        for _ in 0..40 {
            outcomes.push(rig.panel.user(1).await.is_ok());
        }
        assert!(outcomes.contains(&true) && outcomes.contains(&false));
        runs.push(outcomes);
    }
    assert_eq!(runs[0], runs[1]);

    let journal = std::fs::read_to_string(rig.data_dir().join("sandbox/faults.journal.jsonl")).unwrap();
    assert_eq!(
        u64::try_from(journal.lines().count()).unwrap(),
        1 + 2 * u64::try_from(runs[0].iter().filter(|ok| !**ok).count()).unwrap()
    );
}

#[tokio::test]
async fn rules_that_mean_nothing_and_strangers_are_refused() {
    let rig = Rig::start().await;
    let mut pointless = rule(CREATE, Fault::status(500));
    pointless.fault.answer = sandbox::faults::FaultAnswer::Real;
    assert!(rig.control.set_faults(&[pointless]).await.is_err());
    assert!(
        rig.control
            .set_faults(&[rule("nonsense", Fault::status(500))])
            .await
            .is_err()
    );
    let mut addresses = rig.sandbox.addresses().clone();
    addresses.control.token = "guessed".to_owned();
    let stranger = sandbox::control::Client::new(&addresses).unwrap();
    assert!(matches!(
        stranger.report().await,
        Err(sandbox::SandboxError::ControlRefused { status: 401 })
    ));
}
