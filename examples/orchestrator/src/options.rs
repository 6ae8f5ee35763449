//! What the program is told on its command line, and by its environment.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
use hanok_agent::{Gate, GateSwitch, Gates};
use kit::failure::Failure;

use crate::servers::Detection;

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
    #[arg(long, value_name = "ID")]
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

    /// What is known of the user, as text: models read it as data
    #[arg(long, value_name = "TEXT")]
    pub personal: Option<String>,

    /// What is known of the domain, as text: models read it as data
    #[arg(long, value_name = "TEXT")]
    pub domain: Option<String>,

    /// Do not look for tools that have changed before each step
    #[arg(long)]
    pub no_tool_detection: bool,

    /// The seconds between two looks for tools that have changed
    #[arg(long, value_name = "SECONDS")]
    pub tool_interval: Option<u64>,
}

/// The most bytes of a user's name: it stands in the keys of what is stored of them.
const LONGEST_USER: usize = 200;

/// The seconds between two looks, unless they are said.
const INTERVAL: u64 = 300;

impl Options {
    /// The gates: the flag's, else the variables'. Without either, a tool that may write is asked about, and where `somebody` types and
    /// asks no single question, so are what is not clear and the plan.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for a variable that is neither true nor false.
    pub fn gates(
        &self,
        somebody: bool,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Gates, Failure> {
        if let Some(gates) = &self.gates {
            return Ok(gates.clone());
        }
        let switch = |name: &str| truth(name, variable(name));
        let each = [
            (Gate::Clarify, switch("ENABLE_CLARIFICATION_APPROVAL")?),
            (Gate::Plan, switch("ENABLE_PLAN_APPROVAL")?),
            (Gate::Step, switch("ENABLE_STEP_APPROVAL")?),
        ];
        let is_any = each.iter().any(|(_, on)| *on == Some(true));
        if switch("ENABLE_HITL")?.is_none() && each.iter().all(|(_, on)| on.is_none()) {
            let asked = somebody && self.talk.question.is_empty() && !self.talk.json;
            let early = [Gate::Clarify, Gate::Plan].into_iter().filter(|_| asked);
            return Ok(Gates::only(early.chain([Gate::Tool])));
        }
        let all = match switch("ENABLE_HITL")? {
            Some(all) => all,
            None => is_any,
        };
        // One that is on is on alone, as long as not all are said to be.
        let others = match is_any && switch("ENABLE_HITL")?.is_none() {
            true => GateSwitch::Off,
            false => GateSwitch::Inherit,
        };
        let gates = each.into_iter().fold(Gates::all(all), |gates, (gate, on)| {
            let switch = match on {
                Some(true) => GateSwitch::On,
                Some(false) => GateSwitch::Off,
                None => others,
            };
            gates.gate(gate, switch)
        });
        Ok([Gate::Tool, Gate::Definitions]
            .into_iter()
            .fold(gates, |gates, gate| gates.gate(gate, others)))
    }

    /// How changed tools are looked for.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for a variable that makes no sense.
    pub fn detection(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Detection, Failure> {
        let name = "AUTO_TOOL_DETECTION";
        let automatic = truth(name, variable(name))?.unwrap_or(true) && !self.no_tool_detection;
        let name = "TOOL_CHECK_INTERVAL";
        let seconds = match (self.tool_interval, variable(name)) {
            (Some(seconds), _) => seconds,
            (None, Some(text)) => {
                text.trim().parse().map_err(|_no_number: std::num::ParseIntError| {
                    Failure::Usage(format!(
                        "{name}은(는) 초를 나타내는 수입니다. 받은 값: {text:?}"
                    ))
                })?
            }
            (None, None) => INTERVAL,
        };
        Ok(Detection { automatic, interval: Duration::from_secs(seconds) })
    }

    /// The user of whom something is learned, if there is one.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for a variable that is neither true nor false, and for a name that is too long for what is stored of a user.
    pub fn learns_of(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<&str>, Failure> {
        let bytes = self.user.as_ref().map_or(0, String::len);
        if bytes > LONGEST_USER {
            return Err(Failure::Usage(format!(
                "--user의 이름은 {LONGEST_USER}바이트까지입니다. 받은 이름: {bytes}바이트"
            )));
        }
        let name = "ENABLE_LKM_MEMORY";
        let learns = truth(name, variable(name))?.unwrap_or(true) && !self.no_memory;
        Ok(self.user.as_deref().filter(|user| learns && !user.is_empty()))
    }
}

/// Whether a variable says yes or no; nothing where it is not set.
fn truth(name: &str, value: Option<String>) -> Result<Option<bool>, Failure> {
    let Some(value) = value else { return Ok(None) };
    match value.trim().to_lowercase().as_str() {
        "" => Ok(None),
        "true" | "1" | "yes" | "on" => Ok(Some(true)),
        "false" | "0" | "no" | "off" => Ok(Some(false)),
        _ => Err(Failure::Usage(format!("{name}은(는) true 또는 false입니다. 받은 값: {value:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(somebody: bool, arguments: &[&str], variables: &[(&str, &str)]) -> [bool; 4] {
        let options = Options::parse_from([&["orchestrator"], arguments].concat());
        let variable = |name: &str| {
            let set = variables.iter().find(|(known, _)| *known == name);
            set.map(|(_, value)| (*value).to_owned())
        };
        let gates = options.gates(somebody, variable).unwrap();
        [Gate::Clarify, Gate::Plan, Gate::Step, Gate::Tool].map(|gate| gates.asks(&gate))
    }

    #[test]
    fn each_gate_is_on_off_or_as_all_are_and_all_off_wins() {
        let hitl = ("ENABLE_HITL", "true");
        for (arguments, variables, want) in [
            (&[][..], &[hitl][..], [true; 4]),
            (&[], &[hitl, ("ENABLE_STEP_APPROVAL", "false")], [true, true, false, true]),
            (&[], &[("ENABLE_PLAN_APPROVAL", "1")], [false, true, false, false]),
            (&[], &[("ENABLE_HITL", "off"), ("ENABLE_PLAN_APPROVAL", "on")], [false; 4]),
            (&["--gates", "step"], &[hitl], [false, false, true, false]),
            (&["--gates", "none"], &[hitl], [false; 4]),
            (&["--gates", "all"], &[("ENABLE_HITL", "false")], [true; 4]),
        ] {
            for somebody in [true, false] {
                let found = gates(somebody, arguments, variables);
                assert_eq!(found, want, "{arguments:?} {variables:?}");
            }
        }
        // What writes is asked about whatever nobody says.
        for (somebody, arguments, want) in [
            (true, &[][..], [true, true, false, true]),
            (true, &["안녕"], [false, false, false, true]),
            (true, &["--json"], [false, false, false, true]),
            (false, &[], [false, false, false, true]),
        ] {
            assert_eq!(gates(somebody, arguments, &[]), want, "{somebody} {arguments:?}");
        }
        let options = Options::parse_from(["orchestrator"]);
        assert!(options.gates(true, |_| Some("perhaps".to_owned())).is_err());
        assert!(options.detection(|_| Some("soon".to_owned())).is_err());
    }

    #[test]
    fn a_flag_wins_over_its_variable() {
        let variable = |set: Option<(&'static str, &'static str)>| {
            move |name: &str| set.filter(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        let (detection, interval) = ("AUTO_TOOL_DETECTION", "TOOL_CHECK_INTERVAL");
        for (arguments, set, want) in [
            (&[][..], None, (true, 300)),
            (&["--no-tool-detection"], None, (false, 300)),
            (&["--no-tool-detection"], Some((detection, "true")), (false, 300)),
            (&[], Some((detection, "false")), (false, 300)),
            (&[], Some((interval, " 7 ")), (true, 7)),
            (&["--tool-interval", "0"], Some((interval, "7")), (true, 0)),
        ] {
            let options = Options::parse_from([&["orchestrator"], arguments].concat());
            let found = options.detection(variable(set)).unwrap();
            let found = (found.automatic, found.interval.as_secs());
            assert_eq!(found, want, "{arguments:?} {set:?}");
        }
        let memory = "ENABLE_LKM_MEMORY";
        for (arguments, set, want) in [
            (&["--user", "kim"][..], None, Some("kim")),
            (&["--user", ""], None, None),
            (&[], Some((memory, "true")), None),
            (&["--user", "kim", "--no-memory"], Some((memory, "true")), None),
            (&["--user", "kim"], Some((memory, "off")), None),
        ] {
            let options = Options::parse_from([&["orchestrator"], arguments].concat());
            assert_eq!(options.learns_of(variable(set)).unwrap(), want, "{arguments:?} {set:?}");
        }
        for (letters, fits) in [(LONGEST_USER, true), (LONGEST_USER + 1, false), (3_000, false)] {
            let name = "a".repeat(letters);
            let options = Options::parse_from(["orchestrator", "--user", &name]);
            assert_eq!(options.learns_of(|_| None).is_ok(), fits, "{letters}");
        }
    }
}
