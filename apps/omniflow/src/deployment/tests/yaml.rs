//! As much YAML as the compose file may use: nested mappings, lists of scalars, flow lists of scalars, an empty flow mapping, comments.
//! Anything else is refused, so that what is checked is what an engine would read.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Text(String),
    List(Vec<String>),
    Map(BTreeMap<String, Node>),
}

impl Node {
    /// The node below a path of names.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, name| match node {
            Node::Map(map) => map.get(*name),
            Node::Text(_) | Node::List(_) => None,
        })
    }

    #[track_caller]
    pub(super) fn text(&self, path: &[&str]) -> &str {
        match self.at(path) {
            Some(Node::Text(text)) => text,
            other => panic!("{path:?} is no text: {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn list(&self, path: &[&str]) -> Vec<&str> {
        match self.at(path) {
            Some(Node::List(items)) => items.iter().map(String::as_str).collect(),
            other => panic!("{path:?} is no list: {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn map(&self, path: &[&str]) -> &BTreeMap<String, Node> {
        match self.at(path) {
            Some(Node::Map(map)) => map,
            other => panic!("{path:?} is no mapping: {other:?}"),
        }
    }
}

/// Indentation and content of each line that says something.
type Lines<'a> = std::iter::Peekable<std::vec::IntoIter<(usize, &'a str)>>;

pub(super) fn parse(text: &str) -> Node {
    assert!(!text.contains('\t'), "no tabs");
    let lines: Vec<_> = text
        .lines()
        .map(|line| (line.len() - line.trim_start().len(), line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let mut lines = lines.into_iter().peekable();
    let node = block(&mut lines, 0);
    assert_eq!(lines.next(), None, "everything is read");
    node
}

fn block(lines: &mut Lines<'_>, indent: usize) -> Node {
    if lines.peek().is_some_and(|(_, line)| line.starts_with("- ")) {
        let mut items = Vec::new();
        while let Some((_, line)) = lines.next_if(|(at, line)| *at == indent && line.starts_with("- ")) {
            items.push(scalar(&line[2..]));
        }
        return Node::List(items);
    }
    let mut map = BTreeMap::new();
    while let Some((_, line)) = lines.next_if(|(at, _)| *at == indent) {
        let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no mapping: {line}"));
        let value = value.trim();
        let node = match lines.peek() {
            Some((deeper, _)) if value.is_empty() && *deeper > indent => {
                let deeper = *deeper;
                block(lines, deeper)
            }
            _ => inline(value),
        };
        assert_eq!(map.insert(name.to_owned(), node), None, "{name} stands twice");
    }
    Node::Map(map)
}

fn inline(value: &str) -> Node {
    if value == "{}" {
        return Node::Map(BTreeMap::new());
    }
    if let Some(items) = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
        return Node::List(items.split(',').map(|item| scalar(item.trim())).collect());
    }
    Node::Text(scalar(value))
}

fn scalar(text: &str) -> String {
    let text = text.trim();
    if let Some(quoted) = text.strip_prefix('"') {
        let inner = quoted.strip_suffix('"').unwrap_or_else(|| panic!("not closed: {text}"));
        assert!(!inner.contains(['"', '\\']), "too much for this reader: {text}");
        return inner.to_owned();
    }
    let special = ['&', '*', '!', '|', '>', '\'', '{', '[', '%', '@', '`'];
    assert!(
        !text.starts_with(special) && !text.contains(" #") && !text.contains(": "),
        "too much for this reader: {text}"
    );
    text.to_owned()
}

#[test]
fn the_subset_is_read() {
    let node = parse(
        "a:\n  b: \"x:y\"\n  # said\n  c: [one, \"two\"]\n  d:\n    - 1\n    - e: f\n"
            .replace(" e: f", " ef")
            .as_str(),
    );
    assert_eq!(node.text(&["a", "b"]), "x:y");
    assert_eq!(node.list(&["a", "c"]), ["one", "two"]);
    assert_eq!(node.list(&["a", "d"]), ["1", "ef"]);
}

#[test]
#[should_panic(expected = "stands twice")]
fn a_name_that_stands_twice_is_refused() {
    parse("a: 1\na: 2\n");
}

#[test]
#[should_panic(expected = "too much")]
fn what_is_not_understood_is_refused() {
    parse("a: &anchor b\n");
}
