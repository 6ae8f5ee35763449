//! Which files a model may read and write.

use super::{FileError, FilePath, pattern::Pattern};

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// It is read.
    Read,
    /// It is written. An edit reads it too.
    Write,
}

/// Whether it may be done. The stricter is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileRule {
    /// It is done.
    Allow,
    /// A person is asked each time.
    Ask,
    /// It is refused.
    Deny,
}

/// The rules by which a model reads and writes files, each of a pattern of paths: the first that matches counts. Where none
/// does, files are read, and a person is asked before one is written.
///
/// In a pattern `*` is any text within a name, `?` one character, and a name `**` any number of names: `notes/**` is all that
/// is in `notes`, `**/*.key` each `.key` anywhere. What is denied or asked about is so in capital and in small letters, for a
/// file system may not tell them apart.
///
/// ```
/// use hanok_sandbox::{FileAccess, FilePath, FileRule, FileRules};
///
/// let rules = FileRules::new()
///     .deny("**/*.key")?
///     .allow("drafts/**")?
///     .rule(FileAccess::Write, "contracts/**", FileRule::Deny)?;
/// let path = |path| FilePath::new(path);
/// assert_eq!(rules.decide(FileAccess::Write, &path("drafts/a.md")?), FileRule::Allow);
/// assert_eq!(rules.decide(FileAccess::Read, &path("drafts/A.KEY")?), FileRule::Deny);
/// assert_eq!(rules.decide(FileAccess::Read, &path("contracts/1.md")?), FileRule::Allow);
/// assert_eq!(rules.decide(FileAccess::Write, &path("todo.md")?), FileRule::Ask);
/// # Ok::<(), hanok_sandbox::FileError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct FileRules(Vec<PathRule>);

#[derive(Debug, Clone)]
struct PathRule {
    /// `None` for both.
    access: Option<FileAccess>,
    pattern: Pattern,
    rule: FileRule,
}

impl FileRules {
    /// No rules: files are read, and a person is asked before one is written.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the files of `pattern` be read and written.
    ///
    /// # Errors
    ///
    /// [`FileError::Pattern`] for a pattern that no path matches.
    pub fn allow(self, pattern: &str) -> Result<Self, FileError> {
        self.with(None, pattern, FileRule::Allow)
    }

    /// Refuses to read and to write the files of `pattern`, and leaves them out of lists.
    ///
    /// # Errors
    ///
    /// As [`allow`](FileRules::allow).
    pub fn deny(self, pattern: &str) -> Result<Self, FileError> {
        self.with(None, pattern, FileRule::Deny)
    }

    /// Asks a person before a file of `pattern` is read or written.
    ///
    /// # Errors
    ///
    /// As [`allow`](FileRules::allow).
    pub fn ask(self, pattern: &str) -> Result<Self, FileError> {
        self.with(None, pattern, FileRule::Ask)
    }

    /// The rule of one access to the files of `pattern`.
    ///
    /// # Errors
    ///
    /// As [`allow`](FileRules::allow).
    pub fn rule(
        self,
        access: FileAccess,
        pattern: &str,
        rule: FileRule,
    ) -> Result<Self, FileError> {
        self.with(Some(access), pattern, rule)
    }

    fn with(
        mut self,
        access: Option<FileAccess>,
        pattern: &str,
        rule: FileRule,
    ) -> Result<Self, FileError> {
        let pattern = match rule {
            FileRule::Allow => Pattern::new(pattern)?,
            FileRule::Deny | FileRule::Ask => Pattern::new(pattern)?.lower_case(),
        };
        self.0.push(PathRule { access, pattern, rule });
        Ok(self)
    }

    /// The rule of an access to `path`.
    pub fn decide(&self, access: FileAccess, path: &FilePath) -> FileRule {
        let small = path.as_str().to_lowercase();
        let fits = |rule: &&PathRule| {
            let path = match rule.rule {
                FileRule::Allow => path.as_str(),
                FileRule::Deny | FileRule::Ask => &small,
            };
            rule.access.is_none_or(|of| of == access) && rule.pattern.matches(path)
        };
        match (self.0.iter().find(fits), access) {
            (Some(rule), _) => rule.rule,
            (None, FileAccess::Read) => FileRule::Allow,
            (None, FileAccess::Write) => FileRule::Ask,
        }
    }
}
