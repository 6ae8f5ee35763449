//! Python as a tool.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{OnceCell, Semaphore};

use super::{JailError, limits::Limits};

/// The longest program.
const LONGEST: usize = 64 * 1024;

/// How many programs run at once by default.
const AT_ONCE: usize = 2;

/// What a call may take besides the program's own time.
const AROUND: Duration = Duration::from_secs(40);

/// The tool `python_repl`: runs Python in a jail, or not at all. P37
///
/// The jail is bubblewrap's: no network and no sockets, no files but `/usr` (read-only) and an empty `/tmp`, an empty
/// environment, namespaces of its own, a filter of system calls, and limits of time, memory, processes and output. For a
/// caller that is root everything in it runs as `nobody`. Before the first program runs, a probe tries to break out of each
/// of these; where the jail cannot be made, or does not hold, nothing is ever run and the refusal says what is missing.
///
/// Every program starts anew: it shares neither variables nor files with the one before. What it prints is what the model
/// reads, and the value of a last expression. A program that fails is read with its traceback; its data are
/// `{"exit_code": 1}`.
///
/// What holds for each process alone (memory, CPU time) bounds all of them together only by the number of processes; a
/// control group ([`PythonReplBuilder::cgroup`]) bounds the sum.
///
/// The jail dies with the thread that started it, so that it cannot outlive this program: call the tool on a runtime's worker,
/// not on a thread that ends.
///
/// ```
/// use hanok_model::Tool;
/// use hanok_sandbox::PythonRepl;
///
/// let python = PythonRepl::builder().processes(4).build()?;
/// assert_eq!(python.spec().name(), "python_repl");
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Debug, Clone)]
pub struct PythonRepl {
    spec: ToolSpec,
    limits: Arc<Limits>,
    /// Set when the jail was seen to hold.
    probed: Arc<OnceCell<()>>,
    slots: Arc<Semaphore>,
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Program {
    /// The Python program; print what you want to see. No network, no files, nothing is kept between calls.
    code: String,
}

/// Settings of a [`PythonRepl`].
#[derive(Debug, Default)]
pub struct PythonReplBuilder {
    limits: Limits,
    at_once: Option<usize>,
}

impl PythonReplBuilder {
    /// How long a program may take. Default: 20 s.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.limits.time = time;
        self
    }

    /// How much CPU time each of its processes may take, in whole seconds. Default: 10 s.
    #[must_use]
    pub fn cpu(mut self, cpu: Duration) -> Self {
        self.limits.cpu = cpu;
        self
    }

    /// How many bytes of memory each of its processes may have; with a control group, all together. Default: 512 MiB.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.limits.memory = bytes;
        self
    }

    /// How many processes and threads it may have. Default: 16.
    #[must_use]
    pub fn processes(mut self, processes: u32) -> Self {
        self.limits.processes = processes;
        self
    }

    /// The size of `/tmp`, in bytes. Default: 32 MiB.
    #[must_use]
    pub fn scratch(mut self, bytes: u64) -> Self {
        self.limits.scratch = bytes;
        self
    }

    /// How many bytes of the output are shown, from its beginning and its end. Default: 16 KiB.
    #[must_use]
    pub fn output(mut self, bytes: usize) -> Self {
        self.limits.output = bytes;
        self
    }

    /// How many programs run at once; others wait. Default: 2.
    #[must_use]
    pub fn at_once(self, programs: usize) -> Self {
        Self { at_once: Some(programs.max(1)), ..self }
    }

    /// The program `bwrap`. Default: `/usr/bin/bwrap`.
    #[must_use]
    pub fn bubblewrap(mut self, path: impl Into<PathBuf>) -> Self {
        self.limits.bubblewrap = path.into();
        self
    }

    /// The Python. One outside of `/usr` needs its [`PythonReplBuilder::folder`]. Default: `/usr/bin/python3`.
    #[must_use]
    pub fn python(mut self, path: impl Into<PathBuf>) -> Self {
        self.limits.python = path.into();
        self
    }

    /// A folder that programs may read, at the path that it has outside: a virtual environment, data. Default: none.
    #[must_use]
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Self {
        self.limits.folders.push(path.into());
        self
    }

    /// A folder of control groups (`/sys/fs/cgroup/…`, version 1 or 2) below which each program gets a group of its own, with
    /// its limits of processes and memory. It must be this program's to write to, with the controllers switched on. Default:
    /// none.
    #[must_use]
    pub fn cgroup(mut self, path: impl Into<PathBuf>) -> Self {
        self.limits.cgroups.push(path.into());
        self
    }

    /// The tool. Nothing is run yet.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its name and arguments are fixed.
    pub fn build(self) -> Result<PythonRepl, InvalidSpec> {
        let description = "Runs Python in isolation and shows what it prints.";
        Ok(PythonRepl {
            spec: ToolSpec::of::<Program>("python_repl", description)?,
            limits: Arc::new(self.limits),
            probed: Arc::default(),
            slots: Arc::new(Semaphore::new(self.at_once.unwrap_or(AT_ONCE))),
        })
    }
}

impl PythonRepl {
    /// Settings for the tool.
    pub fn builder() -> PythonReplBuilder {
        PythonReplBuilder::default()
    }

    /// Whether the jail can be made here and holds. The first call of the tool asks the same; a service asks when it starts.
    ///
    /// A jail that holds is not tried again; one that does not is, each time.
    ///
    /// # Errors
    ///
    /// [`JailError`], which says what is missing.
    pub async fn check(&self, call: &Call) -> Result<(), JailError> {
        self.probed.get_or_try_init(|| probe(&self.limits, call)).await.copied()
    }

    async fn ran(&self, code: &str, call: &Call) -> Result<ToolOutput, JailError> {
        if code.len() > LONGEST {
            return Err(JailError::TooLong { size: code.len(), limit: LONGEST });
        }
        // Never closed.
        let Ok(_slot) = self.slots.acquire().await else { return Err(JailError::Cancelled) };
        self.check(call).await?;
        run(&self.limits, code, call).await
    }
}

impl Tool for PythonRepl {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Nothing of what a program does lasts.
    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// The program's time, and what a probe and others before it may take: 60 s by default.
    fn timeout(&self) -> Duration {
        self.limits.time + AROUND
    }

    /// Runs a program.
    ///
    /// # Errors
    ///
    /// [`ToolError::Refused`] without a jail, [`ToolError::Failed`] for a program that was stopped; each with a
    /// [`JailError`]'s words.
    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let Program { code } = arguments.decode().map_err(ToolError::arguments)?;
        Ok(self.ran(&code, call).await?)
    }
}

#[cfg(target_os = "linux")]
async fn probe(limits: &Limits, call: &Call) -> Result<(), JailError> {
    super::probe::probe(limits, call).await
}

#[cfg(target_os = "linux")]
async fn run(limits: &Limits, code: &str, call: &Call) -> Result<ToolOutput, JailError> {
    let ran = super::run::run(limits, include_str!("bootstrap.py"), code.as_bytes(), call).await?;
    if ran.code != 0 && !ran.complaint.trim().is_empty() {
        return Err(JailError::NoJail { said: ran.complaint.trim().to_owned() });
    }
    let text = told(ran.code, &ran.output);
    Ok(ToolOutput::new(text).data(serde_json::json!({"exit_code": ran.code})))
}

#[cfg(not(target_os = "linux"))]
async fn probe(_: &Limits, _: &Call) -> Result<(), JailError> {
    Err(JailError::Platform)
}

#[cfg(not(target_os = "linux"))]
async fn run(_: &Limits, _: &str, _: &Call) -> Result<ToolOutput, JailError> {
    Err(JailError::Platform)
}

#[cfg(target_os = "linux")]
fn told(code: i32, output: &str) -> String {
    let output = output.trim_end();
    match (code, output) {
        (0, "") => "(the program printed nothing)".to_owned(),
        (0, output) => output.to_owned(),
        // SIGKILL and SIGXCPU are what limits end a program with.
        (137 | 152, output) => format!("{output}\n[killed, by a limit of memory or CPU time]"),
        (code, output) if code > 128 => format!("{output}\n[ended by signal {}]", code - 128),
        (code, output) => format!("{output}\n[exit code {code}]"),
    }
}
