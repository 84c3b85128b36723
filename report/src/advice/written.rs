//! What an access looks like in the source: the IR has addresses only.

/// An access as written.
pub(super) struct Written {
    /// It accesses a member of an element: `p[i].x`, `a[i].b[2]`, `p->x`, but not `s.a[i]`.
    pub(super) is_member: bool,
}

impl Written {
    /// Reads the access's text.
    pub(super) fn of(text: &str) -> Written {
        let behind_subscript = text.find(']').map_or("", |end| &text[end..]);
        Written {
            is_member: behind_subscript.contains('.') || text.contains("->"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_elements_are_told_from_arrays_in_structs() {
        for text in ["p[i].x", "a[i].b[2]", "p->x", "p[i]->x"] {
            assert!(Written::of(text).is_member, "{text}");
        }
        for text in ["s.a[i]", "a[i]", "*p", "x"] {
            assert!(!Written::of(text).is_member, "{text}");
        }
    }
}
