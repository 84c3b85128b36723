//! `--blocks`: a range of a launch's blocks.

/// `0..4096`, or `3:0..4096` of launch 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockRange {
    /// The launch's number in the report, if it is named.
    pub(crate) launch: Option<usize>,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl BlockRange {
    pub(super) fn parse(text: &str) -> Result<BlockRange, String> {
        let expected = "expected a range of block numbers, without the last: 0..4096, or 3:0..4096 of launch 3";
        let (launch, range) = match text.split_once(':') {
            Some((launch, range)) => {
                let launch = launch.trim().parse();
                (Some(launch.map_err(|_| expected.to_string())?), range)
            }
            None => (None, text),
        };
        let (from, to) = range.split_once("..").ok_or(expected)?;
        match (from.trim().parse(), to.trim().parse()) {
            (Ok(from), Ok(to)) if from < to => Ok(BlockRange { launch, from, to }),
            (Ok(from), Ok(to)) => Err(format!("no block is in {from}..{to}")),
            _ => Err(expected.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let range = |launch, from, to| Ok(BlockRange { launch, from, to });
        assert_eq!(BlockRange::parse("0..4096"), range(None, 0, 4096));
        assert_eq!(BlockRange::parse("3:16..32"), range(Some(3), 16, 32));
        assert_eq!(BlockRange::parse("4..4"), Err("no block is in 4..4".into()));
        for wrong in ["", "4", "a..b", ":0..4", "-1..4", "0..=4"] {
            assert!(BlockRange::parse(wrong).is_err(), "{wrong}");
        }
    }
}
