//! Codes of operations that this product gives itself. Those of panel calls come from its adapter. All are API.

/// Outbound provisioning is on hold. Costs no attempt.
pub const MAINTENANCE_ACTIVE: &str = "maintenance_active";
/// What the entitlement's stream says cannot be read. Fails for good.
pub const INVALID_DESIRED_STATE: &str = "invalid_desired_state";
/// An operation whose name is none of the eight. Fails for good.
pub const UNSUPPORTED_OPERATION: &str = "unsupported_operation";
/// A newer version was shown before this operation ran.
pub const ENTITLEMENT_SUPERSEDED: &str = "entitlement_superseded";
/// An operator abandoned the operation.
pub const OPERATOR_CANCELLED: &str = "operator_cancelled";
/// The run ended without an outcome: crash, shutdown or a passed deadline.
pub const INTERRUPTED: &str = "interrupted";
