//! The people who may answer a request, and the one who did.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// The people who may answer a request: those of these names, and those who have one of these roles. An empty one is everybody.
///
/// ```
/// use hanok_core::{Answerer, Audience};
///
/// let audience = Audience::everybody().role("approver").name("ann");
/// let bob = Answerer::new("bob", "http");
/// assert!(!audience.admits(Some(&bob)));
/// assert!(audience.admits(Some(&bob.role("approver"))));
/// assert!(audience.admits(Some(&Answerer::new("ann", "terminal"))));
/// assert!(!audience.admits(None));
/// assert!(Audience::everybody().admits(None));
/// assert_eq!(audience.to_string(), "`ann`, or whoever is `approver`");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
pub struct Audience {
    /// The names.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub names: BTreeSet<String>,
    /// The roles.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub roles: BTreeSet<String>,
}

impl Audience {
    /// Everybody.
    pub fn everybody() -> Self {
        Self::default()
    }

    /// Admits whoever is called `name`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.names.insert(name.into());
        self
    }

    /// Admits whoever has the role `role`.
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.roles.insert(role.into());
        self
    }

    /// Checks whether it is everybody.
    pub fn is_everybody(&self) -> bool {
        self.names.is_empty() && self.roles.is_empty()
    }

    /// Checks whether `answerer` belongs to it. An unnamed answerer belongs to everybody alone.
    pub fn admits(&self, answerer: Option<&Answerer>) -> bool {
        let is_one = |answerer: &Answerer| {
            self.names.contains(&answerer.name) || !self.roles.is_disjoint(&answerer.roles)
        };
        self.is_everybody() || answerer.is_some_and(is_one)
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |texts: &BTreeSet<String>| {
            let quoted: Vec<_> =
                texts.iter().map(|text| format!("`{}`", text.escape_debug())).collect();
            quoted.join(" or ")
        };
        match (self.names.is_empty(), self.roles.is_empty()) {
            (true, true) => f.write_str("everybody"),
            (false, true) => f.write_str(&all(&self.names)),
            (true, false) => write!(f, "whoever is {}", all(&self.roles)),
            (false, false) => write!(f, "{}, or whoever is {}", all(&self.names), all(&self.roles)),
        }
    }
}

/// The person who gives an answer, as whoever lets them in names them. Nothing here checks that they are who they say.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[must_use]
pub struct Answerer {
    /// The name.
    pub name: String,
    /// The roles.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub roles: BTreeSet<String>,
    /// The channel through which the answer came: `terminal`, `http`, `cli`.
    pub channel: String,
}

impl Answerer {
    /// The person `name`, without a role, who answers through `channel`.
    pub fn new(name: impl Into<String>, channel: impl Into<String>) -> Self {
        Self { name: name.into(), roles: BTreeSet::new(), channel: channel.into() }
    }

    /// Adds a role.
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.roles.insert(role.into());
        self
    }
}

impl fmt::Display for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name.escape_debug())
    }
}
