//! A failpoint that no test arms guards nothing: every one of them is named by a test.

use crate::sources::{code_lines, is_test, read, rust_below};
use std::collections::BTreeSet;

const PRODUCT: [&str; 3] = ["adapters", "apps", "projectors"];

#[test]
fn every_failpoint_is_armed_by_a_test() {
    let (tests, product): (Vec<_>, Vec<_>) = PRODUCT
        .iter()
        .flat_map(|folder| rust_below(folder))
        .partition(|file| is_test(file));
    let mut points = BTreeSet::new();
    for file in &product {
        let text = read(file);
        // Long names stand on the line after the macro's.
        let code: String = code_lines(&text).map(|(_, line)| line.trim()).collect();
        let named = code.split("fail_point!(").skip(1);
        points.extend(named.filter_map(|rest| Some(rest.strip_prefix('"')?.split('"').next()?.to_owned())));
    }
    assert!(points.len() >= 12, "the failpoints are found: {points:?}");
    let tests: Vec<_> = tests.iter().map(|file| read(file)).collect();
    let armed = |point: &String| tests.iter().any(|text| text.contains(point.as_str()));
    let idle: Vec<_> = points.iter().filter(|point| !armed(point)).collect();
    assert!(idle.is_empty(), "failpoints that no test names: {idle:?}");
}
