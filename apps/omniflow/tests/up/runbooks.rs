//! What an alert tells a person to type exists.

/// Words after `omniflow` in the text of the alerts, as long as they may be commands.
fn commands() -> Vec<Vec<String>> {
    let text = include_str!("../../../../deploy/prometheus/omniflow.rules.yml");
    let runbooks = text.lines().filter_map(|line| line.trim().strip_prefix("runbook:"));
    let uses = runbooks.flat_map(|line| line.split("omniflow ").skip(1));
    uses.map(|rest| {
        let words = rest.split([' ', ';', ',', '.', ':', '"', ')']);
        let is_command =
            |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        words.take_while(is_command).map(ToOwned::to_owned).collect()
    })
    .collect()
}

#[test]
fn every_command_of_a_runbook_exists() {
    let uses = commands();
    assert!(uses.len() > 10, "{uses:?}");
    for words in uses {
        let mut at = omniflow::command();
        let mut words = words.iter();
        while at.get_subcommands().next().is_some() {
            let word = words
                .next()
                .unwrap_or_else(|| panic!("`{}` needs one more word", at.get_name()));
            at = at
                .find_subcommand(word)
                .unwrap_or_else(|| panic!("there is no `{} {word}`", at.get_name()))
                .clone();
        }
    }
}
