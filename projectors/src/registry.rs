//! The one list of projections.

use std::{fmt, str::FromStr};

use crate::ProjectionError;

/// Names of all projections, in the order in which they are listed and rebuilt.
pub const NAMES: [Name; 4] = [Name::Orders, Name::Entitlements, Name::OperationsView, Name::Deliveries];

/// A projection by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// `orders`
    Orders,
    /// `entitlements`
    Entitlements,
    /// `operations_view`
    OperationsView,
    /// `deliveries`
    Deliveries,
}

impl Name {
    /// As on the command line, in the cursor and as the table's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Entitlements => "entitlements",
            Self::OperationsView => "operations_view",
            Self::Deliveries => "deliveries",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Name {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Self, ProjectionError> {
        NAMES
            .into_iter()
            .find(|name| name.as_str() == text)
            .ok_or_else(|| ProjectionError::UnknownName(text.to_owned()))
    }
}

/// Calls a function that is generic over the projection, for the projection of a name.
macro_rules! for_projection {
    ($name:expr, $function:ident($($argument:expr),*)) => {
        match $name {
            $crate::registry::Name::Orders => $function::<$crate::orders::Orders>($($argument),*).await,
            $crate::registry::Name::Entitlements => $function::<$crate::entitlements::Entitlements>($($argument),*).await,
            $crate::registry::Name::OperationsView => $function::<$crate::operations_view::OperationsView>($($argument),*).await,
            $crate::registry::Name::Deliveries => $function::<$crate::deliveries::Deliveries>($($argument),*).await,
        }
    };
}
pub(crate) use for_projection;
