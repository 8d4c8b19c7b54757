//! The place in a distributed trace (W3C Trace Context) that work is done for.
//!
//! It is ambient, because no decision may depend on it: who begins work says for what (`within`), and the few places that write it down ask
//! (`current`). It is the same for every rerun of a use case, so a repeated commit writes the same bytes. Vendor-specific state (`tracestate`) is
//! text of strangers and is never stored.

use std::{fmt, future::Future, str::FromStr};

tokio::task_local! {
    static CURRENT: Option<TraceParent>;
}

/// Identifies a span: the value of the header `traceparent`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    trace_id: u128,
    span_id: u64,
    sampled: bool,
}

/// The text is no `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is no traceparent")]
pub struct InvalidTraceParent;

impl InvalidTraceParent {
    /// Stable machine value.
    pub const fn code(&self) -> &'static str {
        "traceparent_invalid"
    }
}

impl TraceParent {
    /// From its parts; `None` when an id is zero, which is no id.
    pub const fn new(trace_id: u128, span_id: u64, sampled: bool) -> Option<Self> {
        if trace_id == 0 || span_id == 0 {
            return None;
        }
        Some(Self {
            trace_id,
            span_id,
            sampled,
        })
    }

    /// The whole trace.
    pub const fn trace_id(self) -> u128 {
        self.trace_id
    }

    /// The span that is the parent of what follows.
    pub const fn span_id(self) -> u64 {
        self.span_id
    }

    /// Whether its maker records the trace.
    pub const fn is_sampled(self) -> bool {
        self.sampled
    }

    /// The trace's id as logs and collectors show it: 32 hexadecimal digits.
    pub fn trace_id_hex(self) -> String {
        format!("{:032x}", self.trace_id)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.sampled);
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace_id, self.span_id)
    }
}

impl fmt::Debug for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    /// Version 00 exactly; of a later version the same first fields, as the recommendation says.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('-');
        let mut next = |digits: usize| {
            parts
                .next()
                .filter(|part| part.len() == digits && part.bytes().all(is_lower_hex))
                .ok_or(InvalidTraceParent)
        };
        let (version, trace, span, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
        let more = parts.next().is_some();
        if version == "ff" || (version == "00" && more) || text.len() > 256 {
            return Err(InvalidTraceParent);
        }
        let trace_id = u128::from_str_radix(trace, 16).map_err(|_| InvalidTraceParent)?;
        let span_id = u64::from_str_radix(span, 16).map_err(|_| InvalidTraceParent)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| InvalidTraceParent)?;
        Self::new(trace_id, span_id, flags & 1 == 1).ok_or(InvalidTraceParent)
    }
}

const fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// What the present work is done for, where that is known.
pub fn current() -> Option<TraceParent> {
    CURRENT.try_with(|current| *current).unwrap_or_default()
}

/// Does work for `parent`. Tasks spawned inside know nothing of it.
pub async fn within<Work: Future>(parent: Option<TraceParent>, work: Work) -> Work::Output {
    CURRENT.scope(parent, work).await
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_good_one_reads_and_prints_itself() {
        let parent: TraceParent = GOOD.parse().unwrap();
        assert_eq!(parent.to_string(), GOOD);
        assert_eq!(parent.trace_id_hex(), "0af7651916cd43dd8448eb211c80319c");
        assert!(parent.is_sampled());
    }

    #[test]
    fn a_later_version_may_say_more_and_this_one_may_not() {
        let later = GOOD.replacen("00-", "cc-", 1);
        assert!(later.parse::<TraceParent>().is_ok());
        assert!(format!("{later}-what-is-this").parse::<TraceParent>().is_ok());
        assert_eq!(format!("{GOOD}-x").parse::<TraceParent>(), Err(InvalidTraceParent));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for wrong in [
            "",
            "00",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-+1",
            "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
        ] {
            assert_eq!(wrong.parse::<TraceParent>(), Err(InvalidTraceParent), "{wrong}");
        }
        assert!(
            format!("cc{}-{}", &GOOD[2..], "x".repeat(300))
                .parse::<TraceParent>()
                .is_err()
        );
    }

    #[tokio::test]
    async fn it_is_known_inside_and_nowhere_else() {
        let parent: TraceParent = GOOD.parse().unwrap();
        assert_eq!(current(), None);
        within(Some(parent), async {
            assert_eq!(current(), Some(parent));
            within(None, async { assert_eq!(current(), None) }).await;
            assert_eq!(current(), Some(parent));
        })
        .await;
        assert_eq!(current(), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            if let Ok(parent) = text.parse::<TraceParent>() {
                prop_assert_eq!(parent.to_string().parse(), Ok(parent));
            }
        }

        #[test]
        fn what_prints_reads(trace in 1_u128.., span in 1_u64.., sampled: bool) {
            let parent = TraceParent::new(trace, span, sampled).unwrap();
            prop_assert_eq!(parent.to_string().parse(), Ok(parent));
        }
    }
}
