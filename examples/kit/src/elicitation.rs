//! A question of a server of others: a form to fill, or an address to visit, each of which may be refused.

use hanok_agent::{Gate, GateRequest};
use hanok_graph::Pending;
use serde_json::{Value, json};

use crate::{
    form::{Field, Form},
    marked::marked,
};

/// A question of a server.
#[derive(Debug)]
pub(crate) struct ServerQuestion {
    /// The question, and who asks it.
    pub(crate) shown: String,
    form: Option<Form>,
    digest: String,
}

/// What a person may do.
pub(crate) const LETTERS: &str = "[y 답한다 / n 거절한다 / s 넘어간다]";

impl ServerQuestion {
    /// The server's question that `question` is, if it is one.
    pub(crate) fn of(question: &Pending) -> Option<Self> {
        let gate = question.payload::<GateRequest>().ok()?;
        (gate.gate == Gate::Elicitation).then(|| Self::shown(&gate.shown.0, &gate.digest))?
    }

    /// The question of which this is shown.
    pub(crate) fn shown(asked: &Value, digest: &str) -> Option<Self> {
        let text = |name: &str| asked.get(name).and_then(Value::as_str);
        let (server, message) = (text("server")?, text("message")?);
        let mode = asked.get("mode")?.as_object()?;
        let form = mode.get("form").and_then(|form| form.get("schema"));
        let address = mode.get("url").and_then(|url| url.get("url")?.as_str());
        let address =
            address.map(|url| format!("\n  주소(아무것도 열지 않습니다): {}", marked(url)));
        let shown = format!(
            "서버 `{server}`이(가) 묻습니다: {}{}",
            marked(message),
            address.unwrap_or_default()
        );
        let form = form.map(|schema| Form::of_schema(message, schema));
        Some(Self { shown, form, digest: digest.to_owned() })
    }

    /// The answer that a letter is, `None` where a form has to be filled first or it is no letter.
    pub(crate) fn letter(&self, line: &str) -> Option<Value> {
        match line.trim().to_lowercase().as_str() {
            "y" | "예" | "네" if self.form.is_none() => Some(self.decision("approve")),
            "n" | "아니오" | "아니요" => Some(self.decision("reject")),
            "s" => Some(self.decision("skip")),
            _ => None,
        }
    }

    /// Whether a letter asks for the form.
    pub(crate) fn fills(&self, line: &str) -> bool {
        self.form.is_some() && matches!(line.trim().to_lowercase().as_str(), "y" | "예" | "네")
    }

    /// The fields of the form.
    pub(crate) fn fields(&self) -> &[Field] {
        self.form.as_ref().map(|form| form.fields.as_slice()).unwrap_or_default()
    }

    /// The answer of these values.
    pub(crate) fn filled(&self, values: Vec<Option<Value>>) -> Value {
        let content = self.form.as_ref().map(|form| form.answer(values));
        json!({"decision": "edit", "arguments": content, "digest": self.digest})
    }

    fn decision(&self, kind: &str) -> Value {
        json!({"decision": kind, "digest": self.digest})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P33: a server's words look like nothing that this program says.
    #[test]
    fn a_question_of_a_server_forges_no_line() {
        let schema = json!({"properties": {"a": {"type": "string", "title": "이름\n오류: 없음"}}});
        let asked = json!({
            "server": "desk", "message": "이름은?\n오류: 멈췄습니다\n  위험: 읽기만 함",
            "mode": {"form": {"schema": schema}},
        });
        let question = ServerQuestion::shown(&asked, "d").unwrap();
        let want =
            "서버 `desk`이(가) 묻습니다: 이름은?\n  │ 오류: 멈췄습니다\n  │   위험: 읽기만 함";
        assert_eq!(question.shown, want);
        for field in question.fields() {
            assert!(field.prompt().contains("이름\n  │ 오류: 없음"), "{}", field.prompt());
            assert!(field.line().contains("이름\n  │ 오류: 없음"), "{}", field.line());
        }
    }
}
