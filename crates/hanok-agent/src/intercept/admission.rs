//! Whether a call is made: the interceptors judge it, and a person is asked where one of them wants it.
//!
//! Each judgement is a memoised step, and it is stored before anybody is asked. So what a question is about, which interceptor
//! asks it and what may be decided stay as they were, whatever the interceptors of the process that goes on say: they judge the
//! call again only after the person has let it pass, and can then stop it, but not make what was rejected. A call of a tool whose
//! definition has changed meanwhile is asked about anew: what the person let pass was another.

use std::sync::Arc;

use hanok_core::{Ask, AskError, Audience, BoxFuture, Call, Gate, Request, Stored, Timestamp};
use hanok_graph::{Context, StepError};
use hanok_model::{ToolError, ToolOutput};
use hanok_state::{Arguments, ToolCall};
use serde::{Deserialize, Serialize};

use super::{
    SharedInterceptor, ToolRequest, Verdict,
    approval::{
        ApprovalRequest, ApprovalTerms, Decision,
        overdue::{Escalation, Overdue},
        question::DecisionQuestion,
    },
};
use crate::{
    audit::pass::{CALL, PassReason, Passed},
    digest::digest,
    prompt,
    tool_index::entry::definition_hash,
    tools::{execution::suspends, registry::Registered},
};

/// The rule by which people are asked about a call that a model may have quoted.
const UNMARKED: &str = "unmarked_call";

/// The most changes of one call's arguments that no person has seen.
const CHANGES: usize = 8;

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Admitted {
    /// It is made.
    Make,
    /// It is made with these arguments, if they fit the tool.
    Change(Arguments),
    /// It is not made, for this reason.
    Refuse(String),
    /// It is not made, for a person rejected it, now or before in the turn.
    Reject(String),
    /// It is not made, and this is its result.
    Give(ToolOutput),
}

/// The judgement of all interceptors, as its step stores it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Judgement {
    Make,
    Change(Arguments),
    /// It is made, with these arguments, and a person would be asked but for this. The audit reads it.
    Pass {
        arguments: Arguments,
        passed: Passed,
    },
    Refuse(String),
    Give(ToolOutput),
    Ask(Box<Question>),
}

/// The question that a judgement leaves to a person.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Question {
    shown: ApprovalRequest,
    /// The hash of the tool's definition: a decision counts for the tool as it was.
    #[serde(default)]
    definition: Option<String>,
    /// The JSON schema of the answers.
    answers: String,
    deadline: Option<Timestamp>,
    /// Those who may answer, and then others.
    #[serde(default)]
    audience: Audience,
    #[serde(default)]
    escalations: Vec<Escalation>,
    #[serde(default)]
    overdue: Overdue,
    /// The interceptor that changed the arguments last.
    changed_by: Option<String>,
}

/// The arguments of a call after the judgements so far.
#[derive(Debug, Default)]
struct Standing {
    /// The interceptor that gave the arguments. It does not change them again.
    changed_by: Option<String>,
    /// The interceptors whose questions about these very arguments a person has answered with yes.
    approved: Vec<String>,
}

impl Standing {
    /// Other arguments, of an interceptor.
    fn changed(by: String) -> Self {
        Self { changed_by: Some(by), approved: Vec::new() }
    }
}

/// Decides on `request`, a call of `tool`, once and for all of the task's runs.
///
/// # Errors
///
/// [`StepError::Failed`] with [`ToolError::Waiting`] while a person has to answer, and with what else suspends a call.
pub(crate) async fn admit<C>(
    context: &Context<C>,
    interceptors: &[SharedInterceptor],
    tool: &Registered,
    mut request: ToolRequest<'_>,
    call: &Call,
) -> Result<Admitted, StepError> {
    let language = request.turn.language;
    if request.turn.usage.was_rejected(&request.call) {
        return Ok(Admitted::Reject(prompt::rejected_before(language).to_owned()));
    }
    let (id, written) = (request.call.id.clone(), request.call.arguments.clone());
    let mut standing = Standing::default();
    let mut approved: Option<Question> = None;
    for round in 0_u32.. {
        let step = format!("{CALL}{round}-{id}");
        let judgement =
            match interceptors {
                // Nobody judges here, but an earlier process may have asked.
                [] if !request.is_unmarked => context.memoised(&step)?.unwrap_or(Judgement::Make),
                _ => {
                    let judging =
                        async || match judge(interceptors, tool, request.clone(), &standing, call)
                            .await
                        {
                            Err(error) if !suspends(&error) => {
                                Ok(Judgement::Refuse(error.report()))
                            }
                            judgement => judgement,
                        };
                    context.step(&step, judging).await?
                }
            };
        let question = match judgement {
            Judgement::Make => return Ok(made(request.call.arguments, &written)),
            Judgement::Pass { arguments, .. } if arguments == request.call.arguments => {
                return Ok(made(arguments, &written));
            }
            // What a person has let pass were other arguments, and nobody else asks about these.
            Judgement::Change(arguments) | Judgement::Pass { arguments, .. } => match &approved {
                Some(question) if tool.fits(&arguments) => question.about(arguments),
                _ => return Ok(Admitted::Change(arguments)),
            },
            Judgement::Refuse(reason) => return Ok(Admitted::Refuse(reason)),
            Judgement::Give(output) => return Ok(Admitted::Give(output)),
            Judgement::Ask(question) => *question,
        };
        let by = question.shown.rule.clone();
        standing.changed_by.clone_from(&question.changed_by);
        if request.call.arguments != question.shown.arguments {
            request.call.arguments = question.shown.arguments.clone();
            standing.approved.clear();
        }
        let decision = question.put(call).await;
        // The tool is another by now, so the person is asked anew, by the rules that there are.
        let allows = matches!(&decision, Ok(Decision::Approve | Decision::Edit { .. }));
        if allows && question.is_of_other(&request) {
            continue;
        }
        match decision {
            Ok(Decision::Approve) => {
                standing.approved.push(by);
                approved = Some(question);
            }
            Ok(Decision::Edit { arguments }) => {
                request.call.arguments = Arguments::new(arguments.0.to_string());
                standing = Standing { changed_by: None, approved: vec![by] };
                approved = Some(question.about(request.call.arguments.clone()));
            }
            Ok(Decision::Reject { message }) => {
                return Ok(Admitted::Reject(prompt::rejected(message.as_deref(), language)));
            }
            Ok(Decision::Skip { message }) => {
                return Ok(Admitted::Refuse(prompt::skipped(message.as_deref(), language)));
            }
            // No call is made anew by itself: the model reads what has to be other.
            Ok(Decision::Revise { message }) => {
                return Ok(Admitted::Reject(prompt::rejected(Some(&message), language)));
            }
            Ok(Decision::Reuse { id }) => {
                let reason = format!("there is no earlier answer `{id}` for a call");
                return Ok(Admitted::Refuse(reason));
            }
            Ok(Decision::Respond { result }) => return Ok(Admitted::Give(ToolOutput::new(result))),
            Err(AskError::Expired(request)) => {
                return match question.overdue {
                    Overdue::Halt => {
                        let expired = ToolError::Waiting(AskError::Expired(request));
                        Err(StepError::Failed(expired.into()))
                    }
                    Overdue::Skip => Ok(Admitted::Refuse(prompt::left_out(language).to_owned())),
                    Overdue::Reject => {
                        Ok(Admitted::Refuse(prompt::unanswered(language).to_owned()))
                    }
                };
            }
            Err(error) => match ToolError::Waiting(error) {
                error if suspends(&error) => return Err(StepError::Failed(error.into())),
                error => return Ok(Admitted::Refuse(error.report())),
            },
        }
    }
    Ok(Admitted::Refuse("it was judged without end".to_owned()))
}

/// A call that nobody stops, as it was written or changed.
fn made(arguments: Arguments, written: &Arguments) -> Admitted {
    if arguments == *written { Admitted::Make } else { Admitted::Change(arguments) }
}

/// The judgement on `request`: the first verdict that is not to make the call, or the arguments that all have judged but the
/// one that gave them.
async fn judge(
    interceptors: &[SharedInterceptor],
    tool: &Registered,
    mut request: ToolRequest<'_>,
    standing: &Standing,
    call: &Call,
) -> Result<Judgement, ToolError> {
    let call = &call.clone().ask(Arc::new(NobodyHere));
    let written = request.call.arguments.clone();
    let mut changed: Option<Standing> = None;
    for _ in 0..=CHANGES {
        let standing = changed.as_ref().unwrap_or(standing);
        // Other arguments are judged by all anew.
        let mut passes = Vec::new();
        let verdict = verdict(interceptors, &request, standing, &mut passes, call).await?;
        let Some((by, verdict)) = verdict else {
            if !passes.is_empty() {
                let passed = passed(&request, passes);
                return Ok(Judgement::Pass { arguments: request.call.arguments, passed });
            }
            return Ok(match request.call.arguments == written {
                true => Judgement::Make,
                false => Judgement::Change(request.call.arguments),
            });
        };
        match verdict {
            Verdict::Change(arguments) if !tool.fits(&arguments) => {
                return Ok(Judgement::Change(arguments));
            }
            Verdict::Change(arguments) => {
                request.call.arguments = arguments;
                changed = Some(Standing::changed(by));
            }
            Verdict::Ask(terms) => {
                let changed_by = standing.changed_by.clone();
                let question = Question::new(&request, by, terms, changed_by, call);
                return Ok(Judgement::Ask(Box::new(question)));
            }
            Verdict::Refuse(reason) => return Ok(Judgement::Refuse(reason)),
            Verdict::Give(output) => return Ok(Judgement::Give(output)),
            Verdict::Make | Verdict::Pass(_) => {}
        }
    }
    Ok(Judgement::Refuse("its arguments were changed again and again".to_owned()))
}

/// What the audit says of a call that nobody was asked about.
fn passed(request: &ToolRequest<'_>, reasons: Vec<PassReason>) -> Passed {
    Passed {
        gate: Gate::Tool,
        about: request.call.name.clone(),
        digest: digest(request.call.arguments.as_str()),
        risk: request.effect.into(),
        reasons,
    }
}

/// The first verdict that is not to make the call as it is, and whose it is. `passes` are those that would have asked.
async fn verdict(
    interceptors: &[SharedInterceptor],
    request: &ToolRequest<'_>,
    standing: &Standing,
    passes: &mut Vec<PassReason>,
    call: &Call,
) -> Result<Option<(String, Verdict)>, ToolError> {
    for (index, interceptor) in interceptors.iter().enumerate() {
        let by = identity(interceptors, index);
        if standing.changed_by.as_ref() == Some(&by) {
            continue;
        }
        match interceptor.0.admit_boxed(request, call).await? {
            Verdict::Make => {}
            Verdict::Pass(reason) => passes.push(PassReason { rule: by, reason }),
            Verdict::Change(arguments) if arguments == request.call.arguments => {}
            Verdict::Ask(_) if standing.approved.contains(&by) => {}
            verdict => return Ok(Some((by, verdict))),
        }
    }
    // What a model may have quoted is made by nobody's word but a person's.
    if request.is_unmarked && standing.approved.is_empty() {
        let terms = ApprovalTerms {
            description: Some(prompt::may_be_quoted(request.turn.language).to_owned()),
            may_stand: false,
            ..ApprovalTerms::default()
        };
        return Ok(Some((UNMARKED.to_owned(), Verdict::Ask(terms))));
    }
    Ok(None)
}

/// What the interceptor at `index` is called in a stored judgement: its name, counted where several have it.
fn identity(interceptors: &[SharedInterceptor], index: usize) -> String {
    let name = interceptors.get(index).map_or("", |interceptor| interceptor.0.name());
    let before = interceptors.iter().take(index).filter(|other| other.0.name() == name).count();
    match before {
        0 => name.to_owned(),
        before => format!("{name} {}", before + 1),
    }
}

impl Question {
    fn new(
        request: &ToolRequest<'_>,
        rule: String,
        terms: ApprovalTerms,
        changed_by: Option<String>,
        call: &Call,
    ) -> Self {
        let ToolCall { id: call_id, name: tool, arguments } = request.call.clone();
        let shown = ApprovalRequest {
            rule,
            agent: request.turn.agent.to_owned(),
            call_id,
            tool,
            bytes: arguments.as_str().len(),
            digest: digest(arguments.as_str()),
            arguments,
            description: terms.description,
            risk: terms.risk.unwrap_or_else(|| request.effect.into()),
            revision: terms.revision,
            allowed: terms.allowed,
            may_stand: terms.may_stand,
        };
        Self {
            definition: Some(definition_hash(request.spec)),
            answers: shown.answers(request.spec.schema()).to_string(),
            deadline: terms.within.map(|within| call.clock().now().plus(within)),
            audience: terms.audience,
            escalations: terms.escalations,
            overdue: terms.overdue,
            shown,
            changed_by,
        }
    }

    /// The same about other arguments, for which the description was not written.
    fn about(&self, arguments: Arguments) -> Self {
        let shown = ApprovalRequest {
            bytes: arguments.as_str().len(),
            digest: digest(arguments.as_str()),
            arguments,
            description: None,
            ..self.shown.clone()
        };
        let answers = self.answers.replace(&self.shown.digest, &shown.digest);
        Self { shown, answers, changed_by: None, ..self.clone() }
    }

    /// Whether it was about another definition of the tool.
    fn is_of_other(&self, request: &ToolRequest<'_>) -> bool {
        self.definition.as_ref().is_some_and(|it| *it != definition_hash(request.spec))
    }

    /// Asks the people, and reads the answer.
    async fn put(&self, call: &Call) -> Result<Decision, AskError> {
        let ApprovalRequest { digest, allowed, .. } = &self.shown;
        let question = DecisionQuestion::new(
            &self.shown,
            "a decision about this call",
            digest,
            allowed,
            &self.answers,
        )?;
        question.decide(call, &self.audience, self.deadline, &self.escalations).await
    }
}

/// Answers an interceptor that asks by itself: its question would be judged by the interceptors of the process that goes on.
struct NobodyHere;

impl Ask for NobodyHere {
    fn ask(&self, _: Request) -> BoxFuture<'_, Result<Stored, AskError>> {
        let reason = "an interceptor that judges a call asks by `Verdict::Ask`";
        Box::pin(std::future::ready(Err(AskError::Nobody { reason })))
    }
}
