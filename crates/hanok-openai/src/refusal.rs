//! What a server means when it refuses.

use std::{fmt, time::Duration};

use hanok_core::{BoxError, Printable};
use hanok_model::ModelError;
use serde_json::Value;

use crate::redact::Redact;

/// The most characters of a server's words that are kept.
const LONGEST: usize = 1000;

/// The words by which servers say that a conversation is too long: OpenAI, llama.cpp, vLLM, and those that follow them.
const TOO_LONG: [&str; 9] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "maximum model length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "max_model_len",
];

/// A refusal in a server's own words, without the key.
#[derive(Debug, Default)]
pub(crate) struct Said {
    status: u16,
    /// The code and the type, which servers use alike.
    codes: [String; 2],
    message: String,
    limit: Option<u64>,
    asked: Option<u64>,
}

/// What a refusal is answered to.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a str,
    pub(crate) key_given: bool,
    pub(crate) retry_after: Option<Duration>,
}

impl Said {
    /// Reads the body of a refusal: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}`, or text.
    pub(crate) fn from_body(status: u16, body: &[u8], redact: &Redact) -> Self {
        match serde_json::from_slice(body) {
            Ok(value) => Self::from_json(status, &value, redact),
            Err(_) => Self::from_text(status, &String::from_utf8_lossy(body), redact),
        }
    }

    /// A refusal in words alone.
    pub(crate) fn from_text(status: u16, text: &str, redact: &Redact) -> Self {
        Self { status, message: bounded(&redact.text(text)), ..Self::default() }
    }

    /// Reads the JSON of a refusal.
    pub(crate) fn from_json(status: u16, value: &Value, redact: &Redact) -> Self {
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |key: &str| match error.get(key) {
            Some(Value::String(text)) => redact.text(text),
            Some(Value::Null) | None => String::new(),
            Some(other) => redact.text(&other.to_string()),
        };
        let message = match error {
            Value::String(text) => redact.text(text),
            _ => [text("message"), text("detail")]
                .into_iter()
                .find(|t| !t.is_empty())
                .unwrap_or_default(),
        };
        let number = |key: &str| error.get(key).and_then(Value::as_u64);
        let code = number("code").and_then(|code| u16::try_from(code).ok());
        Self {
            status: if status == 200 { code.unwrap_or(status) } else { status },
            codes: [text("code"), text("type")].map(|code| bounded(&code)),
            limit: number("n_ctx").or_else(|| number_after(&message, &LIMITS)),
            asked: number("n_prompt_tokens").or_else(|| number_after(&message, &ASKED)),
            message: bounded(&message),
        }
    }

    /// Whether the server names `word` in what it says.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        self.message.contains(word)
    }

    /// The refusal as what to do about it.
    pub(crate) fn into_error(self, asked: Asked<'_>) -> ModelError {
        let (status, retry_after) = (self.status, asked.retry_after);
        if self.has_code(&["insufficient_quota"]) || status == 402 {
            return ModelError::QuotaExceeded { source: self.source() };
        }
        if self.has_code(&["invalid_api_key", "authentication_error"])
            || matches!(status, 401 | 403)
        {
            return ModelError::BadKey { sent: asked.key_given, source: self.source() };
        }
        if self.has_code(&["rate_limit_exceeded", "rate_limit_error"]) || status == 429 {
            return ModelError::RateLimited { retry_after, source: self.source() };
        }
        if self.has_code(&["content_filter", "content_policy_violation"]) {
            return ModelError::ContentFiltered { source: self.source() };
        }
        if self.is_too_long() {
            let (limit, asked) = (self.limit, self.asked);
            return ModelError::ContextTooLong { limit, requested: asked, source: self.source() };
        }
        if self.is_of_the_model() {
            let model = asked.model.to_owned();
            return ModelError::UnknownModel { model, source: self.source() };
        }
        self.into_error_by_status(retry_after)
    }

    fn into_error_by_status(self, retry_after: Option<Duration>) -> ModelError {
        let failed = self.has_code(&["server_error", "internal_server_error", "overloaded_error"]);
        match self.status {
            404 | 405 => self.protocol("there is no such address on the server"),
            status @ (408 | 409 | 425 | 500..) => {
                ModelError::Server { status, retry_after, source: self.source() }
            }
            status @ 400.. => ModelError::BadRequest { status, source: self.source() },
            300.. => self.protocol("a redirect to another address, which is not followed"),
            _ if failed => ModelError::Server { status: 500, retry_after, source: self.source() },
            _ => self.protocol("a success that holds an error"),
        }
    }

    fn has_code(&self, names: &[&str]) -> bool {
        self.codes.iter().any(|code| names.contains(&code.as_str()))
    }

    fn is_too_long(&self) -> bool {
        let names = |text: &str| TOO_LONG.iter().any(|words| text.contains(words));
        let named =
            names(&self.message.to_lowercase()) || self.codes.iter().any(|code| names(code));
        self.status == 413 || (self.status < 500 && named)
    }

    fn is_of_the_model(&self) -> bool {
        let message = self.message.to_lowercase();
        let gone = ["not found", "not exist", "not loaded", "unknown"];
        let named = message.contains("model") && gone.iter().any(|words| message.contains(words));
        self.has_code(&["model_not_found"]) || (self.status < 500 && named)
    }

    fn protocol(self, what: &str) -> ModelError {
        ModelError::Protocol { what: what.to_owned(), source: self.source() }
    }

    fn source(self) -> Option<BoxError> {
        let silent = self.message.is_empty() && self.codes.iter().all(String::is_empty);
        (!silent).then(|| self.into())
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [code, kind] = &self.codes;
        let code = [code, kind].into_iter().find(|code| !code.is_empty());
        f.write_str("the server said")?;
        code.map_or(Ok(()), |code| write!(f, " `{}`", Printable(code)))?;
        match self.message.as_str() {
            "" => Ok(()),
            message => write!(f, ": {}", Printable(message)),
        }
    }
}

impl std::error::Error for Said {}

/// Before the most tokens that a model takes.
const LIMITS: [&str; 6] = [
    "maximum context length is ",
    "maximum context length of ",
    "maximum model length of ",
    "context length of only ",
    "context size (",
    "context window of ",
];

/// Before the tokens that were asked for.
const ASKED: [&str; 5] =
    ["you requested ", "resulted in ", "request has ", "the request (", "your request has "];

/// The number that stands in `text` after the first of `marks` that has one.
fn number_after(text: &str, marks: &[&str]) -> Option<u64> {
    let text = text.to_lowercase();
    marks.iter().find_map(|mark| {
        let (_, rest) = text.split_once(mark)?;
        let digits: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == ',')
            .filter(|c| *c != ',')
            .collect();
        digits.parse().ok()
    })
}

fn bounded(text: &str) -> String {
    text.trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, body: &str) -> ModelError {
        let asked = Asked { model: "m", key_given: true, retry_after: None };
        Said::from_body(status, body.as_bytes(), &Redact::default()).into_error(asked)
    }

    /// P16. In the words of OpenAI, llama.cpp, vLLM and FastAPI.
    #[test]
    fn a_refusal_is_known_by_its_code_or_its_words() {
        use ModelError::*;
        type Is = fn(&ModelError) -> bool;
        let cases: [(u16, &str, Is); 22] = [
            (401, r#"{"error":{"code":"invalid_api_key","message":"no"}}"#, |e| {
                matches!(e, BadKey { .. })
            }),
            (403, "", |e| matches!(e, BadKey { sent: true, source: None })),
            (
                404,
                r#"{"error":{"code":"model_not_found","message":"The model `m` does not exist"}}"#,
                |e| matches!(e, UnknownModel { model, .. } if model == "m"),
            ),
            (
                404,
                r#"{"object":"error","message":"The model `m` does not exist.","type":"NotFoundError","code":404}"#,
                |e| matches!(e, UnknownModel { .. }),
            ),
            (400, r#"{"error":{"message":"model 'm' not found"}}"#, |e| {
                matches!(e, UnknownModel { .. })
            }),
            (404, r#"{"detail":"Not Found"}"#, |e| matches!(e, Protocol { source: Some(_), .. })),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9,001 tokens."}}"#,
                |e| matches!(e, ContextTooLong { limit: Some(8192), requested: Some(9001), .. }),
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":8192}}"#,
                |e| matches!(e, ContextTooLong { limit: Some(8192), requested: Some(9001), .. }),
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).","code":400}"#,
                |e| matches!(e, ContextTooLong { limit: Some(4096), requested: Some(5000), .. }),
            ),
            (413, "", |e| matches!(e, ContextTooLong { limit: None, .. })),
            (429, r#"{"error":{"code":"rate_limit_exceeded","message":"slow down"}}"#, |e| {
                matches!(e, RateLimited { .. })
            }),
            (429, r#"{"error":{"type":"insufficient_quota","message":"pay"}}"#, |e| {
                matches!(e, QuotaExceeded { .. })
            }),
            (400, r#"{"error":{"code":"content_filter","message":"no"}}"#, |e| {
                matches!(e, ContentFiltered { .. })
            }),
            (400, r#"{"error":"bad tools"}"#, |e| matches!(e, BadRequest { status: 400, .. })),
            (422, r#"{"detail":[{"msg":"field required"}]}"#, |e| {
                matches!(e, BadRequest { status: 422, .. })
            }),
            (500, "Internal Server Error", |e| {
                matches!(e, Server { status: 500, source: Some(_), .. })
            }),
            (
                503,
                r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
                |e| matches!(e, Server { status: 503, .. }),
            ),
            (302, "", |e| matches!(e, Protocol { .. })),
            (200, r#"{"error":{"message":"oops"}}"#, |e| matches!(e, Protocol { .. })),
            (200, r#"{"error":{"message":"oops","code":502}}"#, |e| {
                matches!(e, Server { status: 502, .. })
            }),
            (200, r#"{"error":{"message":"oops","type":"server_error"}}"#, |e| {
                matches!(e, Server { status: 500, .. })
            }),
            (200, r#"{"error":{"message":"slow","code":"rate_limit_exceeded"}}"#, |e| {
                matches!(e, RateLimited { .. })
            }),
        ];
        for (status, body, is) in cases {
            let error = error(status, body);
            assert!(is(&error), "{status} {body}: {error:?}");
        }
    }

    /// P33
    #[test]
    fn a_servers_words_are_bounded_and_do_not_act_on_a_terminal() {
        let error = error(500, &format!("\u{1b}[2J{}", "x".repeat(5000)));
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.len() < 1100 && !source.contains('\u{1b}'), "{source}");
    }
}
