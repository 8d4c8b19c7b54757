//! The name of each kind's topic, which is also the title of its notices.

use domain::notices::Kind;

pub(crate) const fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Purchase => "🛒 Purchases",
        Kind::Renewal => "🔁 Renewals",
        Kind::Topup => "💰 Top-ups",
        Kind::Refund => "↩️ Refunds",
        Kind::FulfillmentFailure => "🚨 Fulfillment failures",
        Kind::Incident => "⚠️ Incidents",
        Kind::Backup => "💾 Backups",
        Kind::Security => "🔐 Security",
        Kind::CampaignTest => "📣 Campaign previews",
        Kind::NoticeTest => "🧪 Notice tests",
        Kind::Anomaly => "📈 Anomalies",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn titles_are_unlike_each_other_and_fit_the_name_of_a_topic() {
        let titles: BTreeSet<_> = Kind::ALL.into_iter().map(title).collect();
        assert_eq!(titles.len(), Kind::ALL.len());
        assert!(titles.iter().all(|title| (1..=128).contains(&title.chars().count())));
    }
}
