//! What stores and services keep of a thread beside its log, in and out of JSON.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{collections::BTreeMap, fmt::Debug};

use hanok_checkpoint::{
    Checkpoint, Claim, Epoch, Head, HeadSeal, Holder, Life, Link, RunEnd, Source, ThreadInfo, Tip,
    Version,
};
use hanok_core::{Namespace, Position, RunId, Stored, ThreadKey, Timestamp};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&json).unwrap(), *value, "{json}");
    assert_eq!(Stored::encode(value).unwrap().decode::<T>().unwrap(), *value, "{json}");
}

proptest! {
    #[test]
    fn a_head_with_its_claim_comes_back(id: u128, bytes: [u8; 32], number: u64, pid: u32, host: String) {
        let (life, position, epoch) = (Life::new(id), Position(number), Epoch(number));
        prop_assert_eq!(life.to_string().parse(), Ok(life));
        let holder = Holder { host, boot: String::new(), pid, started: number, instance: id };
        let claim = Claim { run: RunId(id), holder, epoch, beat: Timestamp(number) };
        let (link, seal) = (Some(Link(bytes)), Some(HeadSeal(bytes)));
        let head = Head { life, position, floor: position, epoch, claim: Some(claim), link, seal };
        comes_back(&head);
        comes_back(&Tip::of(&head));
        let thread = ThreadKey::named("t").unwrap();
        comes_back(&ThreadInfo { head, ..ThreadInfo::damaged(thread, "torn".into()) });
        comes_back(&Version(number));
    }

    #[test]
    fn the_end_of_a_run_is_its_word(name: String) {
        for end in [RunEnd::InDoubt, RunEnd::from(name.as_str())] {
            prop_assert_eq!(serde_json::to_value(&end).unwrap(), json!(end.as_str()));
            comes_back(&end);
        }
    }
}

#[test]
fn a_checkpoint_comes_back_and_what_is_no_id_does_not() {
    let checkpoint = Checkpoint {
        position: Position(7),
        parent: None,
        at: Timestamp(5),
        path: Namespace::root().child("a/b").unwrap(),
        step: 1,
        source: Source::Loop,
        nodes: vec!["a".into()],
        next: Vec::new(),
        run: Some(RunId(1)),
        tags: BTreeMap::from([("by".into(), "ann".into())]),
    };
    assert_eq!(serde_json::to_value(&checkpoint).unwrap()["source"], "loop");
    comes_back(&checkpoint);
    let wrong = serde_json::from_value::<Life>(json!("2a")).unwrap_err();
    assert_eq!(wrong.to_string(), "the life is not 32 hexadecimal digits");
    let wrong = serde_json::from_value::<Link>(json!("+".repeat(64))).unwrap_err();
    assert_eq!(wrong.to_string(), "the link is not 64 hexadecimal digits");
    let mut holder = serde_json::to_value(Holder::this_process(1)).unwrap();
    holder["instance"] = json!("1");
    assert!(serde_json::from_value::<Holder>(holder).is_err());
}
