//! The result of a call that must not be repeated.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor, value::SeqAccessDeserializer},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

use super::tool_result::ToolResult;

/// The only member of a record, by which it is told from what a person says.
const RECORD: &str = "hanok.tool_result";

/// The result of a call that must not be repeated: the stored record, or the result that a person gives, as a text or as JSON.
///
/// It is read without serde's buffer for untagged enums, which would read what a compact format has in another form as if it were JSON.
#[derive(Debug)]
pub(crate) enum OnceResult {
    Record(Box<ToolResult>),
    Text(String),
    Json(Value),
}

impl Serialize for OnceResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Record(record) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(RECORD, record)?;
                map.end()
            }
            Self::Text(text) => serializer.serialize_str(text),
            Self::Json(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for OnceResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceVisitor)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = OnceResult;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the record of a call, or what a person says of it")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OnceResult, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == RECORD && members.is_empty() {
                return Ok(OnceResult::Record(map.next_value()?));
            }
            members.insert(name, map.next_value()?);
        }
        Ok(OnceResult::Json(Value::Object(members)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<OnceResult, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(items)).map(OnceResult::Json)
    }

    fn visit_str<E>(self, text: &str) -> Result<OnceResult, E> {
        Ok(OnceResult::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<OnceResult, E> {
        Ok(OnceResult::Json(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<OnceResult, E> {
        Ok(OnceResult::Json(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<OnceResult, E> {
        Ok(OnceResult::Json(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<OnceResult, E> {
        Ok(OnceResult::Json(value.into()))
    }

    fn visit_unit<E>(self) -> Result<OnceResult, E> {
        Ok(OnceResult::Json(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use hanok_core::{Call, Spent, Stored};
    use hanok_model::DataMark;
    use hanok_state::Json;
    use serde_json::json;

    use super::*;
    use crate::observation::Observation;

    /// P4: a call that must not be repeated has the same result when its run begins again.
    #[test]
    fn a_stored_record_is_read_as_it_was() {
        let data = json!({"days": 15, "of": ["a", null]});
        let made = ToolResult {
            observation: Observation::result("15 days".into(), Some(Json(data))),
            mark: DataMark::of_call(&Call::detached()),
            spent: Spent::default(),
            update: None,
            target: None,
        };
        let stored = Stored::encode(&OnceResult::Record(Box::new(made.clone()))).unwrap();
        let read: OnceResult = stored.decode().unwrap();
        assert!(matches!(&read, OnceResult::Record(read) if **read == made), "{read:?}");
    }

    #[test]
    fn what_a_person_says_is_read_as_they_said_it() {
        for said in [json!("made"), json!({"days": [15, 1.5, true, null]}), json!([{}]), json!(-3)]
        {
            let read: OnceResult = Stored::encode(&said).unwrap().decode().unwrap();
            let read = match read {
                OnceResult::Text(text) => json!(text),
                OnceResult::Json(value) => value,
                OnceResult::Record(record) => panic!("{record:?}"),
            };
            assert_eq!(read, said);
        }
    }
}
