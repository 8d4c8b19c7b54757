//! Where a token may be sent, and what is printed of it.

use goods::{Fragment, FragmentOptions};
use secrets::Secret;

fn options(base_url: &str) -> FragmentOptions {
    FragmentOptions {
        base_url: base_url.to_owned(),
        token: Secret::from("TOKEN-OF-MINE"),
        currency: None,
    }
}

#[test]
fn only_where_nobody_listens_in() {
    for base in [
        "https://gateway.example",
        "https://gateway.example/base/",
        "http://127.0.0.1:8080",
        "http://[::1]:8080",
        "http://localhost:1",
        "http://goods-gateway:8080/x",
        "http://10.1.2.3",
        "http://192.168.1.9:80",
    ] {
        assert!(Fragment::new(options(base)).is_ok(), "{base}");
    }
    for base in [
        "",
        "nonsense",
        "http://gateway.example",
        "http://8.8.8.8",
        "ftp://localhost",
        "https://user:pw@gateway.example",
        "https://gateway.example/?x=1",
        "https://gateway.example/#x",
        "data:text/plain,x",
        "file:///etc/passwd",
    ] {
        assert!(Fragment::new(options(base)).is_err(), "{base}");
    }
}

#[test]
fn nothing_printed_holds_the_token() {
    let options = options("https://gateway.example/secret-path");
    let printed = format!("{options:?} {:?}", Fragment::new(options.clone()));
    assert!(
        !printed.contains("TOKEN") && !printed.contains("secret-path"),
        "{printed}"
    );
    assert!(printed.contains("gateway.example"));
}

#[test]
fn sealed_configuration_is_read_as_the_operator_wrote_it() {
    let read = |text: &str| serde_json::from_str::<FragmentOptions>(text);
    let plain = read(r#"{"baseUrl":"https://g.example","token":"t"}"#).expect("complete");
    assert_eq!(
        (plain.base_url.as_str(), plain.token.expose().as_str(), plain.currency),
        ("https://g.example", "t", None)
    );
    let usd = read(r#"{"baseUrl":"https://g.example","token":"t","currency":"USD"}"#).expect("complete");
    assert_eq!(usd.currency, "USD".parse().ok());
    for broken in [
        r#"{"baseUrl":"x"}"#,
        r#"{"token":"t"}"#,
        r#"{"baseUrl":"x","token":"t","currency":"ZZZ"}"#,
        r#"{"baseUrl":"x","token":"t","tokn":1}"#,
    ] {
        assert!(read(broken).is_err(), "{broken}");
    }
}
