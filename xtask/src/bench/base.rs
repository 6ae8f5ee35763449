//! `cargo xtask bench --against REV`: the measurements of another commit, built.
//!
//! The commit's files stand in `target/against/tree`, under an index of their own: nothing of the repository changes but what git
//! itself keeps there, so nothing has to be cleaned up, however a run ended. What was built is kept for the next commit.

use std::fmt;
use std::fs::{self, File, TryLockError};
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

/// Why there is nothing to compare with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoBase {
    /// There is no such commit; with what git said.
    NoCommit { name: String, git: String },
    /// Another run is at it.
    Busy,
    /// The compiler has said why not.
    NotBuilt { name: String, short: String },
}

impl Commit {
    /// The commit that `name` means: whatever git understands.
    ///
    /// # Errors
    ///
    /// There is none, or no git.
    pub(super) fn named(name: &str) -> Result<Self> {
        let wanted = format!("{name}^{{commit}}");
        let hash = git(["rev-parse", "--verify", &wanted]).map_err(|error| {
            let git = error.to_string().lines().last().unwrap_or_default().to_owned();
            NoBase::NoCommit { name: name.to_owned(), git }
        })?;
        let short = git(["rev-parse", "--short", &hash])?;
        Ok(Self { name: name.to_owned(), hash, short })
    }

    /// Builds the measurements of this commit.
    ///
    /// # Errors
    ///
    /// Another run is at it, the files cannot be written, or the commit does not build.
    pub(super) fn built(&self) -> Result<Base> {
        let folder = std::path::absolute(FOLDER)?;
        fs::create_dir_all(&folder)?;
        let alone = locked(&folder)?;
        let repository = git(["rev-parse", "--absolute-git-dir"])?;
        let tree = self.checked_out(Path::new(&repository), &folder)?;

        eprintln!("bench: {} is built, which takes minutes at first", self.short);
        let target = folder.join("build");
        let build = Tool::cargo().within(&tree).arguments(["build"]).arguments(super::PACKAGE);
        if !build.arguments([Path::new("--target-dir"), &target]).shown()? {
            let (name, short) = (self.name.clone(), self.short.clone());
            return Err(NoBase::NotBuilt { name, short }.into());
        }
        let program = format!("hanok-bench{}", std::env::consts::EXE_SUFFIX);
        Ok(Base { program: target.join("release").join(program), _alone: alone })
    }

    /// The files of this commit, below `folder`. Those that another commit left there and that are the same are not touched, so that
    /// they need not be built again.
    fn checked_out(&self, repository: &Path, folder: &Path) -> Result<PathBuf> {
        let (tree, index) = (folder.join("tree"), folder.join("index"));
        // Of a run that was ended by force; no other one is at it.
        removed(fs::remove_file(folder.join("index.lock")))?;
        if self.read_into(repository, &tree, &index).is_err() {
            // Something else has been at these files.
            removed(fs::remove_dir_all(&tree))?;
            removed(fs::remove_file(&index))?;
            self.read_into(repository, &tree, &index)?;
        }
        Ok(tree)
    }

    /// Makes `tree` what this commit is, with nothing besides.
    fn read_into(&self, repository: &Path, tree: &Path, index: &Path) -> Result<()> {
        fs::create_dir_all(tree)?;
        let git = || {
            let git = Tool::named("git").within(tree).variable("GIT_INDEX_FILE", index);
            let places = [Path::new("--git-dir"), repository, Path::new("--work-tree"), tree];
            git.arguments(places)
        };
        let read = ["read-tree", "--reset", "-u", "--no-sparse-checkout", &self.hash];
        git().arguments(read).text()?;
        git().arguments(["clean", "-ffdxq"]).text()?;
        Ok(())
    }
}

/// What git says, without the end of its line.
fn git<const N: usize>(arguments: [&str; N]) -> Result<String> {
    Ok(Tool::named("git").arguments(arguments).text()?.trim().to_owned())
}

/// What says that this run alone uses `folder`, as long as it lives: the system takes it back from a process that is ended.
fn locked(folder: &Path) -> Result<File> {
    let lock = File::create(folder.join("lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(NoBase::Busy.into()),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// No error where there was nothing to remove.
fn removed(result: std::io::Result<()>) -> std::io::Result<()> {
    result.or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

impl std::error::Error for NoBase {}

impl fmt::Display for NoBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommit { name, git } => write!(
                f,
                "`--against {name}` names no commit of this repository ({git}); `git log --oneline` lists some, \
                 and of a shallow clone `git fetch --unshallow` gets the others"
            ),
            Self::Busy => write!(
                f,
                "another `cargo xtask bench --against` uses {FOLDER}; wait for its end, or end it"
            ),
            Self::NotBuilt { name, short } => write!(
                f,
                "`--against {name}` ({short}) does not build: what the compiler said stands above; \
                 its files stand in {FOLDER}/tree; name a commit in which the package hanok-bench builds"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder for one test.
    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("xtask-against-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_names_no_commit_is_an_error_that_says_so() {
        for name in ["no-such-branch", "HEAD:xtask", ""] {
            let error = Commit::named(name).unwrap_err();
            let no_commit = error.downcast_ref::<NoBase>();
            let named =
                matches!(no_commit, Some(NoBase::NoCommit { name: said, .. }) if said == name);
            assert!(named, "{name:?}: {error}");
        }
    }

    /// A repository with two commits, and what they are called.
    fn repository(folder: &Path) -> [Commit; 2] {
        let git = |arguments: &[&str]| {
            let author = ["-c", "user.name=Kim", "-c", "user.email=kim@localhost"];
            let git = Tool::named("git").within(folder).arguments(author);
            git.arguments(arguments).text().unwrap().trim().to_owned()
        };
        git(&["init", "--quiet"]);
        ["one", "two"].map(|text| {
            fs::create_dir_all(folder.join("source")).unwrap();
            fs::write(folder.join("same"), "same").unwrap();
            fs::write(folder.join("source").join(text), text).unwrap();
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--no-gpg-sign", "--message", text]);
            fs::remove_file(folder.join("source").join(text)).unwrap();
            let hash = git(&["rev-parse", "HEAD"]);
            Commit { name: text.to_owned(), short: hash.clone(), hash }
        })
    }

    /// The files below `folder`, with their folder.
    fn files(folder: &Path) -> Vec<String> {
        let listed =
            Tool::named("find").within(folder).arguments([".", "-type", "f"]).text().unwrap();
        let mut files: Vec<_> = listed.lines().map(str::to_owned).collect();
        files.sort();
        files
    }

    #[test]
    fn the_files_are_those_of_the_commit_whatever_a_run_before_has_left() {
        let folder = folder("files");
        let source = folder.join("repository");
        fs::create_dir_all(&source).unwrap();
        let [one, two] = repository(&source);
        let git = source.join(".git");
        let left = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();

        let tree = one.checked_out(&git, &folder).unwrap();
        assert_eq!(files(&tree), ["./same", "./source/one"]);
        let written = fs::metadata(tree.join("same")).unwrap().modified().unwrap();

        left("index.lock", "");
        left("tree/source/three", "of nobody");
        left("tree/source/two", "half of it");
        two.checked_out(&git, &folder).unwrap();
        assert_eq!(files(&tree), ["./same", "./source/two"]);
        assert_eq!(fs::read_to_string(tree.join("source/two")).unwrap(), "two");
        assert_eq!(fs::metadata(tree.join("same")).unwrap().modified().unwrap(), written);

        left("index", "no index");
        one.checked_out(&git, &folder).unwrap();
        assert_eq!(files(&tree), ["./same", "./source/one"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_is_for_one_run_at_a_time() {
        let folder = folder("lock");
        let first = locked(&folder).unwrap();
        let busy = locked(&folder).unwrap_err();
        assert_eq!(busy.downcast_ref(), Some(&NoBase::Busy));
        drop(first);
        locked(&folder).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn errors_name_what_is_wrong_and_what_to_do() {
        let name = || "HEAD~30".to_owned();
        for (error, want) in [
            (
                NoBase::NoCommit {
                    name: name(),
                    git: "fatal: Needed a single revision".to_owned(),
                },
                "`--against HEAD~30` names no commit of this repository (fatal: Needed a single revision); \
                 `git log --oneline` lists some, and of a shallow clone `git fetch --unshallow` gets the others",
            ),
            (
                NoBase::Busy,
                "another `cargo xtask bench --against` uses target/against; wait for its end, or end it",
            ),
            (
                NoBase::NotBuilt { name: name(), short: "1a2b3c4".to_owned() },
                "`--against HEAD~30` (1a2b3c4) does not build: what the compiler said stands above; its files stand \
                 in target/against/tree; name a commit in which the package hanok-bench builds",
            ),
        ] {
            assert_eq!(error.to_string(), want);
        }
    }
}
