//! What a client asks a run for.

use hanok_core::Position;
use hanok_graph::Durability;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{events::Modes, params::listed};
use crate::{
    http::{auth::Role, problem::Problem},
    rows::{
        accept::Multitask,
        request::{Options, Request},
    },
};

/// The body of a request for a run. `null` is as good as nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunBody {
    pub(crate) assistant_id: Option<String>,
    input: Option<Value>,
    command: Option<Command>,
    stream_mode: Option<OneOrMany>,
    stream_subgraphs: Option<bool>,
    config: Option<Config>,
    context: Option<Value>,
    metadata: Option<Map<String, Value>>,
    checkpoint: Option<Checkpoint>,
    checkpoint_id: Option<String>,
    interrupt_before: Option<Nodes>,
    interrupt_after: Option<Nodes>,
    multitask_strategy: Option<Multitask>,
    pub(crate) if_not_exists: Option<IfNotExists>,
    pub(crate) on_disconnect: Option<OnDisconnect>,
    pub(crate) on_completion: Option<OnCompletion>,
    after_seconds: Option<f64>,
    durability: Option<Durability>,
    checkpoint_during: Option<bool>,
}

/// What continues an interrupted thread, or goes elsewhere in it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Command {
    update: Option<Value>,
    resume: Option<Value>,
    goto: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    recursion_limit: Option<u32>,
    configurable: Option<Map<String, Value>>,
    tags: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Checkpoint {
    checkpoint_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Nodes {
    Named(Vec<String>),
    All(#[expect(dead_code, reason = "whatever it says, it is no list")] String),
}

/// What becomes of a thread that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IfNotExists {
    Create,
    Reject,
}

/// What becomes of a run whose reader leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnDisconnect {
    Cancel,
    Continue,
}

/// What becomes of the thread of a run that has named none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnCompletion {
    Delete,
    Keep,
}

impl RunBody {
    /// The modes that are streamed.
    pub(crate) fn modes(&self) -> Result<Modes, Problem> {
        let names = match &self.stream_mode {
            Some(OneOrMany::One(name)) => listed([name.as_str()]),
            Some(OneOrMany::Many(names)) => listed(names.iter().map(String::as_str)),
            None => vec!["values".to_owned()],
        };
        Modes::named(&names, self.stream_subgraphs.unwrap_or_default())
    }

    pub(crate) fn multitask(&self) -> Multitask {
        self.multitask_strategy.unwrap_or_default()
    }

    /// The checkpoint from which the run goes on, if it names one.
    pub(crate) fn checkpoint(&self) -> Option<&str> {
        let of_object = || self.checkpoint.as_ref()?.checkpoint_id.as_deref();
        self.checkpoint_id.as_deref().or_else(of_object)
    }

    /// True if the run begins a turn with an input of its own.
    pub(crate) fn is_new(&self) -> bool {
        self.command.as_ref().is_none_or(Command::is_empty)
            && self.input.as_ref().is_some_and(|input| !input.is_null())
    }

    /// What a caller has to be allowed who asks for that: to answer, to run, or both.
    pub(crate) fn roles(&self) -> Vec<Role> {
        let command = self.command.as_ref();
        let answers = command.is_some_and(|it| it.resume.as_ref().is_some_and(|it| !it.is_null()));
        let only_answers = answers
            && command.is_some_and(|it| {
                [&it.update, &it.goto].iter().all(|part| part.as_ref().is_none_or(Value::is_null))
            });
        let roles = [(Role::Answer, answers), (Role::Run, !only_answers)];
        roles.into_iter().filter(|(_, needed)| *needed).map(|(role, _)| role).collect()
    }

    /// What resumes an interrupted thread, if it does.
    pub(crate) fn resume(&mut self) -> Option<&mut Value> {
        self.command.as_mut()?.resume.as_mut()
    }

    /// Adds to a request what is asked for. `nodes` are those of the graph.
    pub(crate) fn fill(
        self,
        request: &mut Request,
        nodes: impl IntoIterator<Item = String>,
        at: Option<Position>,
    ) -> Result<(), Problem> {
        request.client = json!({
            "input": self.input, "command": self.shown_command(), "multitask_strategy": self.multitask(),
        });
        let is_new = self.is_new();
        let mut replaces = is_new;
        request.input = match self.command {
            Some(command) if !command.is_empty() => {
                replaces |= command.goto.is_some();
                command.into_input()?
            }
            _ if is_new => json!({"new": self.input}),
            _ => json!("resume"),
        };
        let nodes: Vec<String> = nodes.into_iter().collect();
        let stops = |named: Option<Nodes>| match named {
            Some(Nodes::Named(named)) => named,
            Some(Nodes::All(_)) => nodes.clone(),
            None => Vec::new(),
        };
        let config = self.config.unwrap_or_default();
        let exit = (self.checkpoint_during == Some(false)).then_some(Durability::Exit);
        request.options = Options {
            replaces,
            at,
            recursion_limit: config.recursion_limit,
            durability: self.durability.or(exit),
            interrupt_before: stops(self.interrupt_before),
            interrupt_after: stops(self.interrupt_after),
            delay: self
                .after_seconds
                .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok()),
            ..std::mem::take(&mut request.options)
        };
        request.metadata = Value::Object(self.metadata.unwrap_or_default());
        request.config = json!({
            "configurable": config.configurable,
            "context": self.context,
            "tags": config.tags,
        });
        Ok(())
    }

    fn shown_command(&self) -> Value {
        let command = self.command.as_ref().filter(|command| !command.is_empty());
        let shown =
            command.map(|it| json!({"update": it.update, "resume": it.resume, "goto": it.goto}));
        shown.unwrap_or_default()
    }
}

impl Command {
    fn is_empty(&self) -> bool {
        [&self.update, &self.resume, &self.goto]
            .iter()
            .all(|part| part.as_ref().is_none_or(Value::is_null))
    }

    fn into_input(self) -> Result<Value, Problem> {
        let some = |value: Option<Value>| value.filter(|value| !value.is_null());
        let update = some(self.update).map(object).transpose()?;
        match (some(self.goto), some(self.resume), update) {
            (Some(_), Some(_), _) => {
                Err(Problem::unprocessable("a command has `resume` or `goto`, and not both"))
            }
            (Some(goto), None, update) => {
                let targets = match goto {
                    Value::Array(targets) => targets,
                    target => vec![target],
                };
                Ok(
                    json!({"goto": {"update": update.unwrap_or_else(|| json!({})), "targets": targets}}),
                )
            }
            (None, Some(resume), Some(update)) => match by_id(&resume) {
                Some(answers) => Ok(json!({"edited": {"answers": answers, "update": update}})),
                None => Err(Problem::unprocessable(
                    "`resume` beside `update` is an object of interrupt ids to answers",
                )),
            },
            (None, Some(resume), None) => Ok(match by_id(&resume) {
                Some(answers) => json!({"answers": answers}),
                None => json!({"reply": resume}),
            }),
            (None, None, Some(update)) => Ok(json!({"edited": {"update": update}})),
            (None, None, None) => Ok(json!("resume")),
        }
    }
}

/// Answers by the ids of interrupts, if that is what it is.
fn by_id(resume: &Value) -> Option<&Map<String, Value>> {
    let answers = resume.as_object()?;
    let is_id = |key: &String| key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    (!answers.is_empty() && answers.keys().all(is_id)).then_some(answers)
}

/// An update as an object; a list of pairs is one, too.
fn object(update: Value) -> Result<Value, Problem> {
    match update {
        Value::Array(pairs) => {
            let pair = |pair: Value| serde_json::from_value::<(String, Value)>(pair).ok();
            let pairs: Option<Map<_, _>> = pairs.into_iter().map(pair).collect();
            let wrong = "`update` is an object, or a list of pairs of a field and a value";
            pairs.map(Value::Object).ok_or_else(|| Problem::unprocessable(wrong))
        }
        update => Ok(update),
    }
}
