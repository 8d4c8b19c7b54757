//! Who may import whom, and which crate owns which vendor.

use crate::{crates, tables};
use std::collections::BTreeSet;

#[test]
fn a_crate_uses_what_its_row_names_and_the_row_names_what_it_uses() {
    let law = tables::lists_under("Dependency law");
    let crates = crates::dependencies();
    let ours: BTreeSet<String> = crates.keys().cloned().collect();
    let ruled: BTreeSet<String> = law.keys().cloned().collect();
    assert_eq!(
        ours, ruled,
        "the crates of the workspace (left) and the rows of the table (right)"
    );
    let mut breaches = Vec::new();
    for (name, used) in &crates {
        let used: BTreeSet<&String> = used.intersection(&ours).collect();
        let allowed: BTreeSet<&String> = law[name].iter().collect();
        breaches.extend(
            used.difference(&allowed)
                .map(|other| format!("{name} uses {other}, which its row does not name")),
        );
        breaches.extend(
            allowed
                .difference(&used)
                .map(|other| format!("{name} may use {other} but does not: shorten its row")),
        );
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn a_vendor_crate_is_used_where_it_is_owned() {
    let owners = tables::lists_under("Vendor ownership");
    let crates = crates::dependencies();
    let mut breaches = Vec::new();
    for (vendor, allowed) in &owners {
        let used: BTreeSet<&String> = crates
            .iter()
            .filter(|(_, used)| used.contains(vendor))
            .map(|(name, _)| name)
            .collect();
        let allowed: BTreeSet<&String> = allowed.iter().collect();
        breaches.extend(
            used.difference(&allowed)
                .map(|name| format!("{name} uses {vendor}, which is not its own")),
        );
        breaches.extend(
            allowed
                .difference(&used)
                .map(|name| format!("{name} may use {vendor} but does not: shorten its row")),
        );
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}
