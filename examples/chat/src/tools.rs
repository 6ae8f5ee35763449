//! The tools, and those that are switched off here.

use hanok_model::{SharedTool, Tool};
use hanok_tools::{Calculator, CurrentDatetime};
use terminal::failure::Failure;

/// The tools that the agent has, and why others are not among them.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    /// The tools.
    pub tools: Vec<SharedTool>,
    /// The names of those that are off, each with the reason.
    pub off: Vec<(&'static str, String)>,
}

impl Toolbox {
    /// The tools that need nothing but this program.
    ///
    /// # Errors
    ///
    /// [`Failure::Wiring`] when a tool cannot be made.
    pub fn offline() -> Result<Self, Failure> {
        let tools = vec![
            SharedTool::new(Calculator::new().map_err(Failure::wiring)?),
            SharedTool::new(CurrentDatetime::new().map_err(Failure::wiring)?),
        ];
        Ok(Self { tools, off: Vec::new() })
    }

    /// The tools, a line each.
    #[must_use]
    pub fn lines(&self) -> String {
        let on = self
            .tools
            .iter()
            .map(|tool| format!("{:<22}{}", tool.spec().name(), tool.spec().description()));
        let off = self.off.iter().map(|(name, why)| format!("{name:<22}꺼짐: {why}"));
        on.chain(off).collect::<Vec<_>>().join("\n")
    }
}
