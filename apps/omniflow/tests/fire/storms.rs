//! Storms, as `omniflow chaos` plays them: the short tier of what the command does for as long as one likes.

use std::process::Command;

use serde_json::Value;

/// Plays a storm and answers its report. What it wrote is printed, so that a failed one tells its seed and how to play it again.
async fn play(args: &[&str]) -> Value {
    let mut chaos = Command::new(env!("CARGO_BIN_EXE_omniflow"));
    chaos.args(["chaos", "--json"]).args(args);
    // A setting of the person who runs the tests reaches no storm.
    chaos.env("APP_DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing");
    chaos.env("RUST_LOG", "info,sqlx=error,riverqueue=warn");
    let output = tokio::task::spawn_blocking(move || chaos.output())
        .await
        .expect("it ends");
    let output = output.expect("the binary starts");
    let (said, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    eprintln!("{said}");
    // 1 is: something took longer than a minute, and how fast the machine is that tests run on is no claim of ours.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{told}");
    let last = said.lines().last().expect("it says something");
    serde_json::from_str(last).expect("the last line is JSON")
}

fn spotless(report: &Value) {
    for figure in ["lost", "duplicated", "unsettled", "refused", "outboxPending", "panics"] {
        assert_eq!(report[figure], 0, "{figure}: {report}");
    }
    assert_eq!(report["verified"], true, "{report}");
    let again = report["rerun"].as_str().unwrap_or_default();
    assert!(
        again.starts_with("omniflow chaos --orders ") && again.contains(" --seed "),
        "{report}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b55_a_storm_of_kills_cuts_and_lost_answers_loses_and_doubles_nothing() {
    let report = play(&[
        "--orders",
        "120",
        "--goods",
        "0",
        "--kills",
        "8",
        "--stops",
        "2",
        "--server-kills",
        "1",
        "--cuts",
        "3",
        "--lost-acks",
        "6",
    ])
    .await;
    spotless(&report);
    for (struck, times) in [
        ("orders", 120),
        ("kills", 8),
        ("stops", 2),
        ("serverKills", 1),
        ("cuts", 3),
    ] {
        assert_eq!(report[struck], times, "{struck}: {report}");
    }
    for struck in ["lostAcks", "panelFaults"] {
        assert!(
            report[struck].as_u64().is_some_and(|count| count > 0),
            "no {struck}: {report}"
        );
    }
}

/// Waits most of the time: a worker is stopped for longer than its jobs wait for a rescue, and goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_slept_through_its_rescue_doubles_nothing() {
    let report = play(&["--orders", "40", "--goods", "0", "--kills", "0", "--pauses", "1"]).await;
    spotless(&report);
    assert_eq!((&report["orders"], &report["pauses"]), (&40.into(), &2.into()));
}
