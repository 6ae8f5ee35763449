//! Comparing stored values.

use std::{cmp::Ordering, collections::BTreeMap, fmt};

use hanok_core::Stored;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// A stored value, taken apart.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Map(BTreeMap<Key, Value>),
}

/// A key of a map. One that is no text is kept as it is shown, apart from the texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Text(String),
    Other(String),
}

impl Value {
    /// `None` for a value that cannot be read, or is nested deeper than a value may be.
    pub(crate) fn of(stored: &Stored) -> Option<Self> {
        stored.decode().ok()
    }

    /// Compares two values, numbers by what they amount to. Nothing equals a NaN.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nil, Self::Nil) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Self::Map(a), Self::Map(b)) => {
                let mut pairs = a.iter().zip(b);
                a.len() == b.len() && pairs.all(|((k, a), (l, b))| k == l && a.equals(b))
            }
            (a, b) => a.order(b) == Some(Ordering::Equal),
        }
    }

    /// Which is greater, of two numbers or two texts; `None` of anything else.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Int(a), Self::Float(b)) => exactly(*a, *b),
            (Self::Float(a), Self::Int(b)) => exactly(*b, *a).map(Ordering::reverse),
            _ => None,
        }
    }

    /// Adds every text in this value to `texts`, in the order of the keys.
    pub(crate) fn texts(self, texts: &mut Vec<String>) {
        match self {
            Self::Text(text) => texts.push(text),
            Self::List(items) => items.into_iter().for_each(|item| item.texts(texts)),
            Self::Map(entries) => entries.into_values().for_each(|value| value.texts(texts)),
            Self::Nil | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Bytes(_) => {}
        }
    }
}

/// Compares without rounding: a float of 53 bits cannot tell 2⁵³ from 2⁵³ + 1.
fn exactly(int: i128, float: f64) -> Option<Ordering> {
    // No stored integer is as large as 2⁶⁴, so whatever saturates here compares as it should.
    let whole = float.trunc();
    let rest = 0.0.partial_cmp(&(float - whole)).filter(|_| whole.is_finite());
    match float {
        float if float.is_nan() => None,
        float if float.is_infinite() => 0.0.partial_cmp(&float),
        _ => Some(int.cmp(&(whole as i128)).then(rest?)),
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

macro_rules! visits {
    ($($method:ident($type:ty) => $make:expr;)*) => {
        $(fn $method<E>(self, value: $type) -> Result<Value, E> {
            let make: fn($type) -> Value = $make;
            Ok(make(value))
        })*
    };
}

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a stored value")
    }

    visits! {
        visit_bool(bool) => Value::Bool;
        visit_i64(i64) => |value| Value::Int(value.into());
        visit_u64(u64) => |value| Value::Int(value.into());
        visit_f64(f64) => Value::Float;
        visit_str(&str) => |value| Value::Text(value.to_owned());
        visit_bytes(&[u8]) => |value| Value::Bytes(value.to_owned());
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = parts.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some((key, value)) = parts.next_entry()? {
            let key = match key {
                Value::Text(text) => Key::Text(text),
                other => Key::Other(format!("{other:?}")),
            };
            entries.insert(key, value);
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_without_rounding() {
        use Ordering::{Equal, Greater, Less};
        for (int, float, want) in [
            (1, 1.0, Some(Equal)),
            (1, 1.5, Some(Less)),
            (-1, -1.5, Some(Greater)),
            (0, -0.0, Some(Equal)),
            (0, -0.5, Some(Greater)),
            ((1 << 53) + 1, 9_007_199_254_740_992.0, Some(Greater)),
            (i128::from(u64::MAX), 18_446_744_073_709_551_616.0, Some(Less)),
            (i128::from(i64::MIN), -9_223_372_036_854_775_808.0, Some(Equal)),
            (i128::from(u64::MAX), f64::MAX, Some(Less)),
            (i128::from(u64::MAX), f64::INFINITY, Some(Less)),
            (i128::from(i64::MIN), f64::NEG_INFINITY, Some(Greater)),
            (0, f64::NAN, None),
        ] {
            assert_eq!(Value::Int(int).order(&Value::Float(float)), want, "{int} {float}");
            let turned = want.map(Ordering::reverse);
            assert_eq!(Value::Float(float).order(&Value::Int(int)), turned, "{float} {int}");
        }
    }
}
