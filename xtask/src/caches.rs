//! Where this user's caches are.

use std::path::PathBuf;

/// The folder for caches, if there is one.
pub(crate) fn folder() -> Option<PathBuf> {
    of(|name| std::env::var_os(name).map(PathBuf::from))
}

fn of(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let named = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    named.or_else(|| Some(variable("HOME")?.join(".cache")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_for_caches_is_the_one_that_is_named_or_the_homes() {
        let home = |name: &str| (name == "HOME").then(|| PathBuf::from("/home/kim"));
        let both = |name: &str| match name {
            "HOME" => Some("/home/kim".into()),
            _ => Some("/caches".into()),
        };
        let relative = |name: &str| match name {
            "HOME" => Some("/home/kim".into()),
            _ => Some("caches".into()),
        };
        assert_eq!(of(home), Some("/home/kim/.cache".into()));
        assert_eq!(of(both), Some("/caches".into()));
        assert_eq!(of(relative), Some("/home/kim/.cache".into()));
        assert_eq!(of(|_| None), None);
    }
}
