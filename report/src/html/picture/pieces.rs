//! Global and constant memory: lanes over the sectors or words that are moved for them.

use std::fmt::Write;

use super::{CELL, Drawing, LANES, LEFT, Request, TOP, lane_names, lane_titles, number};

/// Bytes of a line of global memory.
const LINE_BYTES: u64 = 128;
/// The width that all sectors share, and the bounds of a single one's.
const SECTORS_WIDE: f64 = 600.0;
const SECTOR_WIDE: (f64, f64) = (16.0, 64.0);

/// The pieces of memory that lanes touch, in ascending order.
pub(super) fn pieces_of(request: &Request<'_>, bytes: u64) -> Vec<u64> {
    let mut pieces: Vec<u64> = request
        .mask
        .lanes()
        .map(|lane| request.addresses[lane] / bytes)
        .collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// The number of different bytes that lanes request.
pub(super) fn distinct_bytes(request: &Request<'_>) -> u64 {
    let mut all: Vec<u64> = request
        .mask
        .lanes()
        .map(|lane| request.addresses[lane])
        .collect();
    all.sort_unstable();
    all.dedup();
    all.len() as u64 * u64::from(request.width_bytes)
}

/// Where each piece begins, from left to right, and where the last one ends. There is a gap where memory is not contiguous, and a small one
/// between lines.
fn piece_places(pieces: &[u64], bytes: u64, wide: f64) -> (Vec<f64>, f64) {
    let mut places = vec![];
    let mut x = LEFT;
    for (at, &piece) in pieces.iter().enumerate() {
        if at > 0 {
            x += match (
                pieces[at - 1] + 1 == piece,
                (piece * bytes).is_multiple_of(LINE_BYTES),
            ) {
                (true, false) => 1.0,
                (true, true) => 3.0,
                (false, _) => 5.0,
            };
        }
        places.push(x);
        x += wide;
    }
    (places, x)
}

/// The pieces as columns with the bytes that each lane requests, and below them the used bytes of each piece.
fn piece_paths(
    request: &Request<'_>,
    bytes: u64,
    (pieces, places): (&[u64], &[f64]),
    wide: f64,
) -> String {
    let (mut columns, mut moved) = (String::new(), String::new());
    let (mut asked, mut used) = (String::new(), String::new());
    let high = LANES as f64 * CELL;
    let strip = TOP + high + 6.0;
    for (&piece, &x) in pieces.iter().zip(places) {
        let _ = write!(
            columns,
            "M{} {TOP}h{1}v{high}h-{1}z",
            number(x),
            number(wide)
        );
        let _ = write!(moved, "M{} {strip}h{1}v10h-{1}z", number(x), number(wide));
        let mut taken: Vec<u64> = vec![];
        for lane in request
            .mask
            .lanes()
            .filter(|&lane| request.addresses[lane] / bytes == piece)
        {
            let within = request.addresses[lane] % bytes;
            let scale = wide / bytes as f64;
            let (from, to) = (
                x + within as f64 * scale,
                f64::from(request.width_bytes) * scale,
            );
            let mark = to.max(1.5).min(wide);
            let y = TOP + lane as f64 * CELL + 0.5;
            let _ = write!(
                asked,
                "M{} {}h{}v7h-{2}z",
                number(from),
                number(y),
                number(mark)
            );
            if !taken.contains(&within) {
                taken.push(within);
                let _ = write!(used, "M{} {strip}h{}v10h-{1}z", number(from), number(to));
            }
        }
    }
    format!(
        "<path class=\"k\" d=\"{columns}\" /><path class=\"w\" d=\"{moved}\" /><path class=\"p0\" d=\"{asked}\" /><path class=\"p0\" d=\"{used}\" /><text x=\"{LEFT}\" y=\"{}\">moved, of which the blue bytes are used</text>",
        number(strip + 23.0)
    )
}

/// Lanes over the pieces of memory that are moved for them: the requested bytes, and below them the used part of each piece.
pub(super) fn pieces(request: &Request<'_>, bytes: u64, unit: &str) -> Drawing {
    let pieces = pieces_of(request, bytes);
    let wide = (SECTORS_WIDE / pieces.len() as f64)
        .clamp(SECTOR_WIDE.0, SECTOR_WIDE.1)
        .floor();
    let (places, x) = piece_places(&pieces, bytes, wide);
    let high = LANES as f64 * CELL;
    let end = x.max(LEFT + 200.0);
    let base = pieces.first().map_or(0, |first| first * bytes);
    let mut body = String::new();
    let mut free = 0.0;
    for (&piece, &x) in pieces.iter().zip(&places) {
        let offset = piece * bytes - base;
        let name = if offset == 0 {
            format!("{unit} +0")
        } else {
            format!("+{offset}")
        };
        if x >= free && x + name.len() as f64 * 6.2 <= end {
            let _ = write!(body, "<text x=\"{}\" y=\"11\">{name}</text>", number(x));
            free = x + name.len() as f64 * 6.2 + 8.0;
        }
    }
    body += &lane_names();
    let strip = TOP + high + 6.0;
    body += &piece_paths(request, bytes, (&pieces, &places), wide);
    body += &lane_titles(request, end - LEFT, &|lane| {
        let address = request.addresses[lane];
        let piece = address / bytes * bytes - base;
        format!("byte +{}, {unit} +{piece}", address - base)
    });
    let asked = distinct_bytes(request);
    Drawing {
        wide: end + 1.0,
        high: strip + 28.0,
        body,
        label: format!(
            "Lanes over {unit}s of memory: {} of {bytes} bytes, of which {asked} bytes are asked for",
            pieces.len()
        ),
    }
}
