//! Files as tools.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect, Need, Printable};
use hanok_model::{InvalidSpec, SharedTool, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    FilePath, TextEdit,
    folder::shown,
    hidden::without_denied,
    limits::FILES,
    page::page,
    question::FileRequest,
    rules::{FileAccess, FileRule, FileRules},
    source::{FileWrite, Files, SharedFiles},
};

/// The most bytes of a file that are shown by default.
const OUTPUT: usize = 32 * 1024;

/// The tools `ls`, `read`, `write` and `edit` of any [`Files`], by [`FileRules`].
///
/// What a rule asks about is a question to a person ([`FileRequest`], answered by a [`FileDecision`](super::FileDecision)): the
/// run stops for the answer before anything is done, and goes on with it. Without a checkpointer nobody can be asked, and such
/// a call is refused. What a rule denies is refused, and neither a list nor an error names it.
///
/// `ls` and `read` change nothing; `write` is what [`Files::effect`] says; `edit` is [`Effect::AtMostOnce`], for the replaced
/// text may hold the old one, but [`Effect::Pure`] where the files are in the state.
///
/// ```
/// use hanok_model::Tool;
/// use hanok_sandbox::{FileRules, FileTools, FolderFiles};
///
/// let files = FolderFiles::open(std::env::temp_dir())?;
/// let rules = FileRules::new().deny("**/*.key")?.allow("drafts/**")?;
/// let tools = FileTools::new(files).rules(rules);
/// assert_eq!(tools.edit()?.spec().name(), "edit");
/// // To an agent, all of them: `.tools(tools.all()?)`.
/// assert_eq!(tools.all()?.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct FileTools {
    files: SharedFiles,
    rules: Arc<FileRules>,
    output: usize,
}

/// One tool of [`FileTools`].
#[derive(Debug, Clone)]
pub struct FileTool {
    spec: ToolSpec,
    action: Action,
    tools: FileTools,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    List,
    Read,
    Write,
    Edit,
}

/// What `ls` takes. The comments are for models, as are those below.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    /// The folder to list, e.g. `notes`; by default everything.
    #[serde(default)]
    folder: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    /// The path of the file, e.g. `notes/today.md`.
    path: String,
    /// The first line to read, from 1.
    #[serde(default)]
    from_line: Option<usize>,
    /// How many lines to read; by default as many as fit.
    #[serde(default)]
    lines: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    /// The path of the file, e.g. `notes/today.md`.
    path: String,
    /// The whole text of the file.
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditArguments {
    /// The path of the file, e.g. `notes/today.md`.
    path: String,
    /// The text to replace, exactly as it stands in the file, with enough around it that it stands there once.
    old: String,
    /// The text to put in its place.
    new: String,
}

impl FileTools {
    /// The tools of `files`. Files are read, and a person is asked before one is written.
    pub fn new(files: impl Files) -> Self {
        Self { files: SharedFiles::new(files), rules: Arc::default(), output: OUTPUT }
    }

    /// Sets the rules. Default: files are read, and a person is asked before one is written.
    pub fn rules(self, rules: FileRules) -> Self {
        Self { rules: Arc::new(rules), ..self }
    }

    /// The most bytes of a file that are shown at once. Default: 32 KiB.
    pub fn max_output(self, bytes: usize) -> Self {
        Self { output: bytes, ..self }
    }

    /// The tool `ls`: the paths and sizes of the files.
    ///
    /// # Errors
    ///
    /// None that a caller could cause, as of those below: names and arguments are fixed.
    pub fn ls(&self) -> Result<FileTool, InvalidSpec> {
        self.tool::<ListArguments>("ls", "Lists the files that there are.", Action::List)
    }

    /// The tool `read`: a file, in pieces where it is long.
    ///
    /// # Errors
    ///
    /// As [`ls`](FileTools::ls).
    pub fn read(&self) -> Result<FileTool, InvalidSpec> {
        self.tool::<ReadArguments>("read", "Reads a text file.", Action::Read)
    }

    /// The tool `write`: a file as a whole.
    ///
    /// # Errors
    ///
    /// As [`ls`](FileTools::ls).
    pub fn write(&self) -> Result<FileTool, InvalidSpec> {
        let description = "Writes a text file, whole: what it held before is gone. To change a part of it, edit it.";
        self.tool::<WriteArguments>("write", description, Action::Write)
    }

    /// The tool `edit`: a text of a file that is replaced by another.
    ///
    /// # Errors
    ///
    /// As [`ls`](FileTools::ls).
    pub fn edit(&self) -> Result<FileTool, InvalidSpec> {
        let description = "Replaces a text in a file by another. Read the file first.";
        self.tool::<EditArguments>("edit", description, Action::Edit)
    }

    /// All four.
    ///
    /// # Errors
    ///
    /// As [`ls`](FileTools::ls).
    pub fn all(&self) -> Result<Vec<SharedTool>, InvalidSpec> {
        let tools = [self.ls()?, self.read()?, self.write()?, self.edit()?];
        Ok(tools.into_iter().map(SharedTool::new).collect())
    }

    fn tool<A: JsonSchema>(
        &self,
        name: &str,
        description: &str,
        action: Action,
    ) -> Result<FileTool, InvalidSpec> {
        Ok(FileTool { spec: ToolSpec::of::<A>(name, description)?, action, tools: self.clone() })
    }

    /// Heeds the strictest of the rules about `path`, by asking a person where it says so.
    async fn admit(
        &self,
        accesses: &[FileAccess],
        path: &FilePath,
        request: FileRequest,
        call: &Call,
    ) -> Result<(), ToolError> {
        let rules = accesses.iter().map(|access| self.rules.decide(*access, path));
        match rules.max().unwrap_or(FileRule::Deny) {
            FileRule::Allow => Ok(()),
            FileRule::Ask => request.ask(call).await,
            FileRule::Deny => {
                let (tool, path) = (&request.tool, shown(path.as_str()));
                Err(ToolError::refused(format!("a rule forbids to {tool} `{path}`")))
            }
        }
    }

    async fn list(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let ListArguments { folder } = arguments.decode().map_err(ToolError::arguments)?;
        // `.` and `/` mean everything to a model.
        let folder = folder.filter(|folder| !matches!(folder.as_str(), "" | "." | "./" | "/"));
        let folder = match folder {
            Some(folder) => Some(format!("{}/", FilePath::new(folder.trim_end_matches('/'))?)),
            None => None,
        };
        let mut files = self.files.list(call).await?;
        let is_cut = files.len() >= FILES;
        files.retain(|file| {
            let path = FilePath::new(&file.path);
            folder.as_ref().is_none_or(|folder| file.path.starts_with(folder))
                && path
                    .is_ok_and(|path| self.rules.decide(FileAccess::Read, &path) != FileRule::Deny)
        });
        let mut text = String::new();
        for file in &files {
            text.push_str(&format!("{} ({} bytes)\n", Printable(&file.path), file.size));
        }
        if files.is_empty() {
            text.push_str("(there are no files)");
        }
        if is_cut {
            text.push_str("(there may be more)");
        }
        let data = files.iter().map(|file| json!({"path": file.path, "size": file.size}));
        Ok(ToolOutput::new(text).data(json!({"files": data.collect::<Vec<_>>()})))
    }

    async fn read_file(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let arguments: ReadArguments = arguments.decode().map_err(ToolError::arguments)?;
        let path = FilePath::new(&arguments.path)?;
        let request = FileRequest::new("read", &path, call);
        self.admit(&[FileAccess::Read], &path, request, call).await?;
        let read = self.files.read(&path, call).await;
        let text = read.map_err(|error| without_denied(&self.rules, &path, error))?;
        let (from, lines) = (arguments.from_line, arguments.lines);
        Ok(page(&shown(path.as_str()), &text, from, lines, self.output)?)
    }

    async fn write_file(
        &self,
        arguments: &Arguments,
        call: &Call,
    ) -> Result<ToolOutput, ToolError> {
        let WriteArguments { path, text } = arguments.decode().map_err(ToolError::arguments)?;
        let path = FilePath::new(&path)?;
        let mut request = FileRequest::new("write", &path, call);
        request.text = Some(text.clone());
        self.admit(&[FileAccess::Write], &path, request, call).await?;
        let size = text.len();
        let written = self.files.write(&path, text, call).await;
        let FileWrite { update } =
            written.map_err(|error| without_denied(&self.rules, &path, error))?;
        let shown = shown(path.as_str());
        let output = ToolOutput::new(format!("`{shown}` is written: {size} bytes"));
        let mut output = output.data(json!({"path": path.as_str(), "size": size}));
        output.update = update;
        Ok(output)
    }

    async fn edit_file(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let EditArguments { path, old, new } = arguments.decode().map_err(ToolError::arguments)?;
        let path = FilePath::new(&path)?;
        let edit = TextEdit { old, new };
        let mut request = FileRequest::new("edit", &path, call);
        request.edit = Some(edit.clone());
        // Whether an edit fits says what is in the file.
        let accesses = [FileAccess::Read, FileAccess::Write];
        self.admit(&accesses, &path, request, call).await?;
        let edited = self.files.edit(&path, &edit, call).await;
        let FileWrite { update } =
            edited.map_err(|error| without_denied(&self.rules, &path, error))?;
        let output = ToolOutput::new(format!("`{}` is edited", shown(path.as_str())));
        let mut output = output.data(json!({"path": path.as_str()}));
        output.update = update;
        Ok(output)
    }
}

impl Tool for FileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        match (self.action, self.tools.files.effect()) {
            (Action::List | Action::Read, _) => Effect::Pure,
            (Action::Write, effect) => effect,
            (Action::Edit, Effect::Pure) => Effect::Pure,
            (Action::Edit, _) => Effect::AtMostOnce,
        }
    }

    /// 10 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn needs(&self) -> Vec<Need> {
        self.tools.files.needs()
    }

    /// Lists, reads, writes or edits.
    ///
    /// # Errors
    ///
    /// [`ToolError::Refused`] for a path that leads out, and for what a rule or a person refuses; [`ToolError::Waiting`] while a
    /// person is asked; others as [`Files`] says.
    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        match self.action {
            Action::List => self.tools.list(arguments, call).await,
            Action::Read => self.tools.read_file(arguments, call).await,
            Action::Write => self.tools.write_file(arguments, call).await,
            Action::Edit => self.tools.edit_file(arguments, call).await,
        }
    }
}
