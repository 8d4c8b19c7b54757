//! Licence expressions: names, `OR`, `AND`, parentheses, and the old `/` for `OR`.

/// Whether an allowed choice satisfies the expression; anything that cannot be read does not.
pub(crate) fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (result, rest) = alternatives(&words, allowed);
    rest.is_empty() && !words.is_empty() && result
}

fn alternatives<'w>(words: &'w [&'w str], allowed: &[&str]) -> (bool, &'w [&'w str]) {
    let (mut result, mut rest) = conjunction(words, allowed);
    while let ["OR", after @ ..] = rest {
        let (next, left) = conjunction(after, allowed);
        (result, rest) = (result || next, left);
    }
    (result, rest)
}

fn conjunction<'w>(words: &'w [&'w str], allowed: &[&str]) -> (bool, &'w [&'w str]) {
    let (mut result, mut rest) = term(words, allowed);
    while let ["AND", after @ ..] = rest {
        let (next, left) = term(after, allowed);
        (result, rest) = (result && next, left);
    }
    (result, rest)
}

fn term<'w>(words: &'w [&'w str], allowed: &[&str]) -> (bool, &'w [&'w str]) {
    match words {
        ["(", inner @ ..] => {
            let (result, rest) = alternatives(inner, allowed);
            (result, rest.strip_prefix(&[")"]).unwrap_or(rest))
        }
        [name, "WITH", exception, rest @ ..] => (allowed.contains(&format!("{name} WITH {exception}").as_str()), rest),
        [name, rest @ ..] => (allowed.contains(name), rest),
        [] => (false, &[]),
    }
}

#[test]
fn expressions_are_judged_as_written() {
    let judge = |expression| satisfied(expression, &["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]);
    for allowed in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "(GPL-3.0 OR ISC) AND MIT",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
    ] {
        assert!(judge(allowed), "{allowed}");
    }
    for refused in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR ISC) AND GPL-3.0",
        "Apache-2.0 WITH other",
        "MIT MIT",
    ] {
        assert!(!judge(refused), "{refused}");
    }
}
