//! Proves changes of an array's layout: every access was rewritten by one injective map.
//!
//! For each kernel, the rows of the program and of the edited one are compared. They have to be the same except for the places of accesses
//! to one array, and each of those places has to be the map of the old one. The map keeps elements apart because each subscript stays
//! within its dimension, which C requires and the machine checks. Nothing else may see the places: the array's address is used only for
//! accesses, no access is wider than an element, the array has enough room, and a block's shared memory stays below what every launch may
//! have.

use ir::{
    BinaryOp, Const, Function, FunctionKind, GlobalSpace, InstKind, Module, Object, Operand,
    SharedId, SharedVar, Space, Type,
};

use super::{
    skeleton::{Step, Touch, What, row},
    term::{Sum, Terms},
};

/// Shared memory that every launch may have without asking for more.
const SHARED_BYTES: u64 = 48 << 10;
/// Words of a row of banks: a spread array has a gap after each, and a permutation stays within one.
const BANKS: i64 = 32;

/// Names of the maps in messages.
const WIDER: &str = "rows of more elements";
const PERMUTED: &str = "its columns permuted by row";

/// The sentence that proves edits of a shared array; `None` if there is no proof.
pub(super) fn shared(old: &Module, new: &Module) -> Option<String> {
    let same_outside = old.globals == with_locs(&new.globals, &old.globals)
        && old.strings == new.strings
        && old.functions.len() == new.functions.len();
    if !same_outside {
        return None;
    }
    let mut said: Option<(String, &'static str)> = None;
    for (old, new) in old.functions.iter().zip(&new.functions) {
        if let Some(one) = of_function(old, new)? {
            said = Some(one);
        }
    }
    let (name, map) = said?;
    Some(format!(
        "every access of `{name}` was rewritten by the same map ({map}), no address of it goes elsewhere, and each block keeps within 48 KB"
    ))
}

/// Globals with the places of other ones, because edits move places.
fn with_locs(globals: &[ir::GlobalVar], like: &[ir::GlobalVar]) -> Vec<ir::GlobalVar> {
    let mut globals = globals.to_vec();
    for (global, like) in globals.iter_mut().zip(like) {
        global.loc = like.loc;
    }
    globals
}

/// How a function uses an array with a new layout: the array's name and the map. The inner `None`: nothing differs.
fn of_function(old: &Function, new: &Function) -> Option<Option<(String, &'static str)>> {
    let is_like = old.name == new.name
        && old.kind == new.kind
        && old.params.len() == new.params.len()
        && old.shared.len() == new.shared.len()
        && old.locals.len() == new.locals.len();
    if !is_like {
        return None;
    }
    let mut terms = Terms::default();
    let (before, after) = (row(old, &mut terms)?, row(new, &mut terms)?);
    if before.len() != after.len() {
        return None;
    }
    let resized = changed_array(old, new)?;
    // The array that changes is the one whose size changes, or else the one whose accesses do.
    let array = resized.or_else(|| moved_array(&before, &after));
    let Some(array) = array else {
        return same(&before, &after).then_some(None);
    };
    if old.kind == FunctionKind::Host {
        return None;
    }
    let (was, is) = (&old.shared[array.index()], &new.shared[array.index()]);
    let object = Object::Shared(array);
    let mut map: Option<&'static str> = None;
    for (a, b) in before.iter().zip(&after) {
        let escapes = a
            .terms()
            .iter()
            .chain(&b.terms())
            .any(|&term| terms.mentions(term, object));
        if escapes {
            return None;
        }
        match (&a.what, &b.what) {
            (What::Access(a), What::Access(b)) if a.object() == Some(object) => {
                let is_same = a.kind == b.kind && a.values == b.values && b.object() == a.object();
                let width = u64::from(a.access.width_bytes());
                if !is_same || width > was.element_bytes || was.element_bytes != is.element_bytes {
                    return None;
                }
                let own = Array {
                    was,
                    is,
                    terms: &mut terms,
                }
                .map_of(a, b)?;
                if map.is_some_and(|map| map != own) {
                    return None;
                }
                map = Some(own);
            }
            (What::Access(a), What::Access(b)) => {
                let reaches = |touch: &Touch| terms.mentions(touch.pointer, object);
                if a != b || reaches(a) || reaches(b) {
                    return None;
                }
            }
            (a, b) if a != b => return None,
            _ => {}
        }
    }
    fits(new)?;
    Some(map.map(|map| (was.name.clone(), map)))
}

fn same(before: &[Step], after: &[Step]) -> bool {
    before.iter().zip(after).all(|(a, b)| a.what == b.what)
}

/// The shared array whose size or rows change. The inner `None`: there is none.
fn changed_array(old: &Function, new: &Function) -> Option<Option<SharedId>> {
    let differs = |(a, b): (&SharedVar, &SharedVar)| {
        (&a.dims, a.size_bytes, a.element_bytes) != (&b.dims, b.size_bytes, b.element_bytes)
    };
    let pairs = old.shared.iter().zip(&new.shared);
    let changed: Vec<usize> = pairs
        .enumerate()
        .filter(|&(_, pair)| differs(pair))
        .map(|(at, _)| at)
        .collect();
    match changed[..] {
        [] => Some(None),
        [one] => Some(Some(SharedId(one as u32))),
        _ => None,
    }
}

/// The shared array of the first access whose place changes.
fn moved_array(before: &[Step], after: &[Step]) -> Option<SharedId> {
    let pairs = before.iter().zip(after);
    pairs
        .filter_map(|(a, b)| match (&a.what, &b.what) {
            (What::Access(a), What::Access(b)) if a.pointer != b.pointer => a.object(),
            _ => None,
        })
        .find_map(|object| match object {
            Object::Shared(id) => Some(id),
            _ => None,
        })
}

/// Checks that every launch of the kernel can still have its shared memory.
fn fits(kernel: &Function) -> Option<()> {
    let bytes = kernel
        .shared
        .iter()
        .map(|var| var.offset_bytes + var.size_bytes);
    let has_dynamic = kernel.shared.iter().any(|var| var.dynamic);
    (!has_dynamic && bytes.max().unwrap_or(0) <= SHARED_BYTES).then_some(())
}

/// An array before and after.
struct Array<'a> {
    was: &'a SharedVar,
    is: &'a SharedVar,
    terms: &'a mut Terms,
}

impl Array<'_> {
    /// The map by which an access was rewritten.
    fn map_of(&mut self, a: &Touch, b: &Touch) -> Option<&'static str> {
        let (base, was) = self.terms.place(a.pointer)?;
        let (other, is) = self.terms.place(b.pointer)?;
        if base != other {
            return None;
        }
        let (was, is) = (self.indices(&was), self.indices(&is));
        match self.was.dims.len() {
            0 => None,
            1 => self.of_vector(&was, &is),
            _ => {
                let columns = *self.was.dims.last()?;
                if let (Some(was), Some(is)) = (was.number(), is.number()) {
                    return self.of_number(was, is);
                }
                // The machine checks that the last subscript stays within its row.
                let is_subscript = u64::from(a.access.row_len) == columns
                    && Some(u64::from(b.access.row_len)) == self.is.dims.last().copied();
                if !is_subscript {
                    return None;
                }
                match self.was.dims == self.is.dims {
                    true => self.permuted_rows(&was, &is),
                    false => self.wider_rows(&was, &is),
                }
            }
        }
    }

    /// A sum of bytes whose terms are read as the numbers they mean, without wrapping.
    fn indices(&self, bytes: &Sum) -> Sum {
        let mut all = Sum::constant(bytes.constant);
        for &(term, factor) in &bytes.parts {
            all = all.add(&self.terms.index(term), factor);
        }
        all
    }

    /// The map of one element's place.
    fn of_number(&mut self, was: i64, is: i64) -> Option<&'static str> {
        let element = self.was.element_bytes as i64;
        let (old, new) = (*self.was.dims.last()? as i64, *self.is.dims.last()? as i64);
        let at = was / element;
        let is_inside = was % element == 0 && (0..self.was.size_bytes as i64).contains(&was);
        let (row, column) = (at / old, at % old);
        let (moved, map) = match self.was.dims == self.is.dims {
            true => (row * new + (column ^ (row % old)), PERMUTED),
            false => (row * new + column, WIDER),
        };
        let fits = map == WIDER || (old as u64).is_power_of_two();
        (is_inside && fits && moved * element == is).then_some(map)
    }

    /// `row * columns + column` became `row * (columns + pad) + column`.
    fn wider_rows(&mut self, was: &Sum, is: &Sum) -> Option<&'static str> {
        let element = self.was.element_bytes as i64;
        let (old, new) = (*self.was.dims.last()?, *self.is.dims.last()?);
        let is_wider = new > old
            && self.was.dims[..self.was.dims.len() - 1] == self.is.dims[..self.is.dims.len() - 1];
        let pad = (new as i64 - old as i64) * element;
        // The growth is a multiple of the row number; the rest of the old place is the column.
        let rows = is.add(was, -1).divided(pad)?;
        let column = was.add(&rows, -(old as i64) * element).divided(element)?;
        let rebuilt = Sum::default()
            .add(&rows, new as i64 * element)
            .add(&column, element);
        (is_wider && rebuilt == *is).then_some(WIDER)
    }

    /// `tile[row][column]` became `tile[row][column ^ row]`, or `column ^ row % columns`.
    fn permuted_rows(&mut self, was: &Sum, is: &Sum) -> Option<&'static str> {
        let element = self.was.element_bytes as i64;
        let columns = *self.was.dims.last()? as i64;
        let stride = columns * element;
        if !(columns as u64).is_power_of_two() || self.was.dims.len() != 2 {
            return None;
        }
        let rows = self.was.dims[0] as i64;
        // For a factor, a row's part is the nearest multiple of a row; for a constant, the multiple below it.
        let nearest = |n: i64| (n + stride / 2).div_euclid(stride);
        let row = Sum {
            parts: was
                .parts
                .iter()
                .map(|&(term, factor)| (term, nearest(factor)))
                .filter(|&(_, factor)| factor != 0)
                .collect(),
            constant: was.constant.div_euclid(stride),
        };
        let column = was.add(&row, -stride).divided(element)?;
        let place = |array: &mut Self, permuted: super::term::Term| {
            let column = array.terms.index(permuted);
            Sum::default().add(&row, stride).add(&column, element)
        };
        let (row_term, column_term) = (self.term(&row), self.term(&column));
        let mut candidates = vec![];
        if rows <= columns {
            candidates.push(self.binary(BinaryOp::Xor, column_term, row_term));
        }
        for rem in [BinaryOp::SRem, BinaryOp::URem] {
            let columns = self.term(&Sum::constant(columns));
            let remainder = self.binary(rem, row_term, columns);
            candidates.push(self.binary(BinaryOp::Xor, column_term, remainder));
        }
        candidates
            .into_iter()
            .any(|permuted| place(self, permuted) == *is)
            .then_some(PERMUTED)
    }

    /// `i` became `i + i / 32`, with room for it, or `i ^ i / 32 % 32`.
    fn of_vector(&mut self, was: &Sum, is: &Sum) -> Option<&'static str> {
        let element = self.was.element_bytes as i64;
        let (index, new) = (was.divided(element)?, is.divided(element)?);
        let (n, room) = (*self.was.dims.first()?, *self.is.dims.first()?);
        let number = index.number().filter(|&number| number >= 0);
        let i = self.term(&index);
        let banks = self.term(&Sum::constant(BANKS));
        let divisions = [BinaryOp::SDiv, BinaryOp::UDiv];
        let spread = divisions.iter().any(|&div| {
            let skipped = self.binary(div, i, banks);
            index.add(&self.terms.index(skipped), 1) == new
        });
        let spread = spread || number.is_some_and(|i| new.number() == Some(i + i / BANKS));
        let most = n.saturating_sub(1);
        if spread && room > most + most / BANKS as u64 {
            return Some("an element unused after every 32");
        }
        let pairs = divisions.iter().zip([BinaryOp::SRem, BinaryOp::URem]);
        let permuted = pairs.into_iter().any(|(&div, rem)| {
            let row = self.binary(div, i, banks);
            let row = self.binary(rem, row, banks);
            let permuted = self.binary(BinaryOp::Xor, i, row);
            self.terms.index(permuted) == new
        });
        let permuted =
            permuted || number.is_some_and(|i| new.number() == Some(i ^ (i / BANKS % BANKS)));
        (permuted && room == n && n % BANKS as u64 == 0)
            .then_some("elements permuted within each 32")
    }

    fn term(&mut self, sum: &Sum) -> super::term::Term {
        self.terms.of(super::term::Shape::Sum(sum.clone()))
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: super::term::Term,
        b: super::term::Term,
    ) -> super::term::Term {
        let blank = Operand::Const(Const::i32(0));
        let kind = InstKind::Binary(op, Type::I32, blank, blank);
        self.terms.op(&kind, vec![a, b])
    }
}

/// The sentence that proves that a table may be in global memory instead of constant memory.
pub(super) fn table(old: &Module, new: &Module) -> Option<String> {
    if old.globals.len() != new.globals.len() || old.strings != new.strings {
        return None;
    }
    let mut moved: Option<&str> = None;
    let globals = with_locs(&new.globals, &old.globals);
    for (was, is) in old.globals.iter().zip(&globals) {
        let mut like = is.clone();
        like.space = was.space;
        let is_move = (was.space, is.space) == (GlobalSpace::Constant, GlobalSpace::Device);
        if like != *was || was.space != is.space && !is_move {
            return None;
        }
        if is_move {
            moved = Some(&was.name);
        }
    }
    let name = moved?;
    if old.functions.len() != new.functions.len() {
        return None;
    }
    for (a, b) in old.functions.iter().zip(&new.functions) {
        let mut terms = Terms::default();
        let rows = (row(a, &mut terms)?, row(b, &mut terms)?);
        let is_same = a.name == b.name && rows.0.len() == rows.1.len();
        let mut pairs = rows.0.iter().zip(&rows.1);
        if !is_same || !pairs.all(|(a, b)| without_space(a) == without_space(b)) {
            return None;
        }
    }
    Some(format!(
        "only the memory that `{name}` is in changes: kernels read it and never write it, and each access has the same place in it"
    ))
}

/// A step without the kind of memory that it accesses.
fn without_space(step: &Step) -> What {
    let mut what = step.what.clone();
    if let What::Access(touch) = &mut what
        && matches!(touch.access.space, Space::Constant | Space::Global)
    {
        touch.access.space = Space::Generic;
    }
    what
}
