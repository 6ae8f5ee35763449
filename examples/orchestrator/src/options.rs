//! What the program is told on its command line, and by its environment.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser};
use hanok_agent::{Gate, GateSwitch, Gates};

use crate::asking::Background;

/// Does what is asked of it with the tools of MCP servers: it asks when unclear, plans, has people approve, and learns.
///
/// Without a question it holds a conversation: one line a turn, from a terminal or a pipe; /help lists its commands. With
/// OPENAI_BASE_URL or OPENAI_API_KEY set (and OPENAI_MODEL) it asks that server's model, built with `-F server`; without them an
/// offline model of rules answers. Without --mcp it starts a sample server of its own: notes, a calendar, units, meeting rooms, and reports that take a while.
///
/// A flag wins over its variable:
///   --gates              ENABLE_HITL (all), ENABLE_CLARIFICATION_APPROVAL, ENABLE_PLAN_APPROVAL, ENABLE_STEP_APPROVAL.
///                        Without any: clarify, plan and tool in a terminal, and tool alone where nobody can be asked
///   --no-tool-detection  AUTO_TOOL_DETECTION=false
///   --tool-interval      TOOL_CHECK_INTERVAL
///   --no-memory          ENABLE_LKM_MEMORY=false
///
/// Exit: 0 answered, 1 failed, 2 wrong usage, 3 the thread is in use, 4 stopped by a limit, 5 waits for a person, 130
/// stopped by Ctrl-C.
#[derive(Debug, Clone, Parser)]
#[command(name = "orchestrator", version, verbatim_doc_comment)]
pub struct Options {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would take the place of the program's own help"
    )]
    pub talk: kit::Options,

    /// A file with `mcpServers`: the servers whose tools it uses. What was approved of them stands in `mcp.lock` beside it
    #[arg(long, value_name = "FILE")]
    pub mcp: Option<PathBuf>,

    /// Refuse to start when a server's tools differ from what was approved
    #[arg(long, requires = "mcp")]
    pub locked: bool,

    /// Approve the tools of the servers as they are now, and go on
    #[arg(long, requires = "mcp", conflicts_with = "locked")]
    pub accept: bool,

    /// Where people are asked: `all`, `none`, or names with commas between them (clarify, plan, step, tool, definitions).
    /// `tool` asks about every call of a tool that is not known to read only.
    /// What a server asks is asked in any case, and definitions that nobody has seen are never approved without a person
    #[arg(long, value_name = "GATES")]
    pub gates: Option<Gates>,

    /// Let steps pass as this user has always decided (off unless it is said; never for what destroys or goes outside)
    #[arg(long, requires = "user")]
    pub learned_approvals: bool,

    /// Who asks: what is learned of this user is used, and more is learned. Without one nothing is remembered
    #[arg(long, value_name = "ID", value_parser = user)]
    pub user: Option<String>,

    /// Learn nothing, and use nothing that was learned
    #[arg(long)]
    pub no_memory: bool,

    /// Who answers at the gates. Without it: the system's user
    #[arg(long = "as", value_name = "NAME")]
    pub answerer: Option<String>,

    /// A folder into which the results of steps and turns are written, as JSON and Markdown
    #[arg(long, value_name = "FOLDER")]
    pub results: Option<PathBuf>,

    #[command(flatten)]
    #[expect(missing_docs, reason = "as that of `talk`")]
    pub background: Background,

    /// Do not look for tools that have changed before each step
    #[arg(long)]
    pub no_tool_detection: bool,

    /// The seconds between two looks for tools that have changed
    #[arg(long, value_name = "SECONDS", env = "TOOL_CHECK_INTERVAL", default_value_t = 300)]
    pub tool_interval: u64,

    #[command(flatten)]
    #[expect(missing_docs, reason = "as that of `talk`")]
    pub variables: Variables,
}

/// What the environment says. Each is a hidden flag, too.
#[derive(Debug, Clone, Args)]
pub struct Variables {
    #[arg(long, hide = true, value_parser = switch, default_value = "")]
    #[arg(env = "ENABLE_HITL", value_name = "ENABLE_HITL")]
    hitl: GateSwitch,
    #[arg(long, hide = true, value_parser = switch, default_value = "")]
    #[arg(env = "ENABLE_CLARIFICATION_APPROVAL", value_name = "ENABLE_CLARIFICATION_APPROVAL")]
    clarification_approval: GateSwitch,
    #[arg(long, hide = true, value_parser = switch, default_value = "")]
    #[arg(env = "ENABLE_PLAN_APPROVAL", value_name = "ENABLE_PLAN_APPROVAL")]
    plan_approval: GateSwitch,
    #[arg(long, hide = true, value_parser = switch, default_value = "")]
    #[arg(env = "ENABLE_STEP_APPROVAL", value_name = "ENABLE_STEP_APPROVAL")]
    step_approval: GateSwitch,
    #[arg(long, hide = true, value_parser = switch, default_value = "")]
    #[arg(env = "AUTO_TOOL_DETECTION", value_name = "AUTO_TOOL_DETECTION")]
    tool_detection: GateSwitch,
    #[arg(long, hide = true, value_parser = switch, default_value = "")]
    #[arg(env = "ENABLE_LKM_MEMORY", value_name = "ENABLE_LKM_MEMORY")]
    memory: GateSwitch,
}

/// The most bytes of a user's name: it stands in the keys of what is stored of them.
const LONGEST_USER: usize = 200;

impl Options {
    /// The gates: the flag's, else the variables'. Without either, a tool that may write is asked about, and where `somebody` types and
    /// asks no single question, so are what is not clear and the plan.
    pub fn gates(&self, somebody: bool) -> Gates {
        if let Some(gates) = &self.gates {
            return gates.clone();
        }
        let Variables { hitl, clarification_approval, plan_approval, step_approval, .. } =
            self.variables;
        let each = [
            (Gate::Clarify, clarification_approval),
            (Gate::Plan, plan_approval),
            (Gate::Step, step_approval),
        ];
        let is_said = each.iter().any(|(_, switch)| *switch != GateSwitch::Inherit);
        match (hitl, is_said) {
            (GateSwitch::Inherit, false) => {
                let asked = somebody && self.talk.question.is_empty() && !self.talk.json;
                let early = [Gate::Clarify, Gate::Plan].into_iter().filter(|_| asked);
                Gates::only(early.chain([Gate::Tool]))
            }
            // One that is on is on alone, as long as not all are said to be.
            (GateSwitch::Inherit, true) => {
                let on = each.into_iter().filter(|(_, switch)| *switch == GateSwitch::On);
                Gates::only(on.map(|(gate, _)| gate))
            }
            (all, _) => each
                .into_iter()
                .fold(Gates::all(all == GateSwitch::On), |all, (gate, it)| all.gate(gate, it)),
        }
    }

    /// The time after which the servers are asked for their tools again, if they are.
    pub fn detection(&self) -> Option<Duration> {
        let is_on = !self.no_tool_detection && self.variables.tool_detection != GateSwitch::Off;
        is_on.then_some(Duration::from_secs(self.tool_interval))
    }

    /// The user of whom something is learned, if there is one.
    pub fn learns_of(&self) -> Option<&str> {
        let is_on = !self.no_memory && self.variables.memory != GateSwitch::Off;
        self.user.as_deref().filter(|user| is_on && !user.is_empty())
    }
}

/// A user's name, of a length that can be stored.
fn user(name: &str) -> Result<String, String> {
    match name.len() {
        0..=LONGEST_USER => Ok(name.to_owned()),
        bytes => Err(format!("이름은 {LONGEST_USER}바이트까지입니다. 받은 이름: {bytes}바이트")),
    }
}

/// Whether a variable says yes or no; neither where it is empty.
fn switch(value: &str) -> Result<GateSwitch, &'static str> {
    match value.trim().to_lowercase().as_str() {
        "" => Ok(GateSwitch::Inherit),
        "true" | "1" | "yes" | "on" => Ok(GateSwitch::On),
        "false" | "0" | "no" | "off" => Ok(GateSwitch::Off),
        _ => Err("true 또는 false입니다"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Options {
        Options::parse_from([&["orchestrator"], arguments].concat())
    }

    fn gates(somebody: bool, arguments: &[&str]) -> [bool; 4] {
        let gates = options(arguments).gates(somebody);
        [Gate::Clarify, Gate::Plan, Gate::Step, Gate::Tool].map(|gate| gates.asks(&gate))
    }

    #[test]
    fn each_gate_is_on_off_or_as_all_are_and_all_off_wins() {
        for (arguments, want) in [
            (&["--hitl=true"][..], [true; 4]),
            (&["--hitl=true", "--step-approval=false"], [true, true, false, true]),
            (&["--plan-approval=1"], [false, true, false, false]),
            (&["--plan-approval=0"], [false; 4]),
            (&["--hitl=off", "--plan-approval=on"], [false; 4]),
            (&["--gates", "step", "--hitl=true"], [false, false, true, false]),
            (&["--gates", "none", "--hitl=true"], [false; 4]),
            (&["--gates", "all", "--hitl=false"], [true; 4]),
        ] {
            for somebody in [true, false] {
                assert_eq!(gates(somebody, arguments), want, "{arguments:?}");
            }
        }
        // What writes is asked about whatever nobody says.
        for (somebody, arguments, want) in [
            (true, &[][..], [true, true, false, true]),
            (true, &["안녕"], [false, false, false, true]),
            (true, &["--json"], [false, false, false, true]),
            (false, &["--hitl="], [false, false, false, true]),
        ] {
            assert_eq!(gates(somebody, arguments), want, "{somebody} {arguments:?}");
        }
        assert!(Options::try_parse_from(["orchestrator", "--hitl=perhaps"]).is_err());
    }

    #[test]
    fn what_is_off_is_off_by_its_flag_or_its_variable() {
        for (arguments, want) in [
            (&[][..], Some(300)),
            (&["--no-tool-detection", "--tool-detection=true"], None),
            (&["--tool-detection=false"], None),
            (&["--tool-interval", "0"], Some(0)),
        ] {
            let found = options(arguments).detection().map(|it| it.as_secs());
            assert_eq!(found, want, "{arguments:?}");
        }
        for (arguments, want) in [
            (&["--user", "kim"][..], Some("kim")),
            (&["--user", ""], None),
            (&["--memory=true"], None),
            (&["--user", "kim", "--no-memory", "--memory=true"], None),
            (&["--user", "kim", "--memory=off"], None),
        ] {
            assert_eq!(options(arguments).learns_of(), want, "{arguments:?}");
        }
        for (letters, fits) in [(LONGEST_USER, true), (LONGEST_USER + 1, false)] {
            let parsed = Options::try_parse_from(["orchestrator", "--user", &"a".repeat(letters)]);
            assert_eq!(parsed.is_ok(), fits, "{letters}");
        }
    }
}
