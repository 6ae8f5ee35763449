//! What an error of files may tell of those that a model may not read.

use hanok_model::ToolError;

use super::{
    FileError, FilePath,
    rules::{FileAccess, FileRule, FileRules},
};

/// `error`, about `path`, without the names of files that a rule denies to be read.
pub(super) fn without_denied(rules: &FileRules, path: &FilePath, error: ToolError) -> ToolError {
    let ToolError::Arguments(cause) = error else { return error };
    let seen = |names: Vec<String>| -> Vec<String> {
        names.into_iter().filter(|name| is_seen(rules, path, name)).collect()
    };
    match cause.downcast::<FileError>().map(|error| *error) {
        Ok(FileError::NotFound { path, near }) => {
            ToolError::from(FileError::NotFound { path, near: seen(near) })
        }
        Ok(FileError::IsFolder { path, holds }) => {
            ToolError::from(FileError::IsFolder { path, holds: seen(holds) })
        }
        Ok(other) => ToolError::arguments(other),
        Err(cause) => ToolError::Arguments(cause),
    }
}

/// True when `name` may be read wherever it stands: in `path`, in a folder on the way to it, or as a path itself.
fn is_seen(rules: &FileRules, path: &FilePath, name: &str) -> bool {
    let folders = path.as_str().match_indices('/').filter_map(|(at, _)| path.as_str().get(..at));
    let paths = folders.chain([path.as_str()]).map(|folder| format!("{folder}/{name}"));
    paths.chain([name.to_owned()]).all(|path| {
        FilePath::new(&path)
            .is_ok_and(|path| rules.decide(FileAccess::Read, &path) != FileRule::Deny)
    })
}
