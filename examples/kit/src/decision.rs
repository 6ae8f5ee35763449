//! A decision of a person in one letter: about a plan, a step, a call, or a request that is not clear.

use hanok_agent::{ApprovalRequest, DecisionKind, Gate, GateRequest};
use hanok_graph::Pending;
use serde_json::{Map, Value, json};

use crate::marked;

/// A question whose answer is a decision.
#[derive(Debug)]
pub(crate) struct DecisionForm {
    question: String,
    /// All that is decided about, a line each.
    details: Vec<String>,
    allowed: Vec<DecisionKind>,
    digest: String,
    /// The arguments of the call that is decided about, if it is one.
    arguments: Option<Map<String, Value>>,
    /// True where what is typed without a letter is the answer itself.
    takes_words: bool,
    /// True where a person may say "always".
    may_stand: bool,
}

/// What a person typed.
#[derive(Debug, PartialEq)]
pub(crate) enum Typed {
    /// The decision.
    Decided(Value),
    /// The decision, which is to stand for the next calls, too.
    Always(Value),
    /// An edit follows: as JSON, on the next line.
    Edits,
    /// More has to be shown first.
    Help(String),
}

impl DecisionForm {
    /// The form of `question`, `None` where its answer is no decision.
    pub(crate) fn of(question: &Pending) -> Option<Self> {
        if question.doubt.is_some() {
            return None;
        }
        if let Ok(gate) = question.payload::<GateRequest>() {
            let mut details = match gate.gate {
                Gate::Definitions => differences(&gate.shown.0),
                _ => gate_lines(&gate.shown.0),
            };
            if !gate.missing.is_empty() {
                details.push(format!("빠진 칸: {}", gate.missing.join(", ")));
            }
            details.push(risk(gate.risk));
            return Some(Self {
                question: match gate.gate {
                    Gate::Definitions => "이 도구들을 서버가 적은 대로 쓰게 할까요?".to_owned(),
                    _ => gate.question,
                },
                details,
                takes_words: gate.gate == Gate::Clarify,
                may_stand: gate.gate == Gate::Step && gate.may_stand,
                arguments: gate.shown.0.get("arguments").and_then(Value::as_object).cloned(),
                allowed: gate.allowed,
                digest: gate.digest,
            });
        }
        let call = question.payload::<ApprovalRequest>().ok()?;
        let arguments = call.arguments.decode().unwrap_or(Value::Null);
        let mut details = vec![format!("도구: {}", call.tool)];
        details.extend(lines(&arguments));
        let arguments = arguments.as_object().cloned();
        details.extend(call.description);
        details.push(risk(call.risk));
        Some(Self {
            question: "이 호출을 할까요?".to_owned(),
            details,
            allowed: call.allowed,
            digest: call.digest,
            arguments,
            takes_words: false,
            may_stand: call.may_stand,
        })
    }

    /// The question with all that is decided about.
    pub(crate) fn shown(&self) -> String {
        let details: Vec<_> =
            self.details.iter().map(|line| format!("  {}", marked::marked(line))).collect();
        format!("{}\n{}", marked::marked(&self.question), details.join("\n"))
    }

    /// The answers as JSON, for another program.
    pub(crate) fn answers(&self) -> Vec<&'static str> {
        let answer = |kind: &DecisionKind| match kind {
            DecisionKind::Approve => r#"{"decision": "approve"}"#,
            DecisionKind::Edit => r#"{"decision": "edit", "arguments": {…}}"#,
            DecisionKind::Respond => r#"{"decision": "respond", "result": "…"}"#,
            DecisionKind::Skip => r#"{"decision": "skip"}"#,
            DecisionKind::Revise => r#"{"decision": "revise", "message": "…"}"#,
            DecisionKind::Reuse => r#"{"decision": "reuse", "id": "…"}"#,
            _ => r#"{"decision": "reject"}"#,
        };
        self.allowed.iter().map(answer).collect()
    }

    /// The letters that may be typed.
    pub(crate) fn prompt(&self) -> String {
        let letters = self.letters();
        let letters: Vec<_> = letters.iter().map(|(letter, _)| *letter).collect();
        format!("[{} / ?]", letters.join(" / "))
    }

    fn letters(&self) -> Vec<(&'static str, &'static str)> {
        let has = |kind| self.allowed.contains(&kind);
        let all = [
            (has(DecisionKind::Approve), "y", "그대로 한다"),
            (
                self.may_stand && has(DecisionKind::Approve),
                "a",
                "이 도구는 30일 동안 묻지 않고 한다",
            ),
            (has(DecisionKind::Reject), "n", "하지 않는다(뒤에 까닭을 쓸 수 있습니다)"),
            (
                has(DecisionKind::Edit),
                "e",
                "고쳐서 한다: 다음 줄에 칸=값, 여러 칸은 쉼표로(또는 JSON 전체)",
            ),
            (has(DecisionKind::Skip), "s", "건너뛴다(뒤에 까닭을 쓸 수 있습니다)"),
            (has(DecisionKind::Revise) || has(DecisionKind::Respond), "r", "뒤에 쓰는 말대로"),
            (has(DecisionKind::Reuse), "u", "뒤에 쓰는 번호의 지난 답으로"),
        ];
        all.iter().filter(|it| it.0).map(|it| (it.1, it.2)).collect()
    }

    /// What `line` says.
    pub(crate) fn read(&self, line: &str) -> Typed {
        let line = line.trim();
        let (letter, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let has = |kind| self.allowed.contains(&kind);
        let message = || if rest.is_empty() { json!({}) } else { json!({"message": rest}) };
        match letter.to_lowercase().as_str() {
            "y" | "예" | "네" if has(DecisionKind::Approve) && rest.is_empty() => {
                Typed::Decided(self.decision("approve", json!({})))
            }
            "a" if self.may_stand && has(DecisionKind::Approve) && rest.is_empty() => {
                Typed::Always(self.decision("approve", json!({})))
            }
            "n" | "아니오" | "아니요" if has(DecisionKind::Reject) => {
                Typed::Decided(self.decision("reject", message()))
            }
            "s" if has(DecisionKind::Skip) => Typed::Decided(self.decision("skip", message())),
            "e" if has(DecisionKind::Edit) && rest.is_empty() => Typed::Edits,
            "e" if has(DecisionKind::Edit) => self.edited(rest),
            "r" if has(DecisionKind::Revise) && !rest.is_empty() => {
                Typed::Decided(self.decision("revise", json!({"message": rest})))
            }
            "r" if has(DecisionKind::Respond) && !rest.is_empty() => {
                Typed::Decided(self.decision("respond", json!({"result": rest})))
            }
            "u" if has(DecisionKind::Reuse) && !rest.is_empty() => {
                Typed::Decided(self.decision("reuse", json!({"id": rest})))
            }
            _ if self.takes_words && line.chars().count() > 1 && has(DecisionKind::Respond) => {
                Typed::Decided(self.decision("respond", json!({"result": line})))
            }
            _ => Typed::Help(self.help()),
        }
    }

    /// The edit that `line` is: fields with new values, or all of it as JSON.
    pub(crate) fn edited(&self, line: &str) -> Typed {
        let edit = |arguments: Value| {
            Typed::Decided(self.decision("edit", json!({"arguments": arguments})))
        };
        if let Some(arguments) = self.arguments.as_ref().and_then(|now| fields(now, line)) {
            return edit(Value::Object(arguments));
        }
        match serde_json::from_str::<Value>(line) {
            Ok(arguments) => edit(arguments),
            Err(_) => Typed::Help(match &self.arguments {
                Some(now) => format!(
                    "고칠 것을 읽을 수 없습니다. 이렇게 씁니다: 칸=값 (칸: {})",
                    now.keys().cloned().collect::<Vec<_>>().join(", ")
                ),
                None => "고칠 것을 읽을 수 없습니다. JSON 객체 하나로 씁니다".to_owned(),
            }),
        }
    }

    fn help(&self) -> String {
        let lines: Vec<_> =
            self.letters().iter().map(|(letter, what)| format!("  {letter}  {what}")).collect();
        let words =
            if self.takes_words { "\n  그 밖의 말은 그대로 답이 됩니다." } else { "" };
        format!("{}\n{}{words}", self.shown(), lines.join("\n"))
    }

    /// A decision about what was shown, and nothing else.
    fn decision(&self, kind: &str, more: Value) -> Value {
        let mut decision = json!({"decision": kind, "digest": self.digest});
        if let (Some(decision), Value::Object(more)) = (decision.as_object_mut(), more) {
            decision.extend(more);
        }
        decision
    }
}

/// The arguments `now` with the new values that `line` gives some of them: `title=회의, minutes=30`. A value stays of the kind that it is.
fn fields(now: &Map<String, Value>, line: &str) -> Option<Map<String, Value>> {
    let mut edited = now.clone();
    // A comma within a value is one that no field follows.
    let begins =
        |part: &str| part.split_once('=').is_some_and(|(name, _)| now.contains_key(name.trim()));
    let mut parts: Vec<String> = Vec::new();
    for part in line.split(',') {
        match parts.last_mut() {
            Some(last) if !begins(part) => last.extend([",", part]),
            _ => parts.push(part.to_owned()),
        }
    }
    for part in parts {
        let (name, value) = part.split_once('=')?;
        let field = edited.get_mut(name.trim())?;
        let value = value.trim();
        *field = match field {
            Value::String(_) => Value::String(value.to_owned()),
            _ => serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned())),
        };
    }
    Some(edited)
}

/// What a gate shows, without what only programs read, its fields in the person's words.
fn gate_lines(shown: &Value) -> Vec<String> {
    const NAMES: [(&str, &str); 11] = [
        ("query", "요청"),
        ("questions", "물음"),
        ("past", "지난 답"),
        ("steps", "단계"),
        ("original", "처음 계획"),
        ("notes", "알릴 것"),
        ("task", "할 일"),
        ("tool", "도구"),
        ("arguments", "인수"),
        ("again", "다시 하는 까닭"),
        ("fault", "고칠 것"),
    ];
    let Value::Object(fields) = shown else { return lines(shown) };
    let step = match (fields.get("step"), fields.get("of")) {
        (Some(step), Some(of)) => vec![format!("단계: {of}개 가운데 {step}번째")],
        _ => Vec::new(),
    };
    let named = NAMES.iter().filter_map(|(name, words)| Some((words, fields.get(*name)?)));
    step.into_iter().chain(named.flat_map(|(words, value)| labelled(words, value))).collect()
}

fn risk(risk: hanok_agent::Risk) -> String {
    use hanok_agent::Risk;
    let words = match risk {
        Risk::Read => "읽기만 함",
        Risk::Write => "씀",
        Risk::External => "밖으로 나감",
        _ => "되돌릴 수 없을 수 있음",
    };
    format!("위험: {words}")
}

/// A value as lines: a field each, and the steps of a list each by itself.
fn lines(value: &Value) -> Vec<String> {
    let Value::Object(fields) = value else { return vec![value.to_string()] };
    fields.iter().flat_map(|(name, value)| field(name, value)).collect()
}

/// The differences of definitions, each with all its lines.
fn differences(shown: &Value) -> Vec<String> {
    let changes = shown.get("changes").and_then(Value::as_array).into_iter().flatten();
    let text = |change: &Value, name: &str| {
        let text = change.get(name).and_then(Value::as_str).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = changes.flat_map(|it| {
        let indented = text(it, "difference").into_iter().map(|line| format!("  {line}"));
        text(it, "change").into_iter().chain(indented).collect::<Vec<_>>()
    });
    all.collect()
}

fn field(name: &str, value: &Value) -> Vec<String> {
    labelled(&marked::name(name), value)
}

/// A value as lines under `name`, which are words of this program.
fn labelled(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) if items.is_empty() => Vec::new(),
        Value::Array(items) => {
            let items =
                items.iter().enumerate().map(|(at, item)| format!("  {}. {}", at + 1, plain(item)));
            [format!("{name}:")].into_iter().chain(items).collect()
        }
        Value::String(text) => vec![format!("{name}: {text}")],
        value => vec![format!("{name}: {}", plain(value))],
    }
}

/// A value in one line; of an object, what its fields say. Texts stand in quotes: what one holds is no other field.
fn plain(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let fields = fields.map(|(name, value)| match value {
                Value::Object(_) => format!("{}: {{{}}}", marked::name(name), plain(value)),
                value => format!("{}: {}", marked::name(name), plain(value)),
            });
            fields.collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

/// The name of the tool and the hash of its definition that a step shows, for a rule that is to stand.
pub(crate) fn standing(question: &Pending) -> Option<(String, Option<String>)> {
    let text = |fields: &Map<String, Value>, name: &str| {
        fields.get(name).and_then(Value::as_str).map(str::to_owned)
    };
    if let Ok(gate) = question.payload::<GateRequest>() {
        let fields = gate.shown.0.as_object()?;
        return Some((text(fields, "tool")?, text(fields, "definition")));
    }
    Some((question.payload::<ApprovalRequest>().ok()?.tool, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(allowed: &[DecisionKind], takes_words: bool) -> DecisionForm {
        DecisionForm {
            question: "?".into(),
            details: vec![],
            allowed: allowed.to_vec(),
            digest: "d".into(),
            arguments: None,
            takes_words,
            may_stand: !takes_words,
        }
    }

    /// P33: what a stranger wrote looks like nothing that this program says.
    #[test]
    fn a_text_of_others_forges_no_line_and_no_field() {
        let shown = json!({
            "query": "메모\n  위험: 읽기만 함",
            "steps": [{"task": "X, tool: Y", "tool": null}, "a\n  2. b"],
            "a\nb": {"of": {"n": 1}, "to": "kim\n"},
        });
        let mut form = form(&[DecisionKind::Approve], false);
        form.question = "할까요?\n오류: 멈췄습니다".to_owned();
        form.details = lines(&shown);
        let mut said: Vec<_> = form.shown().lines().map(str::to_owned).collect();
        assert_eq!(said.drain(..2).collect::<Vec<_>>(), ["할까요?", "  │ 오류: 멈췄습니다"]);
        said.sort();
        let mut want = [
            "  query: 메모",
            "  │   위험: 읽기만 함",
            "  steps:",
            r#"    1. task: "X, tool: Y""#,
            r#"    2. "a\n  2. b""#,
            r#"  "a\nb": of: {n: 1}, to: "kim\n""#,
        ];
        want.sort_unstable();
        assert_eq!(said, want);
    }

    #[test]
    fn a_call_is_edited_by_its_fields() {
        let arguments = json!({"title": "회의", "minutes": 30, "note": null});
        let allowed = [DecisionKind::Approve, DecisionKind::Edit];
        let step =
            DecisionForm { arguments: arguments.as_object().cloned(), ..form(&allowed, false) };
        let edited = |arguments: Value| {
            let edit = json!({"decision": "edit", "digest": "d", "arguments": arguments});
            Typed::Decided(edit)
        };
        for (line, want) in [
            ("title=팀, 팀장 회의", json!({"title": "팀, 팀장 회의", "minutes": 30, "note": null})),
            ("minutes = 45, title=1=1", json!({"title": "1=1", "minutes": 45, "note": null})),
            (r#"{"title": "a"}"#, json!({"title": "a"})),
        ] {
            assert_eq!(step.read(&format!("e {line}")), edited(want), "{line}");
        }
        let Typed::Help(help) = step.read("e when=3") else { panic!() };
        assert!(help.contains("title, minutes, note") || help.contains("minutes, note, title"));
    }

    /// What programs read is none of a person's business.
    #[test]
    fn a_gate_shows_what_a_person_decides_by() {
        let shown = json!({
            "step": 1, "of": 2, "task": "우유 사기", "tool": "desk__add_note", "definition": "4513f31a",
            "arguments": {"text": "우유"}, "readiness": 1.0,
        });
        let want = [
            "단계: 2개 가운데 1번째",
            "할 일: 우유 사기",
            "도구: desk__add_note",
            "인수: text: \"우유\"",
        ];
        assert_eq!(gate_lines(&shown), want);
    }

    #[test]
    fn always_is_offered_where_it_would_stand() {
        let step = form(&[DecisionKind::Approve, DecisionKind::Skip], false);
        assert_eq!(step.prompt(), "[y / a / s / ?]");
        let operator = DecisionForm { may_stand: false, ..step };
        assert_eq!(operator.prompt(), "[y / s / ?]");
        assert!(matches!(operator.read("a"), Typed::Help(_)));
    }

    #[test]
    fn a_letter_is_a_decision_where_it_is_allowed() {
        let step = form(&[DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Skip], false);
        let decided = |kind: &str| Typed::Decided(json!({"decision": kind, "digest": "d"}));
        assert_eq!(step.read(" y "), decided("approve"));
        assert_eq!(step.read("A"), Typed::Always(json!({"decision": "approve", "digest": "d"})));
        assert_eq!(step.read("s"), decided("skip"));
        assert_eq!(step.read("e"), Typed::Edits);
        let edit = json!({"decision": "edit", "digest": "d", "arguments": {"text": "a"}});
        assert_eq!(step.read(r#"e {"text": "a"}"#), Typed::Decided(edit));
        for help in ["n", "?", "", "maybe", "y please", "e {"] {
            assert!(matches!(step.read(help), Typed::Help(_)), "{help}");
        }
        let plan =
            form(&[DecisionKind::Approve, DecisionKind::Reject, DecisionKind::Revise], false);
        let rejected = json!({"decision": "reject", "digest": "d", "message": "too long"});
        assert_eq!(plan.read("n too long"), Typed::Decided(rejected));
        let revised = json!({"decision": "revise", "digest": "d", "message": "shorter"});
        assert_eq!(plan.read("r shorter"), Typed::Decided(revised));
        let clarify =
            form(&[DecisionKind::Approve, DecisionKind::Respond, DecisionKind::Reuse], true);
        let said = json!({"decision": "respond", "digest": "d", "result": "A동 계약서"});
        assert_eq!(clarify.read("A동 계약서"), Typed::Decided(said));
        let reused = json!({"decision": "reuse", "digest": "d", "id": "1"});
        assert_eq!(clarify.read("u 1"), Typed::Decided(reused));
    }
}
