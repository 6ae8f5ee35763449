//! A question to a person as a form: what its JSON Schema wants, field by field.

use hanok_figures::AmountUnit;
use hanok_graph::{Doubted, Pending};
use hanok_model::{ListedValue, resolve_schema};
use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::marked::marked;

/// A question, and the fields of its answer.
#[derive(Debug)]
pub(crate) struct Form {
    /// The question, as a person reads it.
    pub(crate) question: String,
    pub(crate) fields: Vec<Field>,
    kind: Kind,
}

/// What the values of the fields make.
#[derive(Debug)]
enum Kind {
    /// An object of them.
    Object,
    /// The only one is the answer.
    Value,
}

/// One field of a form.
#[derive(Debug)]
pub(crate) struct Field {
    name: String,
    /// What is asked for.
    label: String,
    schema: Value,
    validator: Option<Validator>,
    /// The values to choose from, each with its words.
    options: Vec<(Value, String)>,
    may_be_empty: bool,
}

impl Form {
    /// The form of `question`.
    pub(crate) fn of(question: &Pending) -> Self {
        if let Some(doubted) = &question.doubt {
            return Self::of_doubt(doubted);
        }
        let schema =
            question.schema.as_deref().and_then(|schema| serde_json::from_str(schema).ok());
        let schema: Value = schema.unwrap_or(Value::Bool(true));
        Self::of_schema(&shown(&question.payload.decode().unwrap_or(Value::Null)), &schema)
    }

    /// The form of what `schema` wants, under `question`.
    pub(crate) fn of_schema(question: &str, schema: &Value) -> Self {
        let text = question.to_owned();
        let required: Vec<&str> = match schema.get("required").and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).collect(),
            None => Vec::new(),
        };
        match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => {
                let field = |(name, of): (&String, &Value)| {
                    Field::of(name, of, schema, !required.contains(&name.as_str()))
                };
                let fields = properties.iter().map(field).collect();
                Self { question: text, fields, kind: Kind::Object }
            }
            None => {
                let fields = vec![Field::of("답", schema, schema, false)];
                Self { question: text, fields, kind: Kind::Value }
            }
        }
    }

    /// The form that asks what became of a call.
    fn of_doubt(doubted: &Doubted) -> Self {
        let Doubted { tool, arguments, .. } = doubted;
        let question = format!(
            "`{tool}` 호출이 실행되었는지 알 수 없습니다(인수: {}). 어떻게 할까요?",
            marked(arguments)
        );
        let option = |value: &str, words: &str| (Value::from(value), words.to_owned());
        let field = Field {
            name: "답".to_owned(),
            label: "답".to_owned(),
            schema: Value::Bool(true),
            validator: None,
            options: vec![
                option("not_made", "실행되지 않았으니 다시 한다"),
                option("give_up", "다시 하지 않고 포기한다"),
            ],
            may_be_empty: false,
        };
        Self { question, fields: vec![field], kind: Kind::Value }
    }

    /// The answer of these values, in the order of the fields; `None` stands for a field that was left empty.
    pub(crate) fn answer(&self, values: Vec<Option<Value>>) -> Value {
        let mut values = values.into_iter();
        match self.kind {
            Kind::Object => {
                let named = self.fields.iter().map(|field| field.name.clone()).zip(values);
                let object: Map<_, _> =
                    named.filter_map(|(name, value)| Some((name, value?))).collect();
                Value::Object(object)
            }
            Kind::Value => values.next().flatten().unwrap_or(Value::Null),
        }
    }
}

impl Field {
    fn of(name: &str, schema: &Value, root: &Value, may_be_empty: bool) -> Self {
        let schema = resolve_schema(schema, root).clone();
        let word = |key: &str| schema.get(key).and_then(Value::as_str);
        let label = match (word("title"), word("description")) {
            (Some(title), Some(said)) => format!("{title} ({said})"),
            (Some(word), None) | (None, Some(word)) => word.to_owned(),
            (None, None) => name.to_owned(),
        };
        let whole = match (schema.as_object(), root.get("$defs")) {
            (Some(object), Some(defs)) => {
                let mut object = object.clone();
                object.insert("$defs".to_owned(), defs.clone());
                Value::Object(object)
            }
            _ => schema.clone(),
        };
        let validator = jsonschema::options().should_validate_formats(true).build(&whole).ok();
        let options = options(&schema, root);
        Self { name: name.to_owned(), label, schema, validator, options, may_be_empty }
    }

    /// The line that asks for the value.
    pub(crate) fn prompt(&self) -> String {
        let mut prompt = marked(&self.label);
        for (at, (_, words)) in self.options.iter().enumerate() {
            prompt.push_str(&format!("\n  {}) {}", at + 1, marked(words)));
        }
        if self.may_be_empty {
            prompt.push_str(" [비워 두어도 됩니다]");
        }
        prompt
    }

    /// The field in one line: its name, and what is asked for.
    pub(crate) fn line(&self) -> String {
        let words: Vec<_> = self
            .options
            .iter()
            .map(|(value, words)| format!("{value} {}", marked(words)))
            .collect();
        let options =
            if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
        format!("{}: {}{options}", marked(&self.name), marked(&self.label))
    }

    /// The value in `line`, nothing for a field that may be empty.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for the person who wrote it.
    pub(crate) fn read(&self, line: &str) -> Result<Option<Value>, String> {
        let line = line.trim();
        if line.is_empty() {
            return match self.may_be_empty {
                true => Ok(None),
                false => Err("비워 둘 수 없습니다.".to_owned()),
            };
        }
        let value = match self.options.is_empty() {
            true => self.parsed(line)?,
            false => self.chosen(line)?,
        };
        let faults = self.validator.iter().flat_map(|validator| validator.iter_errors(&value));
        let faults: Vec<_> = faults.map(|fault| fault.to_string()).collect();
        match (faults.is_empty(), self.schema.get("format").and_then(Value::as_str)) {
            (true, _) => Ok(Some(value)),
            (false, Some("date")) => Err("날짜는 2026-03-01처럼 쓰세요.".to_owned()),
            (false, _) => Err(faults.join("; ")),
        }
    }

    fn chosen(&self, line: &str) -> Result<Value, String> {
        let by_number = line.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
        let by_number = by_number.and_then(|at| self.options.get(at));
        let by_words = || {
            self.options.iter().find(|(value, words)| words == line || value.as_str() == Some(line))
        };
        let option = by_number.or_else(by_words);
        let wrong = || format!("1에서 {}까지의 번호로 답하세요.", self.options.len());
        option.map(|(value, _)| value.clone()).ok_or_else(wrong)
    }

    fn parsed(&self, line: &str) -> Result<Value, String> {
        let kinds = match self.schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.and_then(Value::as_str).into_iter().collect::<Vec<_>>(),
        };
        let is = |kind: &str| kinds.contains(&kind);
        if is("boolean") {
            return match line.to_lowercase().as_str() {
                "예" | "네" | "y" | "yes" | "true" => Ok(true.into()),
                "아니오" | "아니요" | "n" | "no" | "false" => Ok(false.into()),
                _ => Err("예 또는 아니오로 답하세요.".to_owned()),
            };
        }
        if is("integer") || is("number") {
            let digits = line.replace(',', "");
            let number = serde_json::from_str::<Value>(&digits).ok().filter(Value::is_number);
            let number = number.or_else(|| won(line));
            return number.ok_or_else(|| "수로 답하세요.".to_owned());
        }
        if is("object") || is("array") {
            return serde_json::from_str(line)
                .map_err(|error| format!("JSON으로 답하세요: {error}"));
        }
        match is("string") {
            true => Ok(line.into()),
            false => Ok(serde_json::from_str(line).unwrap_or_else(|_not_json| line.into())),
        }
    }
}

/// An amount of money as people write it, in whole won: `3억 5천만원`.
fn won(line: &str) -> Option<Value> {
    let mut figures = hanok_figures::figures(line);
    let amount = figures.next().filter(|_| figures.next().is_none())?.into_amount()?;
    let is_won = amount.unit == AmountUnit::Won;
    let won = amount.value.to_string().parse::<i64>().ok();
    won.filter(|_| is_won).map(Value::from)
}

/// What a question shows, as text.
pub(crate) fn shown(payload: &Value) -> String {
    match payload {
        Value::String(text) => text.clone(),
        Value::Object(object) => {
            let words = ["question", "message", "text", "title"];
            match words.iter().find_map(|key| object.get(*key)?.as_str()) {
                Some(text) => text.to_owned(),
                None => payload.to_string(),
            }
        }
        payload => payload.to_string(),
    }
}

/// The values that `schema` lists, each with the words for it.
fn options(schema: &Value, root: &Value) -> Vec<(Value, String)> {
    let listed = ListedValue::all(schema, root).into_iter().map(|it| {
        let words = it.words();
        let words = it.description.or(it.title).unwrap_or(words);
        (it.value, words)
    });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use hanok_core::{Audience, Namespace, RequestId, Stored};
    use serde_json::json;

    use super::*;

    fn question(schema: Option<&Value>) -> Pending {
        let schema = schema.map(|schema| schema.to_string().into());
        Pending {
            id: RequestId("q".into()),
            node: "ask".to_owned(),
            payload: Stored::encode("누구와 계약하나요?").unwrap(),
            schema,
            deadline: None,
            audience: Audience::everybody(),
            path: Namespace::root(),
            doubt: None,
        }
    }

    #[test]
    fn an_object_is_asked_for_field_by_field() {
        let schema = json!({
            "type": "object",
            "required": ["tenant", "months", "kind"],
            "properties": {
                "tenant": {"type": "string", "title": "임차인", "minLength": 2},
                "months": {"type": "integer", "minimum": 1},
                "kind": {"$ref": "#/$defs/Kind"},
                "pets": {"type": ["boolean", "null"], "description": "동물을 기르나요"},
            },
            "$defs": {"Kind": {"oneOf": [
                {"const": "jeonse", "description": "전세"}, {"const": "monthly", "description": "월세"},
            ]}},
        });
        let form = Form::of(&question(Some(&schema)));
        assert_eq!(form.question, "누구와 계약하나요?");
        let prompts: Vec<_> = form.fields.iter().map(Field::prompt).collect();
        let read = |name: &str, line: &str| {
            form.fields.iter().find(|field| field.name == name).unwrap().read(line)
        };
        assert!(prompts.contains(&"임차인".to_owned()), "{prompts:?}");
        assert!(prompts.contains(&"kind\n  1) 전세\n  2) 월세".to_owned()), "{prompts:?}");
        assert_eq!(read("tenant", " 김하나 ").unwrap(), Some(json!("김하나")));
        assert!(read("tenant", "김").unwrap_err().contains("shorter than 2"));
        assert_eq!(read("tenant", "").unwrap_err(), "비워 둘 수 없습니다.");
        assert_eq!(read("months", "1,200").unwrap(), Some(json!(1200)));
        assert_eq!(read("months", "3억 5천만원").unwrap(), Some(json!(350_000_000)));
        assert_eq!(read("months", "둘").unwrap_err(), "수로 답하세요.");
        assert!(read("months", "0").is_err() && read("months", "1.5").is_err());
        assert_eq!(read("kind", "2").unwrap(), Some(json!("monthly")));
        assert_eq!(read("kind", "전세").unwrap(), Some(json!("jeonse")));
        assert!(read("kind", "3").is_err());
        assert_eq!(read("pets", "네").unwrap(), Some(json!(true)));
        assert_eq!(read("pets", "").unwrap(), None);
        let values = form.fields.iter().map(|field| match field.name.as_str() {
            "tenant" => Some(json!("김하나")),
            "months" => Some(json!(24)),
            _ => None,
        });
        let want = json!({"tenant": "김하나", "months": 24});
        assert_eq!(form.answer(values.collect()), want);
    }

    #[test]
    fn a_question_without_a_schema_takes_json_or_text() {
        let form = Form::of(&question(None));
        let read = |line: &str| form.answer(vec![form.fields[0].read(line).unwrap()]);
        assert_eq!(read("7"), json!(7));
        assert_eq!(read("김하나"), json!("김하나"));
    }

    #[test]
    fn a_call_in_doubt_is_settled() {
        let doubt = Doubted { tool: "pay".into(), key: "k".into(), arguments: "{}".into() };
        let form = Form::of(&Pending { doubt: Some(doubt), ..question(None) });
        let settled = |line: &str| form.answer(vec![form.fields[0].read(line).unwrap()]);
        assert_eq!(settled("1"), json!("not_made"));
        assert_eq!(settled("2"), json!("give_up"));
        assert!(form.fields[0].read("3").is_err());
    }
}
