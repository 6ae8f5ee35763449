//! A policy on the calls of an agent, whatever its model writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use hanok_core::{Call, Effect};
use hanok_model::ToolError;
use hanok_state::Message;
use serde_json::Value;

use super::{Interceptor, ToolRequest, Verdict, approval::ApprovalRule};
use crate::{conversation, prompt};

type Check = Arc<dyn Fn(&Value) -> Result<(), String> + Send + Sync>;
type Untrusted = Arc<dyn Fn(&Message) -> bool + Send + Sync>;

/// A policy on the calls of an agent, enforced here and not by its model.
///
/// - **Tools**: those that are [declared](Self::only), though more are registered.
/// - **Arguments**: each call has to pass the [checks](Self::arguments) of its tool.
/// - **Taint**: once the conversation holds something that was not written by the user or the service, a call that changes
///   the world is approved by a person ([`Approval`](super::approval::Approval)), or [refused](Self::refuse_after_untrusted).
///
/// Untrusted are the results of all tools but [those that are trusted](Self::trust), whatever stands between [data
/// marks](crate::DataMark), summaries, and tasks of another agent. The taint lasts as long as the messages are in the
/// conversation. A call changes the world unless its tool is [`Effect::Pure`]; one that sends its arguments away is to be
/// [declared](Self::side_effect).
///
/// A call that [`Approval`](super::approval::Approval) has approved is approved here once more where this policy wants it: name
/// a tool in one of the two. Hand-offs are tools, too: those that [`only`](Self::only) does not name are not made.
///
/// ```
/// use hanok_agent::{CapabilityPolicy, ReactAgent};
/// use hanok_model::ScriptedModel;
///
/// let policy = CapabilityPolicy::new()
///     .only(["search", "calculator", "send_mail"])
///     .arguments("send_mail", |mail| match mail["to"].as_str() {
///         Some(to) if to.ends_with("@example.com") => Ok(()),
///         _ => Err("mail goes to example.com only".to_owned()),
///     })
///     .trust(["calculator"]);
/// let agent = ReactAgent::builder("mail", "Writes mail", ScriptedModel::new([]))
///     .intercept(policy)
///     .build()?;
/// # Ok::<(), hanok_agent::AgentBuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct CapabilityPolicy {
    only: Option<BTreeSet<String>>,
    arguments: BTreeMap<String, Vec<Check>>,
    trusted: BTreeSet<String>,
    trusts_tasks: bool,
    untrusted: Option<Untrusted>,
    side_effects: BTreeSet<String>,
    free: BTreeSet<String>,
    after: AfterUntrusted,
}

/// The effect of untrusted content on a later call that changes the world.
#[derive(Debug, Clone)]
enum AfterUntrusted {
    Approve(Box<ApprovalRule>),
    Refuse,
}

impl Default for CapabilityPolicy {
    fn default() -> Self {
        Self {
            only: None,
            arguments: BTreeMap::new(),
            trusted: BTreeSet::new(),
            trusts_tasks: false,
            untrusted: None,
            side_effects: BTreeSet::new(),
            free: BTreeSet::new(),
            after: AfterUntrusted::Approve(Box::default()),
        }
    }
}

fn names<S: Into<String>>(names: impl IntoIterator<Item = S>) -> impl Iterator<Item = String> {
    names.into_iter().map(Into::into)
}

impl CapabilityPolicy {
    /// All tools, with any arguments; what changes the world after untrusted content is approved.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the tools that may be called. Default: all tools of the agent.
    ///
    /// ```
    /// use hanok_agent::CapabilityPolicy;
    ///
    /// // More tools are registered than this agent may call.
    /// let reader = CapabilityPolicy::new().only(["search", "read_page"]);
    /// # drop(reader);
    /// ```
    pub fn only<S: Into<String>>(self, tools: impl IntoIterator<Item = S>) -> Self {
        Self { only: Some(names(tools).collect()), ..self }
    }

    /// Checks the arguments of `tool` besides its schema: `check` returns the mistake, in words for
    /// the model. Several checks are all made. Default: nothing.
    ///
    /// ```
    /// use hanok_agent::CapabilityPolicy;
    ///
    /// let policy = CapabilityPolicy::new().arguments("read_file", |file| {
    ///     let inside = file["path"].as_str().is_some_and(|path| path.starts_with("docs/"));
    ///     inside.then_some(()).ok_or_else(|| "only files below docs/ may be read".to_owned())
    /// });
    /// # drop(policy);
    /// ```
    pub fn arguments(
        mut self,
        tool: impl Into<String>,
        check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.arguments.entry(tool.into()).or_default().push(Arc::new(check));
        self
    }

    /// Trusts the results of these tools, which nobody outside can write. Default: none.
    pub fn trust<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.trusted.extend(names(tools));
        self
    }

    /// Trusts the tasks that other agents give, though their models may have read anything. Default: not.
    pub fn trust_tasks(self) -> Self {
        Self { trusts_tasks: true, ..self }
    }

    /// Selects other messages that are untrusted, such as the service's search results. Default: none.
    ///
    /// ```
    /// use hanok_agent::CapabilityPolicy;
    ///
    /// // The service adds search results as messages of this name.
    /// let policy = CapabilityPolicy::new().untrusted(|message| message.name() == Some("search"));
    /// # drop(policy);
    /// ```
    pub fn untrusted(self, is: impl Fn(&Message) -> bool + Send + Sync + 'static) -> Self {
        Self { untrusted: Some(Arc::new(is)), ..self }
    }

    /// Tools that change the world although they are [`Effect::Pure`], such as one that sends its arguments to an address
    /// among them. Default: none.
    ///
    /// ```
    /// use hanok_agent::CapabilityPolicy;
    ///
    /// // Fetching an address sends the address: a page could make the model send secrets.
    /// let policy = CapabilityPolicy::new().side_effect(["fetch"]).refuse_after_untrusted();
    /// # drop(policy);
    /// ```
    pub fn side_effect<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.side_effects.extend(names(tools));
        self
    }

    /// Tools that may be called after untrusted content although they change the world. Default: none.
    pub fn allow_after_untrusted<S: Into<String>>(
        mut self,
        tools: impl IntoIterator<Item = S>,
    ) -> Self {
        self.free.extend(names(tools));
        self
    }

    /// Sets the rule by which calls after untrusted content are approved. Default: all calls, with all decisions.
    ///
    /// ```
    /// use hanok_agent::{ApprovalRule, CapabilityPolicy, DecisionKind};
    ///
    /// let rule = ApprovalRule::new().allow([DecisionKind::Approve, DecisionKind::Reject]);
    /// let policy = CapabilityPolicy::new()
    ///     .trust(["calculator"])
    ///     .allow_after_untrusted(["take_note"])
    ///     .approve_after_untrusted(rule);
    /// # drop(policy);
    /// ```
    pub fn approve_after_untrusted(self, rule: ApprovalRule) -> Self {
        Self { after: AfterUntrusted::Approve(Box::new(rule)), ..self }
    }

    /// Refuses calls that change the world after untrusted content. Default: they are approved.
    pub fn refuse_after_untrusted(self) -> Self {
        Self { after: AfterUntrusted::Refuse, ..self }
    }

    /// The reason that forbids `request`, in words for the model.
    fn forbids(&self, request: &ToolRequest<'_>) -> Option<String> {
        let (name, language) = (&request.call.name, request.turn.language);
        if self.only.as_ref().is_some_and(|only| !only.contains(name)) {
            return Some(prompt::not_permitted(language).to_owned());
        }
        let checks = self.arguments.get(name)?;
        match request.call.arguments.decode::<Value>() {
            Ok(arguments) => checks.iter().find_map(|check| check(&arguments).err()),
            Err(error) => Some(error.to_string()),
        }
    }

    fn is_guarded(&self, request: &ToolRequest<'_>) -> bool {
        let name = &request.call.name;
        let changes = request.effect != Effect::Pure || self.side_effects.contains(name);
        changes && !self.free.contains(name)
    }

    /// True for a message with text that neither the user nor the service wrote.
    fn is_untrusted(&self, message: &Message) -> bool {
        if self.untrusted.as_ref().is_some_and(|is| is(message)) {
            return true;
        }
        conversation::is_marked(message)
            || match conversation::origin(message) {
                conversation::Origin::Tool(name) => !name.is_some_and(|n| self.trusted.contains(n)),
                conversation::Origin::Task => !self.trusts_tasks,
                conversation::Origin::Data => true,
                conversation::Origin::Trusted => false,
            }
    }
}

impl Interceptor for CapabilityPolicy {
    fn name(&self) -> &str {
        "capability_policy"
    }

    async fn admit(&self, request: &ToolRequest<'_>, call: &Call) -> Result<Verdict, ToolError> {
        if let Some(reason) = self.forbids(request) {
            return Ok(Verdict::Refuse(reason));
        }
        let tainted = || request.messages.iter().any(|message| self.is_untrusted(message));
        if !self.is_guarded(request) || !tainted() {
            return Ok(Verdict::Make);
        }
        match &self.after {
            AfterUntrusted::Approve(rule) => match rule.precedent(request, call).await? {
                Some(_) => Ok(Verdict::Make),
                None => Ok(Verdict::Ask(rule.terms(request))),
            },
            AfterUntrusted::Refuse => {
                let reason = prompt::after_untrusted(request.turn.language);
                Ok(Verdict::Refuse(reason.to_owned()))
            }
        }
    }
}

impl fmt::Debug for CapabilityPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CapabilityPolicy")
            .field("only", &self.only)
            .field("arguments", &self.arguments.keys().collect::<Vec<_>>())
            .field("trusted", &self.trusted)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
