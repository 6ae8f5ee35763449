//! `cargo xtask bench --against REV`: the measurements of another commit, built.
//!
//! The commit's files are a worktree of git in `target/against/tree`. What was built is kept for the next commit.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::result::Result;

/// Where all of it is kept.
const FOLDER: &str = "target/against";

/// A commit of this repository.
#[derive(Debug)]
pub(super) struct Commit {
    hash: String,
    /// As much of the hash as names it.
    pub(super) short: String,
}

/// The program of a commit. No other run replaces it while this lives.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) program: PathBuf,
    _alone: File,
}

impl Commit {
    /// The commit that `name` means: whatever git understands.
    pub(super) fn named(name: &str) -> Result<Self> {
        let hash = git(Path::new("."), &["rev-parse", "--verify", &format!("{name}^{{commit}}")]);
        let hash = hash.map_err(|error| {
            let git = error.to_string().lines().last().unwrap_or_default().to_owned();
            format!(
                "`--against {name}` names no commit of this repository ({git}); `git log --oneline` lists some, \
                 and of a shallow clone `git fetch --unshallow` gets the others"
            )
        })?;
        let short = git(Path::new("."), &["rev-parse", "--short", &hash])?;
        Ok(Self { hash, short })
    }

    /// Builds the measurements of this commit.
    pub(super) fn built(&self) -> Result<Base> {
        let folder = std::path::absolute(FOLDER)?;
        fs::create_dir_all(&folder)?;
        let alone = File::create(folder.join("lock"))?;
        // Of two runs the second one waits.
        alone.lock()?;
        let tree = self.checked_out(Path::new("."), &folder)?;
        eprintln!("bench: {} is built, which takes minutes at first", self.short);
        let target = folder.join("build");
        let build = Tool::cargo().within(&tree).arguments(["build"]).arguments(super::PACKAGE);
        if !build.arguments([Path::new("--target-dir"), &target]).shown()? {
            let short = &self.short;
            return Err(
                format!("{short} does not build: name a commit in which hanok-bench does").into()
            );
        }
        let program = format!("hanok-bench{}", std::env::consts::EXE_SUFFIX);
        Ok(Base { program: target.join("release").join(program), _alone: alone })
    }

    /// The files of this commit of `repository`, below `folder`. Files of a commit before that are the same are not touched, so that
    /// they need not be built again.
    fn checked_out(&self, repository: &Path, folder: &Path) -> Result<PathBuf> {
        let tree = folder.join("tree");
        let checkout = ["checkout", "--quiet", "--force", "--detach", &self.hash];
        if !tree.join(".git").exists() || git(&tree, &checkout).is_err() {
            // Nothing is there, or what is there is no worktree any more.
            if tree.exists() {
                fs::remove_dir_all(&tree)?;
            }
            git(repository, &["worktree", "prune"])?;
            let tree = tree.to_string_lossy();
            git(
                repository,
                &["worktree", "add", "--quiet", "--force", "--detach", &tree, &self.hash],
            )?;
        }
        git(&tree, &["clean", "-ffdxq"])?;
        Ok(tree)
    }
}

/// The output of git in `folder`, without the end of its line.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    Ok(Tool::named("git").within(folder).arguments(arguments).text()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_no_commit_is_an_error_that_says_so() {
        for name in ["no-such-branch", "HEAD:xtask", ""] {
            let error = Commit::named(name).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`--against {name}` names no commit")), "{error}");
        }
    }

    #[test]
    fn the_files_are_those_of_the_commit_whatever_a_run_before_has_left() {
        let folder = std::env::temp_dir().join(format!("xtask-against-{}", std::process::id()));
        let source = folder.join("repository");
        fs::create_dir_all(&source).unwrap();
        let git = |arguments: &[&str]| {
            let author = ["-c", "user.name=Kim", "-c", "user.email=kim@localhost"];
            git(&source, &[&author, arguments].concat()).unwrap()
        };
        git(&["init", "--quiet"]);
        let [one, two] = ["one", "two"].map(|name| {
            fs::write(source.join("same"), "same").unwrap();
            fs::write(source.join(name), name).unwrap();
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--no-gpg-sign", "--message", name]);
            fs::remove_file(source.join(name)).unwrap();
            let hash = git(&["rev-parse", "HEAD"]);
            Commit { short: hash.clone(), hash }
        });
        let tree = folder.join("tree");
        let write = |path: &str, text: &str| fs::write(tree.join(path), text).unwrap();
        let check = |commit: &Commit, want: &str| {
            commit.checked_out(&source, &folder).unwrap();
            assert_eq!(fs::read_dir(&tree).unwrap().count(), 3);
            assert!(tree.join(".git").exists());
            assert_eq!(fs::read_to_string(tree.join(want)).unwrap(), want);
            fs::metadata(tree.join("same")).unwrap().modified().unwrap()
        };
        let written = check(&one, "one");
        write("three", "of nobody");
        write("two", "half of it");
        assert_eq!(check(&two, "two"), written);
        fs::remove_file(tree.join(".git")).unwrap();
        check(&one, "one");
        fs::remove_dir_all(folder).unwrap();
    }
}
