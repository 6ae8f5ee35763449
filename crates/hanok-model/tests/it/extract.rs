//! Parts of the run that a tool takes out of its call.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::sync::Arc;

use hanok_core::{Call, Need};
use hanok_model::{FromCall, FromState, Services, ToolError};

use crate::clock::call;

#[derive(Debug, PartialEq)]
struct App(u32);

#[derive(Debug, PartialEq)]
struct Desk(u32);

/// An extractor that refuses.
#[derive(Debug)]
struct Nobody;

impl FromCall for Nobody {
    fn needs() -> Vec<Need> {
        Vec::new()
    }

    fn from_call(_: &Call) -> Result<Self, ToolError> {
        Err(ToolError::refused("nobody is signed in"))
    }
}

#[test]
fn a_part_is_found_by_its_type_and_missed_by_its_name() {
    let carries = call().provide(Arc::new(App(1))).provide(Arc::new(Desk(2)));
    assert_eq!(*Services::<App>::from_call(&carries).unwrap(), App(1));
    assert_eq!(*FromState::<Desk>::from_call(&carries).unwrap(), Desk(2));
    assert_eq!(Call::from_call(&carries).unwrap().key(), carries.key());

    let error = FromState::<Desk>::from_call(&call()).unwrap_err();
    assert!(matches!(&error, ToolError::NotProvided { .. }), "{error:?}");
    let want = "the tool needs it::extract::Desk, and its call does not carry it";
    assert_eq!(error.to_string(), want);
    assert_eq!(Services::<App>::needs(), [Need::of::<App>()]);
    assert_eq!(FromState::<Desk>::needs(), [Need::of::<Desk>()]);
    assert_eq!(Call::needs(), []);
}

#[test]
fn an_optional_part_is_none_where_it_is_missing_and_an_error_where_it_is_refused() {
    type Optional = Option<Services<App>>;
    assert_eq!(Optional::needs(), []);
    assert!(Optional::from_call(&call()).unwrap().is_none());
    let carries = call().provide(Arc::new(App(1)));
    assert_eq!(*Optional::from_call(&carries).unwrap().unwrap(), App(1));

    let error = Option::<Nobody>::from_call(&carries).unwrap_err();
    assert!(matches!(&error, ToolError::Refused { .. }), "{error:?}");
}

#[test]
fn what_a_part_holds_is_not_printed() {
    let printed = format!("{:?} {:?}", Services::new(App(17)), FromState::new(Desk(18)));
    assert_eq!(printed, "Services<it::extract::App> FromState<it::extract::Desk>");
}

#[cfg(feature = "store")]
#[tokio::test]
async fn the_store_of_the_run_is_shared() {
    use hanok_checkpoint::{InMemoryStore, Put, SharedStore, Store};
    use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};

    assert_eq!(SharedStore::needs(), [Need::of::<SharedStore>()]);
    assert!(SharedStore::from_call(&call()).is_err());
    let store = SharedStore::new(InMemoryStore::new());
    let key = ItemKey::new(Tenant::default(), Labels::new(["kim"]).unwrap(), "city").unwrap();
    let put = Put::new(Stored::encode("서울").unwrap());
    store.put(&key, put, Timestamp(1)).await.unwrap();

    let carried = SharedStore::from_call(&call().provide(Arc::new(store))).unwrap();
    let item = carried.get(&key, Timestamp(1)).await.unwrap().unwrap();
    assert_eq!(item.value.decode::<String>().unwrap(), "서울");
}
