//! Kinds of notices. Each has a forum topic of its own in the operators' group.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An order was paid for.
    Purchase,
    /// More time on a subscription was paid for.
    Renewal,
    /// A wallet was topped up.
    Topup,
    /// Money went back.
    Refund,
    /// Something that was paid for is not provided yet, and somebody should look.
    FulfillmentFailure,
    /// Money that does not fit its order.
    Incident,
    /// A backup ended.
    Backup,
    /// An operator's account.
    Security,
    /// The preview of a campaign.
    CampaignTest,
    /// A trial, to see whether notices arrive.
    NoticeTest,
    /// A figure is out of its bounds.
    Anomaly,
}

/// A word that is no kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such kind of notice")]
pub struct UnknownKind;

impl Kind {
    /// Every kind, in the order in which topics are made.
    pub const ALL: [Self; 11] = [
        Self::Purchase,
        Self::Renewal,
        Self::Topup,
        Self::Refund,
        Self::FulfillmentFailure,
        Self::Incident,
        Self::Backup,
        Self::Security,
        Self::CampaignTest,
        Self::NoticeTest,
        Self::Anomaly,
    ];

    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Purchase => "purchase",
            Self::Renewal => "renewal",
            Self::Topup => "topup",
            Self::Refund => "refund",
            Self::FulfillmentFailure => "fulfillment_failure",
            Self::Incident => "incident",
            Self::Backup => "backup",
            Self::Security => "security",
            Self::CampaignTest => "campaign_test",
            Self::NoticeTest => "notice_test",
            Self::Anomaly => "anomaly",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(UnknownKind)
    }
}
