//! Places of launches: the host knows line and file, and a report needs a place that the kernel's module has.

use std::{
    collections::HashMap,
    ffi::{CStr, CString, c_char},
};

use ir::{LocId, Module};

use crate::{memory::Site, state::State};

/// Line and file of a launch. The file is a literal in the program, or null.
pub(crate) type Place = (u32, *const c_char);

/// The places of launches, looked up once for each statement. The literal's text is kept, too, because another library may be loaded at its
/// address.
#[derive(Debug, Default)]
pub(crate) struct Places(HashMap<(usize, u32, usize), (CString, LocId)>);

/// The text of a file name: dslc's headers pass the literal `__FILE__`, which exists while its launch is made.
fn text_of(file: *const c_char) -> &'static CStr {
    match file.is_null() {
        true => c"",
        // SAFETY: a literal in the program.
        false => unsafe { CStr::from_ptr(file) },
    }
}

/// The place of a launch among those in the module.
fn place(module: &Module, line: u32, file: &str) -> LocId {
    let is_there = |name: &String| name == file || file.ends_with(&format!("/{name}"));
    let found = module.locs.iter().position(|loc| {
        loc.line == line && module.files.get(loc.file as usize).is_some_and(is_there)
    });
    found.map_or(LocId::default(), |index| LocId(index as u32))
}

impl State {
    /// The place of a call among those of the whole story; unknown if no module has that line.
    pub(crate) fn place_of_call(&mut self, site: Site) -> LocId {
        let place = (u32::try_from(site.line).unwrap_or(0), site.file);
        let before = self.current();
        let mut found = LocId::default();
        for module in 0..self.modules.len() {
            // A module that cannot be loaded is reported when it is launched.
            if !self.may_enter(module) {
                continue;
            }
            self.enter(module);
            found = self.place(module, place);
            if found != LocId::default() {
                self.loaded(module).shift.loc(&mut found);
                break;
            }
        }
        if let Some(before) = before {
            self.enter(before);
        }
        found
    }

    /// The place of a launch; looked up once.
    pub(crate) fn place(&mut self, module: usize, (line, file): Place) -> LocId {
        let State {
            places, modules, ..
        } = self;
        let Some(loaded) = modules[module].loaded_mut() else {
            return LocId::default();
        };
        let (key, text) = ((module, line, file as usize), text_of(file));
        match places.0.get(&key) {
            Some((known, loc)) if known.as_c_str() == text => *loc,
            _ => {
                let loc = place(loaded.program.module(), line, &text.to_string_lossy());
                places.0.insert(key, (text.to_owned(), loc));
                loc
            }
        }
    }
}
