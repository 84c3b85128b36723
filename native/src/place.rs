//! Where launches stand: the host knows line and file, a report wants a place that the kernel's module knows.

use std::{
    collections::HashMap,
    ffi::{CStr, CString, c_char},
};

use ir::{LocId, Module};

use crate::{memory::Site, state::State};

/// Line and file of a launch. The file is a literal of the program's, or null.
pub(crate) type Place = (u32, *const c_char);

/// Where launches stand: found once for each statement. The literal's text is kept, too, since another library may be loaded at its address.
#[derive(Debug, Default)]
pub(crate) struct Places(HashMap<(usize, u32, usize), (CString, LocId)>);

/// What stands there: headers of ours hand over the literal `__FILE__`, which is there while its launch is made.
fn text_of(file: *const c_char) -> &'static CStr {
    match file.is_null() {
        true => c"",
        // SAFETY: a literal of the program's.
        false => unsafe { CStr::from_ptr(file) },
    }
}

/// The place of a launch among those that the module knows.
fn place(module: &Module, line: u32, file: &str) -> LocId {
    let is_there = |name: &String| name == file || file.ends_with(&format!("/{name}"));
    let found = module.locs.iter().position(|loc| {
        loc.line == line && module.files.get(loc.file as usize).is_some_and(is_there)
    });
    found.map_or(LocId::default(), |index| LocId(index as u32))
}

impl State {
    /// The place of a call, among those of the whole story; unknown where no module has that line.
    pub(crate) fn place_of_call(&mut self, site: Site) -> LocId {
        let place = (u32::try_from(site.line).unwrap_or(0), site.file);
        let before = self.current();
        let mut found = LocId::default();
        for module in 0..self.modules.len() {
            // What cannot be loaded says so when it is launched.
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

    /// The place of a launch; looked for once.
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
