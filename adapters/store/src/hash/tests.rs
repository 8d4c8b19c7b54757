//! The golden vector, and that the fixed envelope is nothing but RFC 8785.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Envelope, GENESIS, Hash, link};

fn hex(hash: &Hash) -> String {
    use std::fmt::Write as _;
    hash.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn digest(previous: &Hash, canonical: &[u8]) -> Hash {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    context.update(previous);
    context.update(canonical);
    Hash::try_from(context.finish().as_ref()).unwrap()
}

/// Fixed for ever: two events of one commit, a row of another writer, then one of ours.
#[test]
fn golden_vector() {
    let metadata = r#"{"actor":"system:test","at":"2026-11-29T12:00:00Z","correlationId":"corr-1"}"#;
    let rows = [
        (
            "order.placed",
            r#"{"amountMinor":9007199254740991,"note":"späť \"\\","type":"order.placed"}"#,
            metadata,
        ),
        ("order.paid", r#"{"paidMinor":0,"type":"order.paid"}"#, metadata),
        ("order.noted", r#"{"type":"order.noted"}"#, r#"{"by":"another writer"}"#),
        ("order.fulfilled", r#"{"type":"order.fulfilled"}"#, metadata),
    ];
    let mut hash = GENESIS;
    let links: Vec<String> = (1..)
        .zip(rows)
        .map(|(sequence, (event_type, payload, metadata))| {
            hash = link(
                &hash,
                &Envelope {
                    aggregate_type: "order",
                    aggregate_id: "01980000-0000-7000-8000-000000000001",
                    sequence,
                    event_type,
                    event_version: "1",
                    payload,
                    metadata,
                },
            );
            hex(&hash)
        })
        .collect();
    assert_eq!(
        links,
        [
            "99a532f5a0f17c52521089db66e4025ecb6ffadf97c507175c57780d1b5e0e7d",
            "f746f4efd75e8ba704e56e121e274afafaa0bebba22e6846ac8bc05d1075ac40",
            "d291ca4ddab5d65f6f3af29b51220085f5704537f29a4bdb5ec32ce558bc89b0",
            "799c9e61cbfc90ede666df3fb2b129c24654857adfd643df9c29d7b0dc32fca9",
        ]
    );
}

fn json_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-z]{0,6}", "\\PC{0,6}", "[\"\\\\\u{1}\u{7f}\u{2028}]{0,3}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("\\PC{0,6}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_envelope_equals_the_canonicalizer_on_the_whole(
        payload in json_value(),
        metadata in json_value(),
        aggregate_id in "\\PC{0,8}",
        event_type in "[\"\\\\\u{0}-\u{1f}a-z]{0,8}",
        sequence in 1_i64..9_007_199_254_740_991,
        previous in any::<[u8; 32]>(),
    ) {
        let whole = json!({
            "sequence": sequence, "payload": payload, "metadata": metadata, "event_version": "1.2", "event_type": event_type,
            "aggregate_type": "order", "aggregate_id": aggregate_id,
        });
        let expected = digest(&previous, &serde_json_canonicalizer::to_vec(&whole).unwrap());
        let fast = link(&previous, &Envelope {
            aggregate_type: "order",
            aggregate_id: &aggregate_id,
            sequence,
            event_type: &event_type,
            event_version: "1.2",
            payload: &serde_json_canonicalizer::to_string(&payload).unwrap(),
            metadata: &serde_json_canonicalizer::to_string(&metadata).unwrap(),
        });
        prop_assert_eq!(fast, expected);
    }
}
