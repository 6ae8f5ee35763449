//! Cuts out of a server's words what it was told and nobody else is to read.

use std::fmt;

use serde_json::{Map, Value};

/// The shortest text that is cut out: with a shorter one words would go.
const SHORTEST: usize = 8;

/// What stands for a text that was cut out.
const GONE: &str = "…";

/// The fields of a message that are the protocol's own words, or go back to the server as they are.
const OF_PROTOCOL: [&str; 14] = [
    "action",
    "id",
    "jsonrpc",
    "level",
    "method",
    "mode",
    "nextCursor",
    "progressToken",
    "requestState",
    "resultType",
    "role",
    "status",
    "taskId",
    "type",
];

/// The fields of a message within which all words are the server's.
const OF_SERVER: [&str; 3] = ["_meta", "data", "structuredContent"];

/// The texts that are cut out.
#[derive(Clone, Default)]
pub(crate) struct Redact(Vec<String>);

impl Redact {
    /// Cuts out these texts, and the last word of each: the key behind `Bearer`. Also as they stand within a text that is JSON.
    pub(crate) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut forms = Vec::new();
        for secret in secrets {
            let last = secret.rsplit(' ').next().unwrap_or_default().to_owned();
            for form in [secret, last].into_iter().filter(|form| form.len() >= SHORTEST) {
                let quoted = Value::from(form.as_str()).to_string();
                let within = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                forms.extend(within.map(str::to_owned));
                forms.push(form);
            }
        }
        // The longest first: a shorter one may be its beginning.
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self(forms)
    }

    /// `text` without them.
    pub(crate) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, form| text.replace(form, GONE))
    }

    /// The message of JSON that `message` is, without them in any text; `None` where it holds none of them.
    pub(crate) fn message(&self, message: &[u8]) -> Option<Vec<u8>> {
        if self.0.is_empty() {
            return None;
        }
        let text = std::str::from_utf8(message).ok()?;
        let holds = self.holds(text);
        // Behind an escape one may stand that is not seen here.
        if !holds && !text.contains('\\') {
            return None;
        }
        let mut value: Value = serde_json::from_str(text).ok()?;
        let is_cut = self.cut(&mut value, true);
        (is_cut || holds).then(|| serde_json::to_vec(&value).ok()).flatten()
    }

    fn holds(&self, text: &str) -> bool {
        self.0.iter().any(|form| text.contains(form.as_str()))
    }

    /// Cuts them out of all texts of `value`, names of fields too, and says whether there were any.
    fn cut(&self, value: &mut Value, is_protocol: bool) -> bool {
        match value {
            Value::String(text) => {
                let is_cut = self.holds(text);
                if is_cut {
                    *text = self.text(text);
                }
                is_cut
            }
            Value::Array(items) => {
                let mut is_cut = false;
                for item in items {
                    is_cut |= self.cut(item, is_protocol);
                }
                is_cut
            }
            Value::Object(fields) => self.cut_fields(fields, is_protocol),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn cut_fields(&self, fields: &mut Map<String, Value>, is_protocol: bool) -> bool {
        let mut is_cut = fields.keys().any(|name| self.holds(name));
        if is_cut {
            let all = std::mem::take(fields);
            fields.extend(all.into_iter().map(|(name, value)| (self.text(&name), value)));
        }
        for (name, value) in fields.iter_mut() {
            let stays = OF_PROTOCOL.contains(&name.as_str()) && !value.is_object();
            if !(is_protocol && stays) {
                let is_within = is_protocol && !OF_SERVER.contains(&name.as_str());
                is_cut = self.cut(value, is_within) || is_cut;
            }
        }
        is_cut
    }
}

impl fmt::Debug for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redact")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// P55
    #[test]
    fn secrets_are_cut_out_whole_and_as_the_word_behind_their_kind() {
        let redact = Redact::new([
            "Bearer sk-12345678".to_owned(),
            "sk-12345678-long".to_owned(),
            "short".to_owned(),
        ]);
        let text = "<Bearer sk-12345678> <sk-12345678-long> <sk-12345678> short";
        assert_eq!(redact.text(text), "<…> <…> <…> short");
        assert_eq!(format!("{redact:?}"), "Redact");
    }

    /// P55: in whatever part of a message a secret stands, it is cut out; what only the protocol reads stays.
    #[test]
    fn secrets_are_cut_out_of_all_texts_of_a_message() {
        let redact = Redact::new(["key \"x\"\n/1234".to_owned(), "sk-12345678".to_owned()]);
        let quoted = json!({"env": "key \"x\"\n/1234"}).to_string();
        let message = json!({"jsonrpc": "2.0", "id": "sk-12345678", "result": {
            "resultType": "sk-12345678", "requestState": "sk-12345678",
            "content": [
                {"type": "text", "text": "a key \"x\"\n/1234 b"},
                {"type": "text", "text": quoted},
                {"type": "resource_link", "uri": "note:sk-12345678", "name": "sk-12345678"},
            ],
            "structuredContent": {"sk-12345678": [{"type": "<sk-12345678>", "n": 7}], "status": "sk-12345678"},
            "inputRequests": {"q": {"method": "sk-12345678", "params": {"mode": "form", "message": "sk-12345678?"}}},
            "_meta": {"id": "sk-12345678"},
        }});
        let want = json!({"jsonrpc": "2.0", "id": "sk-12345678", "result": {
            "resultType": "sk-12345678", "requestState": "sk-12345678",
            "content": [
                {"type": "text", "text": "a … b"},
                {"type": "text", "text": "{\"env\":\"…\"}"},
                {"type": "resource_link", "uri": "note:…", "name": "…"},
            ],
            "structuredContent": {"…": [{"type": "<…>", "n": 7}], "status": "…"},
            "inputRequests": {"q": {"method": "sk-12345678", "params": {"mode": "form", "message": "…?"}}},
            "_meta": {"id": "…"},
        }});
        let cut = redact.message(message.to_string().as_bytes()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&cut).unwrap(), want);
    }

    /// P55: however it is written.
    #[test]
    fn a_secret_that_is_written_with_escapes_is_one() {
        let redact = Redact::new(["sk/12345678".to_owned()]);
        for (message, want) in [
            (r#"{"text":"sk\/12345678"}"#, Some(r#"{"text":"…"}"#)),
            (r#"{"text":"\u0073k/12345678"}"#, Some(r#"{"text":"…"}"#)),
            (r#"{"text":"one\ntwo"}"#, None),
            (r#"{"text":"one"}"#, None),
            ("no JSON sk/12345678", None),
        ] {
            let cut = redact.message(message.as_bytes());
            let want = want.map(|text| text.as_bytes().to_vec());
            assert_eq!(cut, want, "{message}");
        }
        assert_eq!(Redact::default().message(br#"{"text":"sk/12345678"}"#), None);
    }
}
