//! What a scenario found, as one line.

use std::fmt;

use hdrhistogram::Histogram;
use serde::Serialize;

/// The result of one scenario.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Name on the command line.
    pub(crate) scenario: &'static str,
    /// What is counted.
    pub(crate) unit: &'static str,
    /// Per second; median of the rounds.
    pub(crate) rate: f64,
    /// Of plain SQL; median of the rounds.
    pub(crate) raw: f64,
    /// Median of the rounds' own ratios: the two sides of a round ran within seconds of each other.
    pub(crate) ratio_to_raw: f64,
    /// Lowest and highest ratio of a round.
    pub(crate) ratio_range: [f64; 2],
    /// Of one unit, over all rounds.
    pub(crate) p50_ms: f64,
    /// Of one unit, over all rounds.
    pub(crate) p99_ms: f64,
    /// Of plain SQL.
    pub(crate) raw_p50_ms: f64,
    /// Of plain SQL.
    pub(crate) raw_p99_ms: f64,
    /// At once.
    pub(crate) tasks: u32,
    /// Interleaved.
    pub(crate) rounds: u32,
    /// What plain SQL does.
    pub(crate) raw_is: &'static str,
}

/// One side of one round.
#[derive(Debug)]
pub(crate) struct Round {
    /// Units a second.
    pub(crate) rate: f64,
    /// Microseconds of each unit.
    pub(crate) latencies: Histogram<u64>,
}

/// What all rounds of one side say together.
#[derive(Debug)]
pub(crate) struct Rounds {
    rates: Vec<f64>,
    latencies: Histogram<u64>,
}

impl Rounds {
    /// None yet.
    pub(crate) fn new() -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self {
            rates: Vec::new(),
            latencies: Histogram::new(3)?,
        })
    }

    /// One more.
    pub(crate) fn push(&mut self, round: &Round) {
        self.rates.push(round.rate);
        // Both have the same bounds, so adding cannot fail.
        self.latencies.add(&round.latencies).ok();
    }

    /// Units a second, in the middle.
    pub(crate) fn rate(&self) -> f64 {
        median(&self.rates)
    }

    /// A quantile, in milliseconds.
    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "microseconds of a benchmark are small"
    )]
    pub(crate) fn quantile_ms(&self, quantile: f64) -> f64 {
        rounded(self.latencies.value_at_quantile(quantile) as f64 / 1_000.0)
    }

    /// The ratio of each round to its twin's.
    pub(crate) fn ratios(&self, raw: &Self) -> Vec<f64> {
        self.rates
            .iter()
            .zip(&raw.rates)
            .map(|(ours, raw)| ours / raw)
            .collect()
    }
}

/// The value in the middle; 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Three digits behind the point are more than is known.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

impl Report {
    /// Puts two sides together.
    pub(crate) fn of(
        scenario: &'static str,
        unit: &'static str,
        raw_is: &'static str,
        tasks: u32,
        sides: (&Rounds, &Rounds),
    ) -> Self {
        let (ours, raw) = sides;
        let ratios = ours.ratios(raw);
        Self {
            scenario,
            unit,
            rate: rounded(ours.rate()),
            raw: rounded(raw.rate()),
            ratio_to_raw: rounded(median(&ratios)),
            ratio_range: [
                rounded(ratios.iter().copied().fold(f64::INFINITY, f64::min)),
                rounded(ratios.iter().copied().fold(0.0, f64::max)),
            ],
            p50_ms: ours.quantile_ms(0.5),
            p99_ms: ours.quantile_ms(0.99),
            raw_p50_ms: raw.quantile_ms(0.5),
            raw_p99_ms: raw.quantile_ms(0.99),
            tasks,
            rounds: u32::try_from(ratios.len()).unwrap_or(u32::MAX),
            raw_is,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {:.0} {}s/s, {:.2} of plain SQL ({:.0}/s; rounds {:.2} to {:.2}) · p50 {} ms, p99 {} ms (plain {} and {}) · {} at once",
            self.scenario,
            self.rate,
            self.unit,
            self.ratio_to_raw,
            self.raw,
            self.ratio_range[0],
            self.ratio_range[1],
            self.p50_ms,
            self.p99_ms,
            self.raw_p50_ms,
            self.raw_p99_ms,
            self.tasks,
        )
    }
}
