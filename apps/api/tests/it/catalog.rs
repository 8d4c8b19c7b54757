//! What is for sale, for everybody.

use axum::{body::Body, http::Request};

use crate::world::{MONTH, World};

#[tokio::test]
async fn plans_are_public_and_speak_two_languages() {
    let world = World::new().await;
    let get = |path: &str| Request::builder().uri(path).body(Body::empty()).unwrap();
    let english = world.send(get("/v1/catalog/plans?locale=en")).await.json();
    assert_eq!(
        (
            english["items"][0]["title"].as_str(),
            english["items"][0]["planVersionId"].as_str()
        ),
        (Some("One month"), Some(MONTH))
    );
    for path in ["/v1/catalog/plans", "/v1/catalog/plans?locale=de"] {
        assert_eq!(world.send(get(path)).await.json()["items"][0]["title"], "Месяц");
    }
    // Which squads a plan opens is nobody's business.
    assert!(!english.to_string().contains("squad"));
}
