//! Which panels can be spoken to: 3.0.0 gave users numeric ids and dropped the old ones.

/// Whether a version text names 3.0.0 or later. A text that names nothing is not supported.
pub(crate) fn is_supported(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    text.split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok())
        .is_some_and(|major| major >= 3)
}

#[cfg(test)]
mod tests {
    use super::is_supported;

    #[test]
    fn three_and_later() {
        for (text, expected) in [
            ("3.0.0", true),
            ("3.3.2", true),
            ("v3.3.2", true),
            ("3.4.0-rc.1", true),
            ("10.0.0", true),
            ("2.2.4", false),
            ("2.99.0", false),
            ("", false),
            ("dev", false),
            ("-3", false),
        ] {
            assert_eq!(is_supported(text), expected, "{text}");
        }
    }
}
