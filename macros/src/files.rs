//! Files that kernels include.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ir::source::{Included, Loader};

/// Finds files next to the including one, then in folders of the package.
pub(crate) struct Files {
    /// The real folder of the Rust file, which may differ from its name in messages.
    pub(crate) folder: PathBuf,
    /// The name of the first source, which is in that folder.
    pub(crate) source: String,
    pub(crate) include: Vec<PathBuf>,
}

impl Loader for Files {
    fn load(&self, name: &str, from: &str) -> Option<Result<Included, String>> {
        let beside = if from == self.source {
            self.folder.clone()
        } else {
            Path::new(from)
                .parent()
                .unwrap_or(Path::new(""))
                .to_path_buf()
        };
        let mut folders = std::iter::once(&beside).chain(&self.include);
        let path = folders.find_map(|folder| {
            let path = folder.join(name);
            path.is_file().then_some(path)
        })?;
        Some(read(&path).map(|text| Included {
            full_name: path.display().to_string(),
            text,
        }))
    }
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_string(),
        _ => error.to_string(),
    })
}
