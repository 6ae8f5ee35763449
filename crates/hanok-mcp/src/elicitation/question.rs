//! A question of a server, as a person sees it.

use hanok_agent::{DecisionKind, Gate, GateQuestion, GateRequest, Risk};
use hanok_core::{AskError, BoxError, Call};
use hanok_graph::Pending;
use jsonschema::Validator;
use reqwest::Url;
use rmcp::model::ElicitRequestParams;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::{ElicitationAnswer, schema};
use crate::{
    error::ServerError,
    secret::secret_field,
    text::{line, shown},
};

/// The most bytes of a question's text.
const LONGEST_MESSAGE: usize = 4096;

/// The most bytes of a form's JSON Schema.
const LONGEST_FORM: usize = 64 * 1024;

/// The most bytes of an address.
const LONGEST_URL: usize = 2048;

/// A question of a server: what the [gate](Gate::Elicitation) of a run shows. Its answer is a decision: an edit that fits the form or, of
/// an address, an approval; a rejection, which declines; or a skip, which tells the server neither yes nor no. An
/// [`ElicitationAnswer`] is one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Elicitation {
    /// The server, as the configuration names it.
    pub server: String,
    /// The tool whose call asks; `None` where the server does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The server's words, with hidden characters as escapes.
    pub message: String,
    /// The thing that is asked for.
    pub mode: ElicitationMode,
    /// The question among all of its call: one that is asked again is the same question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The thing that a server asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ElicitationMode {
    /// A filled form.
    Form {
        /// The JSON Schema of the form.
        schema: Value,
    },
    /// A visit to an address. Nothing opens it: the person reads it and decides.
    Url {
        /// The address, with hidden characters as escapes.
        url: String,
    },
}

impl Elicitation {
    /// The server's question that `question` of a run is, if it is one.
    pub fn of(question: &Pending) -> Option<Self> {
        let gate = question.payload::<GateRequest>().ok().filter(|_| question.doubt.is_none())?;
        (gate.gate == Gate::Elicitation).then(|| serde_json::from_value(gate.shown.0).ok())?
    }

    /// The question that `asked` of `server` is.
    ///
    /// # Errors
    ///
    /// [`ServerError::SecretAsked`] for a form with a secret; [`ServerError::Protocol`] for one that cannot be shown as it is.
    pub(crate) fn new(server: &str, asked: &ElicitRequestParams) -> Result<Self, ServerError> {
        let (message, mode) = match asked {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                (message, ElicitationMode::Form { schema: form(requested_schema)? })
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                (message, ElicitationMode::Url { url: address(url)? })
            }
            _ => return Err(protocol("it asks a person in a way that is not known")),
        };
        let message = shown(message, LONGEST_MESSAGE);
        Ok(Self { server: server.to_owned(), tool: None, message, mode, id: None })
    }

    /// The schema that an answer has to fit.
    fn answer_schema(&self) -> Value {
        schema(match &self.mode {
            ElicitationMode::Form { schema } => Some(schema),
            ElicitationMode::Url { .. } => None,
        })
    }

    /// Checks that `answer` fits the form.
    pub(crate) fn check(&self, answer: &ElicitationAnswer) -> Result<(), BoxError> {
        let schema = compiled(&self.answer_schema())?;
        let answer = answer.to_json();
        schema.validate(&answer).map_err(|error| error.masked().to_string().into())
    }

    /// The question as a gate asks it.
    fn gate(&self) -> Result<GateQuestion, serde_json::Error> {
        let words = format!("`{}` asks: {}", self.server, self.message);
        let question = GateQuestion::new(Gate::Elicitation, words, self)?.risk(Risk::External);
        let (decided, question) = match &self.mode {
            ElicitationMode::Form { schema } => {
                let missing = schema.get("required").and_then(Value::as_array);
                let missing = missing.into_iter().flatten().filter_map(Value::as_str);
                (DecisionKind::Edit, question.missing(missing).schema(schema.clone()))
            }
            ElicitationMode::Url { .. } => (DecisionKind::Approve, question),
        };
        Ok(question.allow([decided, DecisionKind::Reject, DecisionKind::Skip]))
    }

    /// Puts the question to the person behind `call`.
    pub(crate) async fn ask(&self, call: &Call) -> Result<ElicitationAnswer, AskError> {
        let question = self.gate().map_err(|error| AskError::Failed(error.into()))?;
        question.put(call).await.map(Into::into)
    }
}

/// The form as it is shown: without a dialect of its own, and only when no text of it hides anything.
fn form(asked: &rmcp::model::ElicitationSchema) -> Result<Value, ServerError> {
    let mut form =
        serde_json::to_value(asked).map_err(|error| ServerError::Protocol(error.into()))?;
    if let Some(field) = secret_field(&form) {
        return Err(ServerError::SecretAsked { field: line(field, 128) });
    }
    if let Some(form) = form.as_object_mut() {
        form.remove("$schema");
    }
    if hides(&form) {
        return Err(protocol("a form has texts with hidden characters"));
    }
    if form.to_string().len() > LONGEST_FORM {
        return Err(protocol("a form is larger than 64 KiB"));
    }
    compiled(&form).map_err(ServerError::Protocol)?;
    Ok(form)
}

/// True for a value with a text that is not shown as it is.
fn hides(value: &Value) -> bool {
    let hidden = |text: &str| shown(text, usize::MAX) != text;
    match value {
        Value::String(text) => hidden(text),
        Value::Array(items) => items.iter().any(hides),
        Value::Object(fields) => fields.iter().any(|(key, value)| hidden(key) || hides(value)),
        _ => false,
    }
}

fn address(url: &str) -> Result<String, ServerError> {
    let read = Url::parse(url).map_err(|error| ServerError::Protocol(error.into()))?;
    match read.scheme() {
        "http" | "https" if url.len() <= LONGEST_URL => Ok(line(read.as_str(), LONGEST_URL * 4)),
        _ => Err(protocol("it sends a person to something that is no address of the web")),
    }
}

/// Compiles `schema`, which refers to nothing elsewhere.
fn compiled(schema: &Value) -> Result<Validator, BoxError> {
    jsonschema::options().build(schema).map_err(|error| error.to_string().into())
}

fn protocol(reason: &'static str) -> ServerError {
    ServerError::Protocol(reason.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(asked: Value) -> Result<Elicitation, ServerError> {
        Elicitation::new("shop", &serde_json::from_value(asked).unwrap())
    }

    fn form_of(properties: Value) -> Value {
        json!({"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": properties, "required": ["a"]}})
    }

    #[test]
    fn an_answer_fits_the_form_or_is_refused() {
        let asked = read(form_of(json!({"a": {"type": "integer", "maximum": 9}}))).unwrap();
        for (answer, fits) in [
            (ElicitationAnswer::accept(json!({"a": 2})), true),
            (ElicitationAnswer::accept(json!({"a": 20})), false),
            (ElicitationAnswer::accept(json!({})), false),
            (ElicitationAnswer::Accept { content: None }, false),
            (ElicitationAnswer::Decline, true),
            (ElicitationAnswer::Cancel, true),
        ] {
            assert_eq!(asked.check(&answer).is_ok(), fits, "{answer:?}");
        }
    }

    #[test]
    fn an_address_is_shown_whole_and_nothing_but_the_web_is_one() {
        let url = |url: &str| {
            read(json!({"mode": "url", "message": "m", "url": url, "elicitationId": "1"}))
        };
        let asked = url("https://pay.example/\u{202e}x?a=1").unwrap();
        let want = "https://pay.example/%E2%80%AEx?a=1".to_owned();
        assert_eq!(asked.mode, ElicitationMode::Url { url: want });
        assert!(asked.check(&ElicitationAnswer::Accept { content: None }).is_ok());
        for bad in ["file:///etc/passwd", "javascript:alert(1)", "no address"] {
            assert!(url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_form_that_hides_something_or_wants_a_secret_is_not_shown() {
        let secret = read(form_of(json!({"a": {"type": "string", "title": "Password"}})));
        assert!(matches!(secret, Err(ServerError::SecretAsked { field }) if field == "a"));
        let hidden = read(form_of(json!({"a": {"type": "string", "enum": ["x\u{202e}"]}})));
        assert!(matches!(hidden, Err(ServerError::Protocol(_))));
    }

    proptest! {
        /// P44: whatever a server writes, what a person sees hides nothing, is bounded, and can always be declined.
        #[test]
        fn what_is_shown_hides_nothing_and_may_be_declined(
            message in ".{0,200}",
            (field, title) in ("[a-z가-힣_]{1,12}", prop_oneof!["[ -~가-힣]{0,20}", any::<String>()]),
        ) {
            let form = json!({"type": "object", "properties": {&field: {"type": "string", "title": title}}});
            let asked = json!({"mode": "form", "message": message, "requestedSchema": form});
            if let Ok(asked) = serde_json::from_value(asked).map_err(drop).and_then(|asked| Elicitation::new("s", &asked).map_err(drop)) {
                let ElicitationMode::Form { schema } = &asked.mode else { return Err(TestCaseError::fail("no form")) };
                prop_assert!(!hides(schema) && shown(&asked.message, usize::MAX) == asked.message);
                prop_assert!(asked.message.len() <= LONGEST_MESSAGE);
                prop_assert!(asked.check(&ElicitationAnswer::Decline).is_ok());
                prop_assert!(asked.check(&ElicitationAnswer::Cancel).is_ok());
                let unfit = ElicitationAnswer::accept(json!({field: 1}));
                prop_assert!(asked.check(&unfit).is_err());
                prop_assert!(asked.gate().is_ok());
            }
        }
    }
}
