//! Which tools an agent has, and why others are off.

use std::fmt;

use hanok_model::{SharedTool, Tool};

/// The tools that an agent is given, and those that are off, each with the reason: what a program tells a person who asks what it can
/// do.
///
/// ```
/// use hanok_tools::{Calculator, OffReason, Toolbox};
///
/// let toolbox = Toolbox::new()
///     .with(Calculator::new()?)
///     .without("python_repl", OffReason::NotChosen { by: "--python" });
/// assert_eq!(toolbox.tools().len(), 1);
/// assert_eq!(toolbox.off()[0].to_string(), "python_repl is off: it is chosen by --python");
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    tools: Vec<SharedTool>,
    off: Vec<OffTool>,
}

/// A tool that is off.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffTool {
    /// Its name.
    pub name: &'static str,
    /// Why it is off.
    pub why: OffReason,
}

/// Why a tool is off.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffReason {
    /// The environment variable that names its key is not set.
    NoKey {
        /// The variable.
        variable: &'static str,
    },
    /// Whoever runs the program has to choose it.
    NotChosen {
        /// The option that does.
        by: &'static str,
    },
    /// The model cannot use it.
    NotForModel,
}

impl Toolbox {
    /// Without a tool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With `tool`.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> Self {
        self.tools.push(SharedTool::new(tool));
        self
    }

    /// With the name of a tool that is off.
    #[must_use]
    pub fn without(mut self, name: &'static str, why: OffReason) -> Self {
        self.off.push(OffTool { name, why });
        self
    }

    /// With `tool` where the key that `variable` names is there (`is_configured`), else with its name.
    #[must_use]
    pub fn with_key(
        self,
        tool: impl Tool,
        name: &'static str,
        is_configured: bool,
        variable: &'static str,
    ) -> Self {
        match is_configured {
            true => self.with(tool),
            false => self.without(name, OffReason::NoKey { variable }),
        }
    }

    /// The tools, in the order in which they were put in.
    #[must_use]
    pub fn tools(&self) -> &[SharedTool] {
        &self.tools
    }

    /// Those that are off, in the same order.
    #[must_use]
    pub fn off(&self) -> &[OffTool] {
        &self.off
    }
}

impl fmt::Display for OffTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is off: ", self.name)?;
        match &self.why {
            OffReason::NoKey { variable } => write!(f, "set {variable}"),
            OffReason::NotChosen { by } => write!(f, "it is chosen by {by}"),
            OffReason::NotForModel => write!(f, "the model cannot use it"),
        }
    }
}
