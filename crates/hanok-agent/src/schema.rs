//! Checks arguments against a tool's schema, in words for the model.

use hanok_core::BoxError;
use hanok_parse::Language;
use hanok_state::Arguments;
use jsonschema::{
    PatternOptions, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use crate::{observation::cut, sentence::sentence};

/// The most mistakes in one message to a model.
const MISTAKES: usize = 5;

/// The most bytes of a call's arguments: a quarter of the longest line that is read of a model's server.
const LONGEST: usize = 1024 * 1024;

/// The most bytes of a value that a sentence quotes.
const QUOTED: usize = 80;

/// The most steps back of a schema's pattern. Schemas come from outside too.
const BACKTRACKS: usize = 10_000;

/// Compiles `schema`. What it refers to has to stand in it: nothing is fetched.
pub(crate) fn compile(schema: &Value) -> Result<Validator, BoxError> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS))
        .build(schema)
        .map_err(|error| error.to_string().into())
}

/// The mistakes in `arguments`, a sentence each; none when they fit.
pub(crate) fn mistakes(
    validator: &Validator,
    arguments: &Arguments,
    language: Language,
) -> Vec<String> {
    let text = arguments.as_str();
    if text.len() > LONGEST {
        return vec![too_long(text.len(), language)];
    }
    // A key that stands twice is told before anything else: what is read has one of the two values only.
    if let Some(key) = arguments.repeated_key() {
        return vec![twice(&key, language)];
    }
    match serde_json::from_str(text) {
        Ok(arguments) => faults(validator, &arguments, Noun::Arguments, language),
        Err(error) => vec![sentence!(
            language,
            "인자가 JSON이 아닙니다({error}).",
            "The arguments are not JSON ({error})."
        )],
    }
}

/// `schema` for what people write by hand: an object that names its fields has no others, unless the schema says so itself. Where
/// schemas are put together ([`allOf`] and the like) none is closed, for each would refuse the fields of the others.
///
/// [`allOf`]: https://json-schema.org/understanding-json-schema/reference/combining
pub(crate) fn closed(schema: &Value) -> Value {
    /// What says of itself which other fields there are, or leaves it to other schemas.
    const OPEN: [&str; 10] = [
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "$ref",
        "$dynamicRef",
    ];
    let mut closed_schema = schema.clone();
    let Some(members) = closed_schema.as_object_mut() else { return closed_schema };
    if OPEN.iter().any(|name| members.contains_key(*name)) {
        return closed_schema;
    }
    if let Some(fields) = members.get_mut("properties").and_then(Value::as_object_mut) {
        fields.values_mut().for_each(|field| *field = closed(field));
        members.insert("additionalProperties".to_owned(), false.into());
    }
    if let Some(items) = members.get_mut("items") {
        *items = closed(items);
    }
    closed_schema
}

fn too_long(bytes: usize, language: Language) -> String {
    sentence!(
        language,
        "인자가 {bytes}바이트입니다. {LONGEST}바이트까지만 받으니 나누어 부르세요.",
        "The arguments have {bytes} bytes, and at most {LONGEST} are taken: make several calls."
    )
}

/// The mistake of a key that stands twice.
pub(crate) fn twice(key: &str, language: Language) -> String {
    let key = short(key);
    sentence!(
        language,
        "`{key}` 값이 두 번 있습니다. 한 번만 쓰세요.",
        "`{key}` stands twice: write it once."
    )
}

/// The value that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noun {
    Arguments,
    Answer,
}

/// The mistakes in `value`, a sentence each; none when it fits.
pub(crate) fn faults(
    validator: &Validator,
    value: &Value,
    noun: Noun,
    language: Language,
) -> Vec<String> {
    let errors = validator.iter_errors(value).take(MISTAKES);
    errors.map(|error| sentence(&error, noun, language)).collect()
}

fn sentence(error: &ValidationError<'_>, noun: Noun, language: Language) -> String {
    let field = field(error.instance_path().as_str());
    let value = quoted(error.instance());
    let (in_korean, in_english) = (named(&field, noun, true), named(&field, noun, false));
    let (korean, english) = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let missing = below(&field, property.as_str().unwrap_or_default());
            (format!("`{missing}` 값이 없습니다."), format!("`{missing}` is missing."))
        }
        ValidationErrorKind::Type { kind } => {
            let kind = type_name(kind);
            (
                format!("{in_korean}의 형식은 {kind}이어야 하는데 {value}입니다."),
                format!("{in_english} has to be of type {kind}, and is {value}."),
            )
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(|all| all.iter().map(quoted).collect::<Vec<_>>());
            let options = options.unwrap_or_default().join(", ");
            (
                format!("{in_korean}에는 {options} 중 하나를 써야 하는데 {value}입니다."),
                format!("{in_english} has to be one of {options}, and is {value}."),
            )
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names = unexpected.iter().map(|name| format!("`{}`", below(&field, short(name))));
            let names = names.collect::<Vec<_>>().join(", ");
            let (korean, english) = match noun {
                Noun::Arguments => ("인자는", "argument"),
                Noun::Answer => ("항목은", "field"),
            };
            (format!("{names} {korean} 없습니다."), format!("There is no {english} {names}."))
        }
        _ => {
            let message = error.masked().to_string();
            let message = short(&message);
            (
                format!("{in_korean}의 값 {value}이(가) 맞지 않습니다({message})."),
                format!("{in_english} does not fit, and is {value} ({message})."),
            )
        }
    };
    if language == Language::Korean { korean } else { english }
}

/// The field a JSON pointer names: `/items/0/name` is `items.0.name`.
fn field(pointer: &str) -> String {
    let steps: Vec<_> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    short(&steps.join(".")).to_owned()
}

fn below(field: &str, name: &str) -> String {
    if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") }
}

fn named(field: &str, noun: Noun, korean: bool) -> String {
    match (field.is_empty(), korean, noun) {
        (true, true, Noun::Arguments) => "인자 전체".to_owned(),
        (true, true, Noun::Answer) => "답 전체".to_owned(),
        (true, false, Noun::Arguments) => "The whole of the arguments".to_owned(),
        (true, false, Noun::Answer) => "The whole answer".to_owned(),
        (false, ..) => format!("`{field}`"),
    }
}

fn type_name(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join("/")
        }
    }
}

fn quoted(value: &Value) -> String {
    let text = value.to_string();
    let (text, more) = cut(&text, QUOTED);
    format!("{text}{}", if more { "…" } else { "" })
}

fn short(text: &str) -> &str {
    cut(text, QUOTED).0
}

#[cfg(test)]
mod tests {
    use hanok_parse::Language;
    use serde_json::json;

    use super::{compile, mistakes};

    #[test]
    fn every_mistake_names_its_field() {
        let validator = compile(&json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "top": {"type": ["integer", "null"]},
                "unit": {"enum": ["day", "hour"]},
                "items": {"type": "array", "items": {"type": "object", "required": ["name"]}},
            },
            "required": ["query"],
            "additionalProperties": false,
        }))
        .unwrap();
        for (arguments, english, korean) in [
            (r#"{"query":"휴가"}"#, "", ""),
            ("{}", "`query` is missing.", "`query` 값이 없습니다."),
            (
                r#"{"query":7}"#,
                "`query` has to be of type string, and is 7.",
                "`query`의 형식은 string이어야 하는데 7입니다.",
            ),
            (
                r#"{"query":"휴가","unit":"week"}"#,
                r#"`unit` has to be one of "day", "hour", and is "week"."#,
                r#"`unit`에는 "day", "hour" 중 하나를 써야 하는데 "week"입니다."#,
            ),
            (
                r#"{"query":"휴가","top":1,"top":null}"#,
                "`top` stands twice: write it once.",
                "`top` 값이 두 번 있습니다. 한 번만 쓰세요.",
            ),
            (r#"{"query":"휴가","q":1}"#, "There is no argument `q`.", "`q` 인자는 없습니다."),
            (
                r#"{"query":"휴가","items":[{}]}"#,
                "`items.0.name` is missing.",
                "`items.0.name` 값이 없습니다.",
            ),
            (
                "[]",
                "The whole of the arguments has to be of type object, and is [].",
                "인자 전체의 형식은 object이어야 하는데 []입니다.",
            ),
        ] {
            let text = |language| mistakes(&validator, &arguments.into(), language).join(" ");
            assert_eq!(text(Language::English), english, "{arguments}");
            assert_eq!(text(Language::Korean), korean, "{arguments}");
        }
        let broken = mistakes(&validator, &"{".into(), Language::English).join(" ");
        assert!(broken.starts_with("The arguments are not JSON"), "{broken}");
    }

    #[test]
    fn a_schema_that_refers_elsewhere_is_refused() {
        for schema in
            [json!({"$ref": "https://example.com/schema.json"}), json!({"type": "no such type"})]
        {
            assert!(compile(&schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_pattern_that_backs_up_for_ever_is_a_mistake_and_not_a_hang() {
        let pattern =
            json!({"properties": {"q": {"type": "string", "pattern": "^(?=(a+)+$)(a+)+$"}}});
        let validator = compile(&pattern).unwrap();
        let arguments = json!({"q": format!("{}!", "a".repeat(5_000))}).to_string();
        assert_eq!(mistakes(&validator, &arguments.into(), Language::English).len(), 1);
    }
}
