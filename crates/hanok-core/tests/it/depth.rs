//! What is written is read again, however deep; what would not be is refused.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_core::{Stored, StoredError};
use serde::{Deserialize, Serialize};

/// A value that is nested by each of serde's ways.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Nested {
    End,
    List(Vec<Nested>),
    Pair(Box<Nested>, u8),
    Named { within: Box<Nested> },
    Maybe(Option<Box<Nested>>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Thin(Option<Box<Thin>>);

fn nested(depth: usize, way: usize) -> Nested {
    (0..depth).fold(Nested::End, |within, _| match way {
        0 => Nested::List(vec![within]),
        1 => Nested::Pair(Box::new(within), 1),
        2 => Nested::Named { within: Box::new(within) },
        _ => Nested::Maybe(Some(Box::new(within))),
    })
}

/// P22, P23: also when it stands in a list of a list, as states and their collections wrap what is written.
#[test]
fn what_is_written_is_read_again_when_a_state_wraps_it() {
    for way in 0..4 {
        let deepest = (0..200)
            .take_while(|depth| Stored::encode(&nested(*depth, way)).is_ok())
            .last()
            .unwrap();
        assert!(deepest >= 37, "way {way}: {deepest}");
        let value = nested(deepest, way);
        let mut stored = Stored::encode(&value).unwrap();
        assert_eq!(stored.decode::<Nested>().unwrap(), value);
        for _ in 0..7 {
            stored = Stored::list([&stored].into_iter());
            let field = Stored::encode("field").unwrap();
            stored = Stored::map([(&field, &stored)].into_iter());
        }
        type Wrapped = std::collections::BTreeMap<String, Vec<serde::de::IgnoredAny>>;
        stored.decode::<Wrapped>().unwrap();
        Stored::from_bytes(stored.as_bytes().to_vec()).unwrap();
        let error = Stored::encode(&nested(deepest + 1, way)).unwrap_err();
        assert!(matches!(error, StoredError::TooDeep { .. }), "{error:?}");
    }
}

/// P23: nothing that is nested overflows the stack, not even what takes no byte for each level.
#[test]
fn a_value_of_ten_thousand_levels_is_refused() {
    for way in 0..4 {
        let value = nested(10_000, way);
        assert!(matches!(Stored::encode(&value), Err(StoredError::TooDeep { .. })));
        // Its own drop would recurse, which is not what is tested here.
        std::mem::forget(value);
    }
    let thin = (0..10_000).fold(Thin(None), |within, _| Thin(Some(Box::new(within))));
    assert!(matches!(Stored::encode(&thin), Err(StoredError::TooDeep { .. })));
    std::mem::forget(thin);
}
