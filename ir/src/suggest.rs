//! "Did you mean": finds the nearest of the possible names.

use strsim::damerau_levenshtein;

/// The candidate nearest to `name`, if one is near enough: at most a third of its letters differ. Upper and lower case count as half a
/// difference. Equal distances are decided alphabetically, so that messages are stable.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let length = name.chars().count();
    let limit = 2 * (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name && candidate.len().abs_diff(name.len()) <= limit)
        .filter_map(|candidate| {
            let distance = damerau_levenshtein(name, candidate)
                + damerau_levenshtein(&lower, &candidate.to_lowercase());
            // A single different letter is not a typing error.
            let near = distance <= limit && (length > 1 || distance <= 1);
            near.then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = [
            "__syncthreads",
            "__syncwarp",
            "threadIdx",
            "blockIdx",
            "tile",
            "n",
            "N",
        ];
        let cases = [
            ("__syncthread", Some("__syncthreads")),
            ("__syncThreads", Some("__syncthreads")),
            ("threadidx", Some("threadIdx")),
            ("tiel", Some("tile")),
            ("m", None),
            ("output", None),
        ];
        for (name, expected) in cases {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
    }
}
