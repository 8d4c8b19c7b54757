//! SQL has homes: the store, the read models, the queue's few statements, the private server, the benchmarks' twins.

use crate::sources::{code_lines, is_test, read, rust_below};

const HOMES: [&str; 5] = [
    "adapters/store",
    "adapters/queue",
    "adapters/cluster",
    "projectors",
    // The plain twins that the benchmarks compare with.
    "apps/omniflow/src/commands/bench",
];
/// How a statement begins; compared without regard to case and only at the start of a string.
const BEGINNINGS: [&str; 9] = [
    "select ",
    "insert into ",
    "update ",
    "delete from ",
    "create table ",
    "create database ",
    "alter ",
    "drop ",
    "with ",
];

#[test]
fn statements_live_in_their_homes() {
    let mut found = Vec::new();
    let product = ["domain", "adapters", "apps"]
        .iter()
        .flat_map(|folder| rust_below(folder));
    for file in product.filter(|file| !is_test(file) && !HOMES.iter().any(|home| file.starts_with(home))) {
        let text = read(&file);
        for (number, line) in code_lines(&text).filter(|(_, line)| holds_a_statement(line)) {
            found.push(format!("{}:{number}: {}", file.display(), line.trim()));
        }
    }
    assert!(found.is_empty(), "SQL outside of {HOMES:?}:\n{}", found.join("\n"));
}

fn holds_a_statement(line: &str) -> bool {
    if line.contains("sqlx::query") || line.contains("sqlx::raw_sql") {
        return true;
    }
    line.match_indices('"').any(|(at, _)| {
        let literal = line[at + 1..].trim_start().to_ascii_lowercase();
        BEGINNINGS.iter().any(|beginning| literal.starts_with(beginning)) && reads_like_sql(&literal)
    })
}

/// English sentences begin with "select" and "update" too.
fn reads_like_sql(literal: &str) -> bool {
    let words = [
        " from ",
        " set ",
        " into ",
        " values",
        " as (",
        " as materialized",
        "table ",
        "pg_",
        "database ",
        "schema ",
    ];
    words.iter().any(|word| literal.contains(word)) && !literal.ends_with('.')
}

#[test]
fn statements_are_told_from_sentences() {
    for statement in [
        r#"let q = "select 1 from events";"#,
        r#"run("Update x set y = 1")"#,
        r#"sqlx::query("x")"#,
        r#""select pg_backend_pid()""#,
    ] {
        assert!(holds_a_statement(statement), "{statement}");
    }
    for sentence in [
        r#"println!("select one of these")"#,
        r#"help = "update the settings""#,
        "let select = 1;",
    ] {
        assert!(!holds_a_statement(sentence), "{sentence}");
    }
}
