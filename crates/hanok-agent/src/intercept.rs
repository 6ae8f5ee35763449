//! Interceptors of the calls of models and tools.
//!
//! | files | what they hold |
//! | --- | --- |
//! | `chain` | the rest of a call behind an interceptor |
//! | `admission` | the verdict of all interceptors on a call of a tool, and the question to a person |
//! | `approval`, `capability`, `call_limits` | decisions about a call of a tool before it is made |
//! | `retrying`, `fallback`, `breaker`, `attempt` | other attempts at a call that failed, or none |
//! | `redaction`, `cache` | requests and replies that are changed or remembered |
//! | `intercepted` | a model with interceptors around it, outside an agent |
//!
//! An interceptor sees one call and the [`TurnContext`]; it knows neither the nodes nor the settings. The nodes call the
//! chain, and the chain calls the tool or the model at its end.

pub(crate) mod admission;
pub(crate) mod approval;
mod attempt;
pub(crate) mod breaker;
pub(crate) mod cache;
pub(crate) mod call_limits;
pub(crate) mod capability;
pub(crate) mod chain;
pub(crate) mod fallback;
pub(crate) mod intercepted;
pub(crate) mod redaction;
pub(crate) mod retrying;

use std::{fmt, sync::Arc};

use hanok_core::{BoxFuture, Call, Effect};
use hanok_model::{
    ChatReply, ChatRequest, ModelError, SharedTool, ToolError, ToolOutput, ToolSpec,
};
use hanok_parse::Language;
use hanok_state::{Arguments, Messages, ToolCall};

use self::{
    approval::ApprovalTerms,
    chain::{NextModel, NextTool},
};
use crate::{type_name::type_name, usage::TurnUsage};

/// An interceptor of the calls of an agent's model and tools. It may change the request and the result, call again, call
/// another model, or not call at all.
///
/// All methods hand on by default: write the one that you need. The interceptor that was
/// [added](crate::ReactAgentBuilder::intercept) first is the outermost: it sees a request first and its reply last.
///
/// | method | stands around | runs |
/// | --- | --- | --- |
/// | [`admit`](Self::admit) | the decision whether a call of a tool is made | before the call, until all have a verdict; it may have a person asked |
/// | [`around_tool`](Self::around_tool) | the call of a tool that is made, its time-out included | within the memoised step of the call |
/// | [`around_model`](Self::around_model) | the call of the model | within the memoised step of the call |
///
/// A verdict, a reply and a result are memoised as they came out of the outermost interceptor. A run that resumes after a
/// crash reads them and asks no interceptor again; a call without a verdict or a result passes all of them again. A call that is not
/// valid (a tool that nobody has, arguments that do not fit) comes to no interceptor and is an observation for the model; a call of a
/// tool that the agent has not comes to [`unregistered`](Self::unregistered) first.
///
/// ```
/// use hanok_agent::{Interceptor, NextModel};
/// use hanok_core::Call;
/// use hanok_model::{ChatReply, ChatRequest, ModelError};
///
/// /// Asks with the words of the system prompt alone, and at most so many tokens.
/// #[derive(Debug)]
/// struct Short(u32);
///
/// impl Interceptor for Short {
///     async fn around_model(
///         &self,
///         request: ChatRequest,
///         call: &Call,
///         next: NextModel<'_>,
///     ) -> Result<ChatReply, ModelError> {
///         next.run(request.max_tokens(self.0), call).await
///     }
/// }
/// ```
pub trait Interceptor: fmt::Debug + Send + Sync + 'static {
    /// Names it in the questions that it asks and in what is stored of them. Default: the name of its type, without its module and
    /// its parameters.
    ///
    /// A run that goes on in another build finds it by this name, so give one to an interceptor that asks or changes calls.
    fn name(&self) -> &str {
        type_name::<Self>()
    }

    /// Gives the tool for a call that names none of the agent's. The first interceptor that gives one is taken; its call is
    /// checked, judged and made like every other. Default: none, and the model reads that there is no such tool.
    ///
    /// ```
    /// use hanok_agent::Interceptor;
    /// use hanok_core::Call;
    /// use hanok_model::{FnTool, SharedTool, ToolError, ToolSpec};
    /// use hanok_state::ToolCall;
    /// use serde_json::json;
    ///
    /// /// Answers for tools that were there once.
    /// #[derive(Debug)]
    /// struct Former;
    ///
    /// impl Interceptor for Former {
    ///     async fn unregistered(&self, call: &ToolCall, _: &Call) -> Result<Option<SharedTool>, ToolError> {
    ///         let spec = ToolSpec::new(call.name.as_str(), "gone", json!({})).map_err(ToolError::failed)?;
    ///         let gone = FnTool::untyped(spec, |_, _| async { Ok("This tool is gone. Use `search`.".into()) });
    ///         Ok(Some(SharedTool::new(gone)))
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As those of [`admit`](Self::admit).
    fn unregistered(
        &self,
        tool_call: &ToolCall,
        call: &Call,
    ) -> impl Future<Output = Result<Option<SharedTool>, ToolError>> + Send {
        let (_, _) = (tool_call, call);
        std::future::ready(Ok(None))
    }

    /// Whether [`unregistered`](Self::unregistered) may give tools. A catalogue offers what the agent has not itself only then: else
    /// a model would be offered tools that it cannot call. Default: false.
    fn has_tools(&self) -> bool {
        false
    }

    /// Decides on a call of a tool before it is made. The first verdict that is not to make the call holds. When one changes
    /// the arguments, all the others judge the changed call: nothing is made that one of them has not seen.
    ///
    /// [`Verdict::Ask`] leaves the decision to a person, and is stored before they are asked. When they let the call pass, all
    /// judge it once more; that the same interceptor asks about the same arguments is answered then. It cannot ask by
    /// [`Call::question`] here.
    ///
    /// # Errors
    ///
    /// [`ToolError::OverBudget`] ends the run, and [`ToolError::Cancelled`] suspends it. Any other error refuses the call.
    fn admit(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
    ) -> impl Future<Output = Result<Verdict, ToolError>> + Send {
        let (_, _) = (request, call);
        std::future::ready(Ok(Verdict::Make))
    }

    /// Stands around a call of a tool that is made, as it was admitted: what a person approved is what runs.
    ///
    /// # Errors
    ///
    /// [`ToolError`], which is then handled as the tool's own.
    fn around_tool(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
        next: NextTool<'_>,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send {
        let _ = request;
        async move { next.run(call).await }
    }

    /// Stands around a call of the model.
    ///
    /// # Errors
    ///
    /// [`ModelError`], which is then handled as the model's own.
    fn around_model(
        &self,
        request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> impl Future<Output = Result<ChatReply, ModelError>> + Send {
        async move { next.run(request, call).await }
    }
}

/// Any [`Interceptor`], chosen at run time. Clones are the same one.
///
/// ```
/// use hanok_agent::{CallLimits, Retrying, SharedInterceptor};
///
/// let careful = true;
/// let interceptor = match careful {
///     true => SharedInterceptor::new(CallLimits::new().tool_calls(20)),
///     false => SharedInterceptor::new(Retrying::attempts(3)),
/// };
/// # drop(interceptor);
/// ```
#[derive(Debug, Clone)]
pub struct SharedInterceptor(Arc<dyn Erased>);

impl SharedInterceptor {
    /// Shares `interceptor`.
    pub fn new(interceptor: impl Interceptor) -> Self {
        Self(Arc::new(interceptor))
    }

    pub(crate) fn has_tools(&self) -> bool {
        self.0.has_tools()
    }

    pub(crate) async fn unregistered_tool(
        &self,
        tool_call: &ToolCall,
        call: &Call,
    ) -> Result<Option<SharedTool>, ToolError> {
        self.0.unregistered_boxed(tool_call, call).await
    }
}

/// The decision of an interceptor about a call of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is made.
    Make,
    /// It is made without the person who would be asked, for this reason: a rule of theirs, or what their decisions have taught. The
    /// other interceptors judge it all the same, and [the audit](crate::AuditEvent::Passed) has the reason.
    Pass(String),
    /// It is made with these arguments, if they fit the tool. The observation names them.
    Change(Arguments),
    /// It is not made, for this reason, which the model reads.
    Refuse(String),
    /// It is not made, and this is its result.
    Give(ToolOutput),
    /// A person decides ([`Decision`](crate::Decision)). The question is stored before it is asked.
    Ask(ApprovalTerms),
}

/// The turn that a call belongs to.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TurnContext<'a> {
    /// The agent, empty outside one.
    pub agent: &'a str,
    /// The usage of the turn before this call.
    pub usage: &'a TurnUsage,
    /// The language of what is said to the model.
    pub language: Language,
}

/// A call of a tool that a model asks for. The tool is there, and the arguments fit it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolRequest<'a> {
    /// The call.
    pub call: ToolCall,
    /// The tool as the model sees it.
    pub spec: &'a ToolSpec,
    /// The effect of the call on the world.
    pub effect: Effect,
    /// The conversation, to the reply that asks for the call.
    pub messages: &'a Messages,
    /// The calls that stand before it in the same reply.
    pub before: &'a [ToolCall],
    /// True where the model wrote it as text without a mark, as it would quote one, and the tool may write
    /// ([`text_calls`](crate::ReactAgentBuilder::text_calls)). A person is asked about it, whatever the interceptors say.
    pub is_unmarked: bool,
    /// The turn.
    pub turn: TurnContext<'a>,
}

trait Erased: fmt::Debug + Send + Sync {
    fn name(&self) -> &str;

    fn has_tools(&self) -> bool;

    fn unregistered_boxed<'a>(
        &'a self,
        tool_call: &'a ToolCall,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Option<SharedTool>, ToolError>>;

    fn admit_boxed<'a>(
        &'a self,
        request: &'a ToolRequest<'_>,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Verdict, ToolError>>;

    fn around_tool_boxed<'a>(
        &'a self,
        request: &'a ToolRequest<'_>,
        call: &'a Call,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;

    fn around_model_boxed<'a>(
        &'a self,
        request: ChatRequest,
        call: &'a Call,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>>;
}

impl<I: Interceptor> Erased for I {
    fn name(&self) -> &str {
        Interceptor::name(self)
    }

    fn has_tools(&self) -> bool {
        Interceptor::has_tools(self)
    }

    fn unregistered_boxed<'a>(
        &'a self,
        tool_call: &'a ToolCall,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Option<SharedTool>, ToolError>> {
        Box::pin(self.unregistered(tool_call, call))
    }

    fn admit_boxed<'a>(
        &'a self,
        request: &'a ToolRequest<'_>,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Verdict, ToolError>> {
        Box::pin(self.admit(request, call))
    }

    fn around_tool_boxed<'a>(
        &'a self,
        request: &'a ToolRequest<'_>,
        call: &'a Call,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.around_tool(request, call, next))
    }

    fn around_model_boxed<'a>(
        &'a self,
        request: ChatRequest,
        call: &'a Call,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.around_model(request, call, next))
    }
}
