//! Custom rules: a textbook's machine with four banks, or a design under consideration.

use super::{BankWidth, GlobalRules, RuleSet, SharedRules};

/// The most banks: as many as one word of a mask has bits.
pub(super) const MAX_BANKS: u32 = 64;

/// Why custom rules are invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidRules {
    /// The value must be a power of two, because addresses are split into bit fields.
    #[error("`{name}` is a power of two from {least} to {most}, not {value}")]
    NotAPower {
        /// The field.
        name: &'static str,
        /// Its value.
        value: u32,
        /// The least valid value.
        least: u32,
        /// The largest valid value.
        most: u32,
    },
    /// The widest access must fill a run of banks.
    #[error(
        "{banks} banks of {bank_bytes} bytes deliver fewer than the 16 bytes of the widest access"
    )]
    TooFew {
        /// Banks.
        banks: u32,
        /// Bytes of a bank.
        bank_bytes: u32,
    },
    /// A row must have what all banks hold side by side, or more.
    #[error(
        "`row_bytes` is {row_bytes}, less than the {banks} banks of {bank_bytes} bytes deliver at once"
    )]
    NarrowRow {
        /// Bytes of a row.
        row_bytes: u32,
        /// Banks.
        banks: u32,
        /// Bytes of a bank.
        bank_bytes: u32,
    },
    /// Pairs of lanes merge into groups twice as large.
    #[error(
        "`merges_pairs` doubles groups of lanes: `lanes_8` and `lanes_16` are 16 at most with it"
    )]
    NoRoomForPairs,
}

impl RuleSet {
    /// The rules of an architecture with different rules for its memories. Everything that does not depend on them,
    /// such as the limits of a launch, stays the same. `by` is named in reports.
    ///
    /// ```
    /// use interp::{mask::LaneMask, rules::{Arch, RuleSet, bank::{SharedOp, shared_cost}}};
    /// let base = RuleSet::for_arch(Arch::SM_90);
    /// let mut shared = base.shared;
    /// (shared.banks, shared.row_bytes, shared.lanes_4) = (4, 16, 4);
    /// let toy = base.given("a textbook", shared, base.global)?;
    /// // A stride of two words: half of the four banks, twice each, for each of the eight groups of four lanes.
    /// let addresses = std::array::from_fn(|lane| 8 * lane as u32);
    /// let cost = shared_cost(&toy.shared, SharedOp::Load, 4, LaneMask::FULL, &addresses).unwrap();
    /// assert_eq!((cost.transactions, cost.ideal, cost.degree), (16, 8, 2));
    /// # Ok::<(), interp::rules::InvalidRules>(())
    /// ```
    pub fn given(
        self,
        by: &'static str,
        shared: SharedRules,
        global: GlobalRules,
    ) -> Result<RuleSet, InvalidRules> {
        let power = |name, value: u32, least, most| {
            let is_one = value.is_power_of_two() && (least..=most).contains(&value);
            let wrong = InvalidRules::NotAPower {
                name,
                value,
                least,
                most,
            };
            if is_one { Ok(()) } else { Err(wrong) }
        };
        power("banks", shared.banks, 1, MAX_BANKS)?;
        power("bank_bytes", shared.bank_bytes, 4, 8)?;
        power("row_bytes", shared.row_bytes, 4, 1 << 16)?;
        power("lanes_4", shared.lanes_4, 1, 32)?;
        power("lanes_8", shared.lanes_8, 1, 32)?;
        power("lanes_16", shared.lanes_16.unwrap_or(1), 1, 32)?;
        let (banks, bank_bytes, row_bytes) = (shared.banks, shared.bank_bytes, shared.row_bytes);
        if banks * bank_bytes < 16 {
            return Err(InvalidRules::TooFew { banks, bank_bytes });
        }
        if banks * bank_bytes > row_bytes {
            return Err(InvalidRules::NarrowRow {
                row_bytes,
                banks,
                bank_bytes,
            });
        }
        if shared.merges_pairs && shared.lanes_8.max(shared.lanes_16.unwrap_or(1)) > 16 {
            return Err(InvalidRules::NoRoomForPairs);
        }
        Ok(RuleSet {
            bank_width: match bank_bytes {
                8 => BankWidth::Eight,
                _ => BankWidth::Four,
            },
            l1: global.loads_lines,
            given_by: Some(by),
            shared: SharedRules {
                given: true,
                ..shared
            },
            global: GlobalRules {
                given: true,
                ..global
            },
            ..self
        })
    }

    /// The name of the rules in reports: `sm_90`, `the rules of toy.toml`.
    pub fn title(&self) -> String {
        match self.given_by {
            Some(by) => format!("the rules of {by} ({} otherwise)", self.arch),
            None => self.arch.to_string(),
        }
    }
}
