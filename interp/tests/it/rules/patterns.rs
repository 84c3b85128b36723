//! Transactions per request for the tiles that texts on shared memory use, derived from the index expressions.
//!
//! A block of `x` by `y` threads stores to and loads from `tile[row][column]`, with rows padded by some elements of 4
//! bytes. `fast` means that the index follows `threadIdx.x` along a row, `slow` down a column.

use interp::mask::LaneMask;
use interp::rules::bank::{SharedOp, shared_cost};
use interp::rules::{BankWidth, RuleSet};

use super::rules;

/// The byte of the tile that a thread touches.
type Index = fn(x: u32, y: u32) -> (u32, u32);

const ROW: Index = |x, y| (y, x);
const COLUMN: Index = |x, y| (x, y);

struct Tile {
    block: (u32, u32),
    columns: u32,
    padding: u32,
}

impl Tile {
    const fn new(x: u32, y: u32, columns: u32, padding: u32) -> Self {
        Self {
            block: (x, y),
            columns,
            padding,
        }
    }

    /// Transactions per request over all warps of the block.
    fn per_request(
        &self,
        rules: &RuleSet,
        op: SharedOp,
        index: impl Fn(u32, u32) -> (u32, u32),
    ) -> f64 {
        let (width, height) = self.block;
        let threads: Vec<u32> = (0..width * height).collect();
        let (mut transactions, mut requests) = (0, 0);
        for warp in threads.chunks(32) {
            let mut addresses = [0; 32];
            for (lane, thread) in warp.iter().enumerate() {
                let (row, column) = index(thread % width, thread / width);
                addresses[lane] = 4 * (row * (self.columns + self.padding) + column);
            }
            let mask = LaneMask::first(warp.len() as u32);
            transactions += shared_cost(&rules.shared, op, 4, mask, &addresses)
                .unwrap()
                .transactions;
            requests += 1;
        }
        f64::from(transactions) / f64::from(requests)
    }
}

fn all_rules() -> [RuleSet; 4] {
    [
        rules("sm_20", BankWidth::Four),
        rules("sm_35", BankWidth::Four),
        rules("sm_35", BankWidth::Eight),
        rules("sm_90", BankWidth::Four),
    ]
}

/// Store and load of one pattern on sm_20, sm_35 with 4-byte banks, sm_35 with 8-byte banks, sm_90.
fn check(
    tile: Tile,
    store: impl Fn(u32, u32) -> (u32, u32),
    load: impl Fn(u32, u32) -> (u32, u32),
    want: [(f64, f64); 4],
) {
    let got = all_rules().map(|rules| {
        (
            tile.per_request(&rules, SharedOp::Store, &store),
            tile.per_request(&rules, SharedOp::Load, &load),
        )
    });
    assert_eq!(got, want);
}

#[test]
fn square_tile_by_rows_is_free() {
    check(Tile::new(32, 32, 32, 0), ROW, ROW, [(1., 1.); 4]);
}

#[test]
fn square_tile_by_columns_is_32_way() {
    check(
        Tile::new(32, 32, 32, 0),
        COLUMN,
        COLUMN,
        [(32., 32.), (16., 16.), (16., 16.), (32., 32.)],
    );
}

#[test]
fn square_tile_stored_by_rows_loaded_by_columns() {
    check(
        Tile::new(32, 32, 32, 0),
        ROW,
        COLUMN,
        [(1., 32.), (1., 16.), (1., 16.), (1., 32.)],
    );
}

#[test]
fn one_column_of_padding_frees_the_square_tile() {
    check(
        Tile::new(32, 32, 32, 1),
        ROW,
        COLUMN,
        [(1., 1.), (1., 1.), (1., 1.5), (1., 1.)],
    );
}

/// A rectangle of 16 rows by 32 columns: the block is 32 wide and 16 high. By columns, `tile[threadIdx.x][threadIdx.y]`
/// needs 32 rows of 16.
#[test]
fn rectangle_by_columns() {
    check(
        Tile::new(32, 16, 16, 0),
        COLUMN,
        COLUMN,
        [(16., 16.), (8., 8.), (8., 8.), (16., 16.)],
    );
}

/// The transposed index of a thread in the rectangle: consecutive threads go down the columns of 16 rows.
fn transposed(x: u32, y: u32) -> (u32, u32) {
    let thread = y * 32 + x;
    (thread % 16, thread / 16)
}

#[test]
fn rectangle_stored_by_rows_loaded_by_columns() {
    check(
        Tile::new(32, 16, 32, 0),
        ROW,
        transposed,
        [(1., 16.), (1., 8.), (1., 8.), (1., 16.)],
    );
}

#[test]
fn rectangle_padded_by_one() {
    check(
        Tile::new(32, 16, 32, 1),
        ROW,
        transposed,
        [(1., 2.), (1., 2.), (1., 2.), (1., 2.)],
    );
}

#[test]
fn rectangle_padded_by_two() {
    check(Tile::new(32, 16, 32, 2), ROW, transposed, [(1., 1.); 4]);
}

#[test]
fn transpose_tile_of_16() {
    check(
        Tile::new(16, 16, 16, 0),
        ROW,
        COLUMN,
        [(1., 8.), (1., 4.), (1., 4.), (1., 8.)],
    );
}

#[test]
fn transpose_tile_of_16_padded_by_one() {
    check(
        Tile::new(16, 16, 16, 1),
        ROW,
        COLUMN,
        [(2., 2.), (1.5, 2.), (1., 2.), (2., 2.)],
    );
}

#[test]
fn transpose_tile_of_16_padded_by_two() {
    check(
        Tile::new(16, 16, 16, 2),
        ROW,
        COLUMN,
        [(2., 1.), (1.5, 1.), (1., 1.), (2., 1.)],
    );
}

fn load(rules: &RuleSet, width: u32, address: impl Fn(u32) -> u32) -> u32 {
    let addresses = std::array::from_fn(|lane| address(lane as u32));
    shared_cost(
        &rules.shared,
        SharedOp::Load,
        width,
        LaneMask::FULL,
        &addresses,
    )
    .unwrap()
    .transactions
}

#[test]
fn interleaved_reduction_conflicts_by_its_stride() {
    let rules = rules("sm_90", BankWidth::Four);
    for (stride, ways) in [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (64, 32)] {
        assert_eq!(load(&rules, 4, |lane| 4 * stride * lane), ways);
    }
}

#[test]
fn broadcasts_and_elements_within_a_word_are_free() {
    for rules in all_rules() {
        assert_eq!(load(&rules, 4, |_| 400), 1);
        assert_eq!(load(&rules, 1, |lane| lane), 1);
        assert_eq!(load(&rules, 2, |lane| 2 * lane), 1);
        // Several words of one bank row, each for several lanes.
        assert_eq!(load(&rules, 4, |lane| lane / 8 * 4), 1);
    }
}

/// CUDA C Programming Guide: doubles are free of conflicts on 2.x by half-warps; Kepler serves them in one pass.
#[test]
fn consecutive_doubles() {
    assert_eq!(
        all_rules().map(|rules| load(&rules, 8, |lane| 8 * lane)),
        [2, 1, 1, 2]
    );
}

/// CUDA C Programming Guide, 2.x: "the majority of 128-bit accesses will cause 2-way bank conflicts".
#[test]
fn sixteen_byte_accesses() {
    let [fermi, kepler_4, kepler_8, hopper] = all_rules();
    assert_eq!(load(&fermi, 16, |lane| 16 * lane), 8);
    assert_eq!(load(&hopper, 16, |lane| 16 * lane), 4);
    assert_eq!(load(&hopper, 16, |_| 0), 2);
    for rules in [kepler_4, kepler_8] {
        let cost = shared_cost(&rules.shared, SharedOp::Load, 16, LaneMask::FULL, &[0; 32]);
        assert_eq!(cost, None);
        assert!(!rules.shared.provenance(SharedOp::Load, 16).is_modelled());
    }
}
