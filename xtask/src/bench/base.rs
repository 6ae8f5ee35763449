//! `cargo xtask bench --against REV`: the measurements of another commit, built.
//!
//! The commit's files are in `target/against/tree`, under an index of their own: nothing of the repository changes but what git itself
//! keeps there, so nothing has to be cleaned up. What was built is kept for the next commit.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::result::Result;

/// Where all of it is kept.
const FOLDER: &str = "target/against";

/// A commit of this repository.
#[derive(Debug)]
pub(super) struct Commit {
    /// As it was asked for.
    name: String,
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
    ///
    /// # Errors
    ///
    /// There is none, or no git.
    pub(super) fn named(name: &str) -> Result<Self> {
        let hash = git(&["rev-parse", "--verify", &format!("{name}^{{commit}}")]);
        let hash = hash.map_err(|error| {
            let git = error.to_string().lines().last().unwrap_or_default().to_owned();
            format!(
                "`--against {name}` names no commit of this repository ({git}); `git log --oneline` lists some, \
                 and of a shallow clone `git fetch --unshallow` gets the others"
            )
        })?;
        let short = git(&["rev-parse", "--short", &hash])?;
        Ok(Self { name: name.to_owned(), hash, short })
    }

    /// Builds the measurements of this commit.
    ///
    /// # Errors
    ///
    /// Another run uses the folder, the files cannot be written, or the commit does not build.
    pub(super) fn built(&self) -> Result<Base> {
        let folder = std::path::absolute(FOLDER)?;
        fs::create_dir_all(&folder)?;
        let alone = locked(&folder)?;
        let repository = git(&["rev-parse", "--absolute-git-dir"])?;
        let tree = self.checked_out(Path::new(&repository), &folder)?;
        eprintln!("bench: {} is built, which takes minutes at first", self.short);
        let target = folder.join("build");
        let build = Tool::cargo().within(&tree).arguments(["build"]).arguments(super::PACKAGE);
        if !build.arguments([Path::new("--target-dir"), &target]).shown()? {
            let Self { name, short, .. } = self;
            let why = format!(
                "`--against {name}` ({short}) does not build, see above; its files are in {FOLDER}/tree; \
                 name a commit in which the package hanok-bench builds"
            );
            return Err(why.into());
        }
        let program = format!("hanok-bench{}", std::env::consts::EXE_SUFFIX);
        Ok(Base { program: target.join("release").join(program), _alone: alone })
    }

    /// The files of this commit, below `folder`. Files of a commit before that are the same are not touched, so that they need not be
    /// built again.
    fn checked_out(&self, repository: &Path, folder: &Path) -> Result<PathBuf> {
        let (tree, index) = (folder.join("tree"), folder.join("index"));
        // Of a run that was ended by force; no other one uses the folder.
        removed(fs::remove_file(folder.join("index.lock")))?;
        if self.read_into(repository, &tree, &index).is_err() {
            // Something else has changed these files.
            removed(fs::remove_dir_all(&tree))?;
            removed(fs::remove_file(&index))?;
            self.read_into(repository, &tree, &index)?;
        }
        Ok(tree)
    }

    /// Makes `tree` what this commit is, with nothing besides.
    fn read_into(&self, repository: &Path, tree: &Path, index: &Path) -> Result<()> {
        fs::create_dir_all(tree)?;
        let git = |arguments: &[&str]| {
            let places = [Path::new("--git-dir"), repository, Path::new("--work-tree"), tree];
            let git = Tool::named("git").within(tree).variable("GIT_INDEX_FILE", index);
            git.arguments(places).arguments(arguments).text()
        };
        git(&["read-tree", "--reset", "-u", "--no-sparse-checkout", &self.hash])?;
        git(&["clean", "-ffdxq"])?;
        Ok(())
    }
}

/// The output of git, without the end of its line.
fn git(arguments: &[&str]) -> Result<String> {
    Ok(Tool::named("git").arguments(arguments).text()?.trim().to_owned())
}

/// A lock on `folder` as long as it lives: the system takes it back from a process that has ended.
fn locked(folder: &Path) -> Result<File> {
    let lock = File::create(folder.join("lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(format!("another `cargo xtask bench --against` uses {FOLDER}; wait for its end")
                .into())
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// No error where there was nothing to remove.
fn removed(result: std::io::Result<()>) -> std::io::Result<()> {
    result.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
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
        fs::create_dir_all(source.join("source")).unwrap();
        let git = |arguments: &[&str]| {
            let author = ["-c", "user.name=Kim", "-c", "user.email=kim@localhost"];
            let git = Tool::named("git").within(&source).arguments(author);
            git.arguments(arguments).text().unwrap().trim().to_owned()
        };
        git(&["init", "--quiet"]);
        let [one, two] = ["one", "two"].map(|name| {
            fs::write(source.join("same"), "same").unwrap();
            fs::write(source.join("source").join(name), name).unwrap();
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--no-gpg-sign", "--message", name]);
            fs::remove_file(source.join("source").join(name)).unwrap();
            let hash = git(&["rev-parse", "HEAD"]);
            Commit { name: name.to_owned(), short: hash.clone(), hash }
        });
        let repository = source.join(".git");
        let write = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();
        let files = |tree: &Path| {
            let mut files = crate::files::files(tree).unwrap();
            files
                .iter_mut()
                .for_each(|file| *file = file.strip_prefix(tree).unwrap().to_path_buf());
            files.iter().map(|file| file.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };

        let tree = one.checked_out(&repository, &folder).unwrap();
        assert_eq!(files(&tree), ["same", "source/one"]);
        let written = fs::metadata(tree.join("same")).unwrap().modified().unwrap();

        write("index.lock", "");
        write("tree/source/three", "of nobody");
        write("tree/source/two", "half of it");
        two.checked_out(&repository, &folder).unwrap();
        assert_eq!(files(&tree), ["same", "source/two"]);
        assert_eq!(fs::read_to_string(tree.join("source/two")).unwrap(), "two");
        assert_eq!(fs::metadata(tree.join("same")).unwrap().modified().unwrap(), written);

        write("index", "no index");
        one.checked_out(&repository, &folder).unwrap();
        assert_eq!(files(&tree), ["same", "source/one"]);

        let first = locked(&folder).unwrap();
        assert!(locked(&folder).unwrap_err().to_string().contains("wait for its end"));
        drop(first);
        locked(&folder).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
