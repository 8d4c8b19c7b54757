//! Refusals that stand before every route, and what must not leak.

use ports::panel::{FailureKind, PanelReader as _, PanelWriter as _};
use remnawave::{Config, Remnawave};
use sandbox::panel::Knobs;

use crate::rig::Rig;

#[tokio::test]
async fn the_version_is_read_and_an_old_panel_is_refused() {
    let rig = Rig::start().await;
    assert_eq!(rig.panel.version().await.unwrap(), "3.3.2");
    rig.control
        .set_panel_knobs(&Knobs {
            version: "2.2.4".to_owned(),
            ..Knobs::default()
        })
        .await
        .unwrap();
    let error = rig.panel.version().await.unwrap_err();
    assert_eq!(
        (error.kind, error.code.as_str()),
        (FailureKind::Misconfigured, "remnawave_version_unsupported")
    );
}

#[tokio::test]
async fn a_wrong_token_an_expired_one_and_one_without_scopes_are_for_an_operator() {
    let rig = Rig::start().await;
    let wrong = rig.client_with(|config| config.token = "not-the-token".into());
    let error = wrong.user(1).await.unwrap_err();
    assert_eq!((error.kind, error.http_status), (FailureKind::Misconfigured, Some(401)));
    rig.control
        .set_panel_knobs(&Knobs {
            deny_scopes: true,
            ..Knobs::default()
        })
        .await
        .unwrap();
    let error = rig.panel.user(1).await.unwrap_err();
    assert_eq!((error.kind, error.http_status), (FailureKind::Misconfigured, Some(403)));
    rig.control
        .set_panel_knobs(&Knobs {
            expire_token: true,
            ..Knobs::default()
        })
        .await
        .unwrap();
    assert_eq!(rig.panel.user(1).await.unwrap_err().http_status, Some(401));
}

#[tokio::test]
async fn a_wrong_path_is_never_a_missing_user() {
    let rig = Rig::start().await;
    let wrong = rig.client_with(|config| config.base_url.push_str("/elsewhere"));
    let error = wrong.user(1).await.unwrap_err();
    assert_eq!((error.kind, error.http_status), (FailureKind::Misconfigured, Some(404)));
    assert!(wrong.user_by_username("x").await.is_err());
    assert!(wrong.create_user("abc", "d", &rig.push()).await.is_err());
    assert_eq!(rig.report().users, 0);
}

#[tokio::test]
async fn a_panel_that_is_not_there_is_unavailable() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let panel = Remnawave::new(&Config::new(format!("http://{address}"), "secret-token-value")).unwrap();
    let error = panel.user(1).await.unwrap_err();
    assert_eq!(
        (error.kind, error.code.as_str()),
        (FailureKind::Transient, "remnawave_unavailable")
    );
    let rig = Rig::start().await;
    let error = panel.create_user("abc", "d", &rig.push()).await.unwrap_err();
    assert_eq!(
        error.kind,
        FailureKind::Transient,
        "nothing was sent, so nothing can have happened"
    );
}

#[tokio::test]
async fn nothing_secret_is_shown() {
    let rig = Rig::start().await;
    let token = rig.sandbox.addresses().panel.token.clone();
    let secret = rig.sandbox.addresses().panel.webhook_secret.clone();
    let user = rig
        .panel
        .create_user("private", "omniflow:x", &rig.push())
        .await
        .unwrap();
    let conflict = rig
        .panel
        .create_user("private", "omniflow:x", &rig.push())
        .await
        .unwrap_err();
    let wrong = rig.client_with(|config| config.token = "another-token-value".into());
    let refused = wrong.user(1).await.unwrap_err();
    let shown = format!(
        "{:?} {:?} {:?} {conflict} {conflict:?} {refused} {refused:?} {user:?}",
        rig.panel, rig.sandbox, rig.control
    );
    for hidden in [
        token.as_str(),
        secret.as_str(),
        "another-token-value",
        "simulated-trojan",
        "sub.sandbox.invalid",
        "already exists",
    ] {
        assert!(!shown.contains(hidden), "{hidden} is shown");
    }
    let errors = format!("{conflict} {conflict:?} {refused} {refused:?}");
    assert!(!errors.contains("127.0.0.1"), "an error names no address");
}
