//! `health api|worker`: asks a process on this host whether it is ready. For containers and service managers, which have no HTTP client.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use crate::{
    cli::{HealthArgs, HealthOf},
    commands::say,
    config::Config,
    failure::Failure,
};

/// A process probes each dependency for three seconds at most.
const PATIENCE: Duration = Duration::from_secs(4);

/// Exit code 0 when it is ready; 1 when it is not, or does not answer.
pub(super) async fn run(args: HealthArgs, config: Config) -> Result<ExitCode, Failure> {
    let address = match args.process {
        HealthOf::Api => config.http.api,
        HealthOf::Worker => config
            .http
            .worker
            .ok_or_else(|| Failure::Usage("APP_WORKER_HTTP_ADDR is off: a worker answers nothing then".to_owned()))?,
    };
    let address = reachable(address);
    let client = reqwest::Client::builder()
        .timeout(PATIENCE)
        .no_proxy()
        .build()
        .map_err(Failure::unavailable)?;
    let answer = client
        .get(format!("http://{address}/readyz"))
        .send()
        .await
        .map_err(|_| Failure::No(format!("nobody answers at {address}")))?;
    let status = answer.status();
    say(&crate::commands::events::plain(
        &answer.text().await.unwrap_or_default(),
    ));
    if status.is_success() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::No(format!("not ready ({status})")))
}

/// Who listens everywhere is asked at home.
fn reachable(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_every_address_is_asked_on_the_loopback() {
        for (listening, asked) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("10.0.0.7:1", "10.0.0.7:1"),
        ] {
            assert_eq!(reachable(listening.parse().unwrap()).to_string(), asked);
        }
    }

    #[tokio::test]
    async fn nobody_and_not_ready_are_both_a_no() {
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let asked = |address: SocketAddr| async move {
            let vars = [("APP_HTTP_ADDR".to_owned(), address.to_string())]
                .into_iter()
                .collect();
            let config = Config::read(&crate::config::Vars::from_map(vars)).unwrap();
            let args = HealthArgs { process: HealthOf::Api };
            run(args, config).await
        };
        let serve = async {
            for status in ["503 Service Unavailable", "200 OK"] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
                tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 1024])
                    .await
                    .unwrap();
                tokio::io::AsyncWriteExt::write_all(&mut stream, answer.as_bytes())
                    .await
                    .unwrap();
            }
        };
        let ask = async {
            assert!(matches!(asked(at).await, Err(Failure::No(_))));
            assert!(asked(at).await.is_ok());
        };
        tokio::join!(serve, ask);
        drop(listener);
        assert!(matches!(asked(at).await, Err(Failure::No(_))));
    }
}
