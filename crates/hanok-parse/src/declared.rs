//! What may be called.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// The tools and agents that a text may call. Built once per agent.
///
/// Names are compared byte for byte, after decoration such as quotes and bold is trimmed: a look-alike letter or an
/// invisible character makes another name.
///
/// ```
/// use hanok_parse::{Declared, Format, ParamType, Parser};
///
/// let declared = Declared::new()
///     .tool_with("find", [("query".to_owned(), ParamType::String, true)])
///     .tool_with("now", [])
///     .agent("legal-review");
///
/// let parser = Parser::new(declared).asked([Format::React]);
/// let reply = parser.parse("Action: **find**\nAction Input: annual leave");
/// assert_eq!(reply.calls[0].arguments.as_str(), r#"{"query":"annual leave"}"#);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Declared {
    any: bool,
    tools: BTreeMap<String, Option<Vec<Param>>>,
    agents: BTreeSet<String>,
}

/// The type of a parameter, as JSON Schema names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParamType {
    /// A string.
    String,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object,
    /// An array.
    Array,
    /// `null`.
    Null,
    /// Several types, or none stated.
    Any,
    /// A string, or `null`.
    NullableString,
}

/// A parameter of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) kind: ParamType,
    /// `null` may stand for it.
    pub(crate) nullable: bool,
    pub(crate) required: bool,
    /// The types of what stands in it.
    pub(crate) inner: Inner,
}

/// The types of the members of an object, and of the items of an array, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inner {
    pub(crate) members: Vec<Param>,
    pub(crate) items: Option<Box<Param>>,
    /// No other type of a union could be meant, so that a member of another type is wrong, and an item.
    pub(crate) sure_members: bool,
    pub(crate) sure_items: bool,
}

impl Declared {
    /// Nothing may be called.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The names are not known: every name counts that has no control or invisible characters.
    ///
    /// For texts whose caller checks the names. An agent that runs what it reads declares its tools.
    #[must_use]
    pub fn any() -> Self {
        Self { any: true, ..Self::default() }
    }

    /// A tool whose parameters are not known: its arguments have to be a JSON object.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.tools.insert(name.into(), None);
        self
    }

    /// A tool with its parameters: name, type, and whether it is required.
    ///
    /// Plain text in place of arguments is the value of the only string parameter, when no other one is required and none
    /// could take text.
    /// A tool without parameters needs no arguments.
    #[must_use]
    pub fn tool_with(
        mut self,
        name: impl Into<String>,
        params: impl IntoIterator<Item = (String, ParamType, bool)>,
    ) -> Self {
        let params = params.into_iter().map(|(name, kind, required)| Param {
            name,
            kind,
            nullable: !required,
            required,
            inner: Inner::default(),
        });
        self.tools.insert(name.into(), Some(params.collect()));
        self
    }

    pub(crate) fn with_params(mut self, name: String, params: Vec<Param>) -> Self {
        self.tools.insert(name, Some(params));
        self
    }

    /// An agent that tasks can be delegated to.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agents.insert(name.into());
        self
    }

    /// The names of the tools, sorted.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The names of the agents, sorted.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(String::as_str)
    }

    pub(crate) fn is_any(&self) -> bool {
        self.any
    }

    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    pub(crate) fn has_agent(&self, name: &str) -> bool {
        self.agents.contains(name)
    }

    /// Whether the tool is known to take no parameters.
    pub(crate) fn takes_nothing(&self, tool: &str) -> bool {
        matches!(self.tools.get(tool), Some(Some(params)) if params.is_empty())
    }

    /// Whether the tool is known to require a parameter.
    pub(crate) fn requires_input(&self, tool: &str) -> bool {
        let params = self.tools.get(tool).and_then(Option::as_ref);
        params.is_some_and(|params| params.iter().any(|param| param.required))
    }

    /// The parameters of a tool, where they are known.
    pub(crate) fn params(&self, tool: &str) -> &[Param] {
        self.tools.get(tool).and_then(Option::as_deref).unwrap_or_default()
    }

    /// The type of a tool's parameter, where it is known.
    pub(crate) fn param(&self, tool: &str, name: &str) -> Option<ParamType> {
        let params = self.tools.get(tool)?.as_ref()?;
        params.iter().find(|param| param.name == name).map(|param| param.kind)
    }

    /// The type of what stands at the end of `path` in a tool's arguments, where it is known. An item of an array has no key.
    pub(crate) fn at<'p>(
        &self,
        tool: &str,
        mut path: impl Iterator<Item = Option<&'p str>>,
    ) -> Option<ParamType> {
        let named = |params: &'_ [Param], key: &str| params.iter().position(|one| one.name == key);
        let params = self.params(tool);
        let mut param = params.get(named(params, path.next()??)?)?;
        for key in path {
            let Inner { members, items, .. } = &param.inner;
            param = match key {
                Some(key) => members.get(named(members, key)?)?,
                None => items.as_deref()?,
            };
        }
        Some(param.kind)
    }

    /// The parameter of a tool that has one.
    pub(crate) fn only_param(&self, tool: &str) -> Option<&str> {
        match self.tools.get(tool)?.as_deref()? {
            [only] => Some(only.name.as_str()),
            _ => None,
        }
    }

    /// The parameter that plain text goes to: the only string, when no other one is required and none could take text.
    pub(crate) fn text_param(&self, tool: &str) -> Option<&str> {
        let params = self.tools.get(tool)?.as_ref()?;
        let mut strings = params.iter().filter(|param| param.kind == ParamType::String);
        let only = strings.next()?;
        let others = params.iter().filter(|param| param.kind != ParamType::String);
        let alone = strings.next().is_none()
            && others.into_iter().all(|param| !param.required && !may_be_text(param.kind));
        alone.then_some(only.name.as_str())
    }
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum CallKind {
    /// A tool.
    Tool,
    /// Another agent, which gets a task.
    Delegate,
}

/// Whether words may stand for a parameter of this type, beside others.
fn may_be_text(kind: ParamType) -> bool {
    matches!(kind, ParamType::Any | ParamType::NullableString)
}
