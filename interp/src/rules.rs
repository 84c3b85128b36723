//! Cost rules (placeholder until the rules are merged).
/// A set of rules.
#[derive(Clone, Debug)]
pub struct RuleSet {}
