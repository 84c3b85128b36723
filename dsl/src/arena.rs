//! Tables whose rows have ids of a separate type, so that an id of one table cannot index another.

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut, Index, IndexMut},
};

/// A row's number in the [`Arena`] of its kind.
pub trait Id: Copy {
    /// As an index.
    fn index(self) -> usize;
    /// The id of the row at that index.
    fn from_index(index: usize) -> Self;
}

/// Declares ids: `ids! { /// A function. pub struct FunctionId; }`.
macro_rules! ids {
    ($($(#[doc = $doc:literal])* $visible:vis struct $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        $visible struct $name(pub u32);

        impl $crate::arena::Id for $name {
            fn index(self) -> usize {
                self.0 as usize
            }
            fn from_index(index: usize) -> $name {
                $name(index as u32)
            }
        }
    )* };
}
pub(crate) use ids;

/// Rows by their ids. Rows are added at the end and stay.
#[derive(Clone, PartialEq, Debug)]
pub struct Arena<I, T> {
    rows: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I, T> Arena<I, T> {
    /// Creates an empty arena.
    pub const fn new() -> Arena<I, T> {
        Arena {
            rows: Vec::new(),
            ids: PhantomData,
        }
    }
}

impl<I: Id, T> Arena<I, T> {
    /// Adds a row.
    pub fn push(&mut self, row: T) -> I {
        self.rows.push(row);
        I::from_index(self.rows.len() - 1)
    }

    /// The id that the next row will have.
    pub fn next_id(&self) -> I {
        I::from_index(self.rows.len())
    }

    /// The ids of all rows.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.rows.len()).map(I::from_index)
    }

    /// All rows with their ids.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.ids().zip(&self.rows)
    }
}

impl<I, T> Default for Arena<I, T> {
    fn default() -> Arena<I, T> {
        Arena::new()
    }
}

impl<I, T> Deref for Arena<I, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.rows
    }
}

impl<I, T> DerefMut for Arena<I, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.rows
    }
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.rows[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.index()]
    }
}

impl<I: Id, T> FromIterator<T> for Arena<I, T> {
    fn from_iter<R: IntoIterator<Item = T>>(rows: R) -> Arena<I, T> {
        Arena {
            rows: rows.into_iter().collect(),
            ids: PhantomData,
        }
    }
}

impl<I, T> IntoIterator for Arena<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> std::vec::IntoIter<T> {
        self.rows.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a Arena<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.rows.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut Arena<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> std::slice::IterMut<'a, T> {
        self.rows.iter_mut()
    }
}
