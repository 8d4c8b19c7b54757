//! The API dies with a hint of the panel in its hands, and workers die with a notice in theirs.

use std::time::Duration;

use sandbox::telegram::telegram_report;

use crate::fire::installation::Installation;

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn hints_and_notices_survive_a_crash_around_them() {
    let mut installation = Installation::start().await;
    hint(&mut installation).await;
    notices(&installation).await;
}

/// A hint that was recorded is acted upon, although the one who recorded it died before that.
async fn hint(installation: &mut Installation) {
    const HINTS: &str = "select count(*) from webhook_events where provider = 'remnawave'";
    let control = installation.control();
    let mut knobs = control.panel_knobs().await.expect("shown");
    knobs.webhook_url = Some(format!("{}/v1/panel/webhooks/remnawave", installation.shop_url));
    installation.buy_plan().await;
    installation.crashing_api("panel_hint.after_record=1*panic").await;
    control.set_panel_knobs(&knobs).await.expect("set");
    let worker = installation.worker();
    installation.recover_api().await;
    let (_, summary, _) = installation.settle(1, PATIENCE).await;
    assert_eq!(summary.fulfilled, 1, "{summary:?}");
    let told_again = "select count(*) from webhook_events where provider = 'remnawave' and delivery_count > 1";
    installation.until(told_again, 1, PATIENCE).await;
    installation.done(&["passes", "run", "webhook_process"]);
    let waiting =
        "select count(*) from webhook_events where provider = 'remnawave' and status in ('received', 'failed')
                      and next_try_at <= clock_timestamp()";
    installation.until(waiting, 0, PATIENCE).await;
    assert!(installation.count(HINTS).await >= 1);
    worker.kill();
}

/// Each worker dies once with the one notice that is due; the group reads each, and none more often than a lost answer explains.
async fn notices(installation: &Installation) {
    installation.sql("delete from operator_notices").await;
    for (failpoint, texts) in [
        ("notices.after_claim", 1),
        ("notices.before_send", 1),
        ("notices.after_send", 2),
    ] {
        let payload = serde_json::json!({ "status": "activated", "source": "manual", "reason": failpoint });
        let notice = "insert into operator_notices (kind, dedupe_key, payload) values ('incident', $1, $2)";
        let queued = sqlx::query(notice)
            .bind(failpoint)
            .bind(payload)
            .execute(&installation.pool);
        queued.await.expect("queued");
        // Whoever was killed before may have had the turn.
        later(installation).await;
        installation.crash_worker(failpoint).await;
        later(installation).await;
        let worker = installation.worker();
        let unsent = "select count(*) from operator_notices where status <> 'sent'";
        installation.until(unsent, 0, PATIENCE).await;
        worker.kill();
        let report = telegram_report(installation.path()).expect("the journal can be read");
        assert_eq!(report.holding(failpoint), texts, "{failpoint}: {:?}", report.texts);
    }
}

/// The turn and the leases of the dead end.
async fn later(installation: &Installation) {
    installation
        .sql("update operator_group set paused_until = clock_timestamp(), turn_until = clock_timestamp()")
        .await;
    installation
        .sql(
            "update operator_notices set next_attempt_at = clock_timestamp(),
                    leased_until = case when leased_until is not null then clock_timestamp() end",
        )
        .await;
}
