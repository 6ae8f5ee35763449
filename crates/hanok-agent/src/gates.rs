//! Which gates of a graph are closed.

use serde::{Deserialize, Serialize};

use hanok_core::Gate;

/// Whether a gate asks people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateSwitch {
    /// It asks, unless all gates are off.
    On,
    /// It lets everything pass.
    Off,
    /// It does as all gates do.
    #[default]
    Inherit,
}

/// Which gates of a graph ask people: each on, off or as all are. Where all are off, none asks. A gate that does not ask is passed,
/// so the graph is the same.
///
/// ```
/// use hanok_agent::{Gate, GateSwitch, Gates};
///
/// let gates = Gates::all(true).gate(Gate::Step, GateSwitch::Off);
/// assert!(gates.asks(&Gate::Plan) && !gates.asks(&Gate::Step));
/// assert!(!Gates::all(false).gate(Gate::Plan, GateSwitch::On).asks(&Gate::Plan));
/// assert_eq!("clarify,plan".parse::<Gates>(), Ok(Gates::only([Gate::Clarify, Gate::Plan])));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Gates {
    all: bool,
    each: std::collections::BTreeMap<Gate, GateSwitch>,
}

/// A name that no gate has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no gate is called `{}`: there are `clarify`, `plan`, `step`, `tool`, `definitions` and `elicitation`; or say `all` or `none`", .0.escape_debug())]
pub struct UnknownGate(pub String);

impl Gates {
    /// All gates ask, or none does.
    pub fn all(asks: bool) -> Self {
        Self { all: asks, each: Default::default() }
    }

    /// These gates ask, and no others.
    pub fn only(gates: impl IntoIterator<Item = Gate>) -> Self {
        let off = |all: Self, gate| all.gate(gate, GateSwitch::Off);
        let none = Gate::NAMED.into_iter().fold(Self::all(true), off);
        gates.into_iter().fold(none, |all, gate| all.gate(gate, GateSwitch::On))
    }

    /// Sets whether `gate` asks. Default: [`GateSwitch::Inherit`].
    pub fn gate(mut self, gate: Gate, switch: GateSwitch) -> Self {
        self.each.insert(gate, switch);
        self
    }

    /// Checks whether `gate` asks people.
    pub fn asks(&self, gate: &Gate) -> bool {
        self.all && self.each.get(gate) != Some(&GateSwitch::Off)
    }
}

impl std::str::FromStr for Gates {
    type Err = UnknownGate;

    /// Reads `all`, `none`, or names of gates with commas between them.
    fn from_str(text: &str) -> Result<Self, UnknownGate> {
        match text.trim() {
            "all" => return Ok(Self::all(true)),
            "none" => return Ok(Self::all(false)),
            _ => {}
        }
        let gate = |name: &str| {
            let name = name.trim();
            let named = Gate::NAMED.into_iter().find(|gate| gate.to_string() == name);
            named.ok_or_else(|| UnknownGate(name.to_owned()))
        };
        let gates = text.split(',').map(gate).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::only(gates))
    }
}
