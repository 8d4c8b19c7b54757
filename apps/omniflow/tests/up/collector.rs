//! A collector of traces on loopback: takes what a process exports, as OTLP over HTTP defines it, and keeps it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, common::v1::any_value::Value, trace::v1::Span,
};
use prost::Message as _;

/// One span, and the process that sent it.
#[derive(Clone, Debug)]
pub(crate) struct Exported {
    pub(crate) service: String,
    pub(crate) span: Span,
}

impl Exported {
    pub(crate) fn id(&self) -> String {
        hex(&self.span.span_id)
    }

    pub(crate) fn parent(&self) -> String {
        hex(&self.span.parent_span_id)
    }
}

/// What came so far.
#[derive(Debug, Default)]
struct Taken {
    spans: Vec<Exported>,
    /// The header `authorization` of each request.
    credentials: Vec<String>,
}

/// Listens until the test ends.
#[derive(Clone, Debug)]
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    taken: Arc<Mutex<Taken>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let collector = Self {
            address: listener.local_addr().expect("its address"),
            taken: Arc::default(),
        };
        let taken = Arc::clone(&collector.taken);
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let taken = Arc::clone(&taken);
                thread::spawn(move || serve(connection, &taken));
            }
        });
        collector
    }

    /// The spans of one trace, as soon as all of these names are among them, each as often as it is named.
    pub(crate) async fn trace(&self, trace_id: &str, names: &[&str], patience: Duration) -> Vec<Exported> {
        let deadline = Instant::now() + patience;
        loop {
            let spans: Vec<_> = {
                let taken = self.taken.lock().expect("nobody panicked");
                let of_trace = taken.spans.iter().filter(|one| hex(&one.span.trace_id) == trace_id);
                of_trace.cloned().collect()
            };
            let missing: Vec<_> = names
                .iter()
                .filter(|name| {
                    let of_name = |one: &&Exported| one.span.name == **name;
                    let wanted = names.iter().filter(|other| other == name).count();
                    spans.iter().filter(of_name).count() < wanted
                })
                .collect();
            if missing.is_empty() {
                return spans;
            }
            let have: Vec<_> = spans.iter().map(|one| one.span.name.as_str()).collect();
            assert!(Instant::now() < deadline, "{missing:?} did not come, only {have:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) fn credentials(&self) -> Vec<String> {
        self.taken.lock().expect("nobody panicked").credentials.clone()
    }
}

/// Requests of one connection, each answered with an empty success.
fn serve(connection: TcpStream, taken: &Mutex<Taken>) {
    let mut reader = BufReader::new(connection.try_clone().expect("a second handle"));
    let mut writer = connection;
    while let Some((credentials, body)) = request(&mut reader) {
        let message = ExportTraceServiceRequest::decode(body.as_slice()).expect("an export");
        let mut taken = taken.lock().expect("nobody panicked");
        taken.credentials.push(credentials);
        for resource in message.resource_spans {
            let attributes = resource.resource.unwrap_or_default().attributes;
            let service = attributes
                .into_iter()
                .find(|attribute| attribute.key == "service.name")
                .and_then(|attribute| attribute.value?.value);
            let Some(Value::StringValue(service)) = service else {
                panic!("a process without a name");
            };
            let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            taken.spans.extend(spans.map(|span| Exported {
                service: service.clone(),
                span,
            }));
        }
        drop(taken);
        if writer
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            .is_err()
        {
            return;
        }
    }
}

/// `authorization` and body of the next request.
fn request(reader: &mut impl std::io::BufRead) -> Option<(String, Vec<u8>)> {
    let (mut length, mut credentials) = (0, String::new());
    let mut begun = false;
    for line in reader.by_ref().lines() {
        let line = line.ok()?;
        if line.is_empty() && begun {
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            return Some((credentials, body));
        }
        if !begun {
            assert!(line.starts_with("POST /v1/traces "), "{line}");
        }
        begun = true;
        match line
            .split_once(':')
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        {
            Some((name, value)) if name == "content-length" => length = value.parse().expect("a length"),
            Some((name, value)) if name == "content-type" => assert_eq!(value, "application/x-protobuf"),
            Some((name, value)) if name == "authorization" => value.clone_into(&mut credentials),
            _ => {}
        }
    }
    None
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
