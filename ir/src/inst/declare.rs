//! Code generated from a row of the table in [`inst`](super): the variant, the lists of its operands, the types of its results, its effect,
//! its place, its text and the reader of that text. The table defines the form of a row; no code here depends on a single instruction.
//!
//! Each function is one match with an arm per row, and an arm calls one method per field. The traits `Operands` ([`visit`](crate::visit)),
//! `Gives` and `Takes` ([`typing`](crate::typing)), `Word` and `Arg` ([`text`](super::text)) define what a field's type means for operands,
//! types and text.

/// Declares the table, see `inst`.
macro_rules! instructions {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident
        $(($($field:ident: $ty:ty),*))?
        $({ $($(#[doc = $member_doc:literal])* $member:ident: $member_ty:ty,)* })?
        [$($text:tt)*] -> $gives:expr, $effect:expr, $stands:expr;
    )*) => {
        /// The operation of an instruction.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum InstKind { $(
            $(#[doc = $doc])*
            $name $(($($ty),*))? $({ $($(#[doc = $member_doc])* $member: $member_ty,)* })?,
        )* }

        impl InstKind {
            /// Every operand, in order.
            pub fn operands(&self) -> Vec<&Operand> {
                let mut list = vec![];
                match self { $(
                    InstKind::$name $(($($field),*))? $({ $($member),* })? => {
                        $($($field.list(&mut list);)*)?
                        $($($member.list(&mut list);)*)?
                    }
                )* }
                list
            }

            /// Every operand, in order, to be replaced.
            pub fn operands_mut(&mut self) -> Vec<&mut Operand> {
                let mut list = vec![];
                match self { $(
                    InstKind::$name $(($($field),*))? $({ $($member),* })? => {
                        $($($field.list_mut(&mut list);)*)?
                        $($($member.list_mut(&mut list);)*)?
                    }
                )* }
                list
            }

            /// The types of its results; `None` if it names something that does not exist.
            #[allow(unused_variables, reason = "a row's result does not depend on every field")]
            pub fn result_types(&self, module: &Module, function: &Function) -> Option<Vec<Type>> {
                match self { $(
                    InstKind::$name $(($($field),*))? $({ $($member),* })? => $gives.types(module, function),
                )* }
            }

            /// Its effect besides its results.
            #[allow(unused_variables, reason = "a row's effect seldom depends on a field")]
            pub fn effect(&self) -> Effect {
                use Effect::*;
                match self { $(
                    InstKind::$name $(($($field),*))? $({ $($member),* })? => $effect,
                )* }
            }

            /// The functions that may contain it.
            #[allow(unused_variables, reason = "a row's place seldom depends on a field")]
            pub fn stands(&self) -> Stands {
                use Stands::*;
                match self { $(
                    InstKind::$name $(($($field),*))? $({ $($member),* })? => $stands,
                )* }
            }

            /// Its text, without results and place.
            pub(crate) fn write(&self, out: &mut String, function: &Function) {
                match self { $(
                    InstKind::$name $(($($field),*))? $({ $($member),* })? => {
                        write_row!(out function ($($($field),*)? $($($member),*)?) [$($text)*])
                    }
                )* }
            }

            /// The inverse of [`write`](InstKind::write).
            pub(crate) fn read(function: &Function, cursor: &mut Cursor<'_>) -> Result<InstKind> {
                let word = cursor.word()?;
                let (name, suffix) = word.split_once('.').unwrap_or((word, ""));
                $(read_row!(
                    function cursor name suffix
                    ($($($field: $ty),*)? $($($member: $member_ty),*)?)
                    (InstKind::$name $(($($field),*))? $({ $($member),* })?)
                    [$($text)*]
                );)*
                cursor.fail_word("an instruction")
            }
        }
    };
}

/// Writes an instruction's text.
macro_rules! write_row {
    ($out:ident $function:ident ($($field:ident),*) [by hand $hand:ident: $($name:literal),*]) => {
        by_hand::$hand::write($out, $($field),*)
    };
    ($out:ident $function:ident ($($field:ident),*)
        [$head:tt $(.$suffix:ident)* $(($($arg:ident $(: $takes:expr)?),*))? $(of $access:ident)?]) => {{
        put!($out, "{}", $head);
        $(
            $out.push('.');
            put!($out, "{}", $suffix);
        )*
        $(
            let mut first = true;
            $($arg.write($out, take(&mut first), takes!($function $(, $takes)?));)*
        )?
        $(write_object($out, $access);)?
    }};
}

/// Reads an instruction, if its word is the row's.
macro_rules! read_row {
    ($function:ident $cursor:ident $name:ident $suffix:ident $fields:tt $made:tt [by hand $hand:ident: $($word:literal),*]) => {
        if matches!($name, $($word)|*) {
            return by_hand::$hand::read($cursor, $name, $suffix);
        }
    };
    ($function:ident $cursor:ident $name:ident $suffix:ident ($($field:ident: $ty:ty),*) $made:tt [$head:literal $($rest:tt)*]) => {
        if $name == $head {
            $(let $field: $ty;)*
            read_row!(@rest $function $cursor $suffix $made $($rest)*);
        }
    };
    ($function:ident $cursor:ident $name:ident $suffix:ident ($($field:ident: $ty:ty),*) $made:tt [$head:ident $($rest:tt)*]) => {
        if let Some(word) = Word::from_word($name) {
            $(let $field: $ty;)*
            $head = word;
            read_row!(@rest $function $cursor $suffix $made $($rest)*);
        }
    };
    (@rest $function:ident $cursor:ident $suffix:ident ($($made:tt)*)
        $(.$part:ident)* $(($($arg:ident $(: $takes:expr)?),*))? $(of $access:ident)?) => {
        const PARTS: usize = <[&str]>::len(&[$(stringify!($part)),*]);
        let mut _parts = suffixes::<PARTS>($cursor, $suffix)?;
        $($part = _parts.word($cursor)?;)*
        $(
            let mut first = true;
            $($arg = Arg::read($cursor, take(&mut first), takes!($function $(, $takes)?))?;)*
        )?
        $(let $access = read_object($cursor, $access)?;)?
        return Ok($($made)*);
    };
}

/// The type of an operand, if the row has one.
macro_rules! takes {
    ($function:ident) => {
        ()
    };
    ($function:ident, $takes:expr) => {
        $takes.takes($function)
    };
}

pub(super) use {instructions, read_row, takes, write_row};
