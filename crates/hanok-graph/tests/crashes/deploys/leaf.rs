//! A state in several builds, alone, nested, and nested in a nested one.

use std::fmt::Debug;

use hanok_core::{Change, Fields, Stored};
use hanok_graph::BoxError;
use hanok_state::{List, Map, State};

/// One build's type of the state that all builds speak of.
pub(super) trait Leaf: State + Debug + PartialEq {
    /// What the first turn writes.
    fn first() -> Self::Update;
    /// What a task writes whose write is pending.
    fn pending() -> Self::Update;
    /// What a turn after the deploy writes.
    fn later() -> Self::Update;
}

/// A state with a leaf somewhere in it.
pub(super) trait Tree: State + Debug + PartialEq {
    type Leaf: Leaf;
    fn of(update: <Self::Leaf as State>::Update) -> Self::Update;
    fn leaf(&self) -> &Self::Leaf;
}

/// A build: the leaf, the same nested, and nested twice.
macro_rules! build {
    ($build:ident: $facts:ident, $count:expr, $later:expr; $(#[$attribute:meta])* { $($fields:tt)* } $default:expr) => {
        pub(super) mod $build {
            use super::*;

            #[derive(State, Debug, Clone, PartialEq)]
            $(#[$attribute])*
            pub(crate) struct One {
                $($fields)*
            }

            impl Default for One {
                fn default() -> Self {
                    $default
                }
            }

            #[derive(State, Debug, Clone, Default, PartialEq)]
            pub(crate) struct Two {
                #[reduce(nested)]
                leaf: One,
                beside: u32,
            }

            #[derive(State, Debug, Clone, Default, PartialEq)]
            pub(crate) struct Three {
                beside: u32,
                #[reduce(nested)]
                middle: Two,
            }

            impl Leaf for One {
                fn first() -> OneUpdate {
                    let count: fn(OneUpdate, u32) -> OneUpdate = $count;
                    count(One::update().$facts(["a".to_owned()]).insert_by("k", 1u32), 1)
                }

                fn pending() -> OneUpdate {
                    let count: fn(OneUpdate, u32) -> OneUpdate = $count;
                    count(One::update().$facts(["b".to_owned()]).insert_by("l", 2u32), 7)
                }

                fn later() -> OneUpdate {
                    let later: fn(OneUpdate) -> OneUpdate = $later;
                    later(One::update().$facts(["c".to_owned()]).insert_by("m", 3u32))
                }
            }

            impl Tree for One {
                type Leaf = One;
                fn of(update: OneUpdate) -> OneUpdate {
                    update
                }
                fn leaf(&self) -> &One {
                    self
                }
            }

            impl Tree for Two {
                type Leaf = One;
                fn of(update: OneUpdate) -> TwoUpdate {
                    Two::update().leaf(update)
                }
                fn leaf(&self) -> &One {
                    &self.leaf
                }
            }

            impl Tree for Three {
                type Leaf = One;
                fn of(update: OneUpdate) -> ThreeUpdate {
                    Three::update().middle(Two::of(update))
                }
                fn leaf(&self) -> &One {
                    &self.middle.leaf
                }
            }
        }
    };
}

fn as_text(_: u32, fields: &mut Fields) -> Result<(), BoxError> {
    if let Some(count) = fields.take("count") {
        let count: u32 = count.to_stored().decode()?;
        fields.apply("count", &Change::Set(Stored::encode(&count.to_string())?))?;
    }
    Ok(())
}

fn in_cents(_: u32, fields: &mut Fields) -> Result<(), BoxError> {
    if let Some(count) = fields.take("count") {
        let count: u32 = count.to_stored().decode()?;
        fields.apply("cents", &Change::Set(Stored::encode(&(count * 100))?))?;
    }
    Ok(())
}

build! { base: facts, |to, n| to.count(n), |to| to;
    {
        #[reduce(append)]
        pub(crate) facts: List<String>,
        pub(crate) count: u32,
        #[reduce(merge)]
        pub(crate) by: Map<String, u32>,
    }
    Self { facts: List::default(), count: 0, by: Map::default() }
}

build! { renamed: known, |to, n| to.total(n), |to| to;
    {
        #[reduce(append)]
        #[state(alias = "facts")]
        pub(crate) known: List<String>,
        #[state(alias = "count")]
        pub(crate) total: u32,
        #[reduce(merge)]
        pub(crate) by: Map<String, u32>,
    }
    Self { known: List::default(), total: 0, by: Map::default() }
}

build! { added: facts, |to, n| to.count(n), |to| to.push_rules("be brief");
    {
        #[reduce(append)]
        pub(crate) facts: List<String>,
        pub(crate) count: u32,
        #[reduce(merge)]
        pub(crate) by: Map<String, u32>,
        #[reduce(append)]
        pub(crate) rules: List<String>,
        pub(crate) mood: String,
    }
    Self {
        facts: List::default(),
        count: 0,
        by: Map::default(),
        rules: ["be polite".to_owned()].into_iter().collect(),
        mood: "calm".to_owned(),
    }
}

build! { retyped: facts, |to, n| to.count(n.to_string()), |to| to;
    #[state(version = 2, upgrade = as_text)]
    {
        #[reduce(append)]
        pub(crate) facts: List<String>,
        pub(crate) count: String,
        #[reduce(merge)]
        pub(crate) by: Map<String, u32>,
    }
    Self { facts: List::default(), count: "0".to_owned(), by: Map::default() }
}

build! { recast: known, |to, n| to.cents(n * 100), |to| to;
    #[state(version = 2, upgrade = in_cents)]
    {
        #[reduce(append)]
        #[state(alias = "facts")]
        pub(crate) known: List<String>,
        pub(crate) cents: u32,
        #[reduce(merge)]
        pub(crate) by: Map<String, u32>,
    }
    Self { known: List::default(), cents: 0, by: Map::default() }
}

build! { removed: facts, |to, _| to, |to| to;
    {
        #[reduce(append)]
        pub(crate) facts: List<String>,
        #[reduce(merge)]
        pub(crate) by: Map<String, u32>,
    }
    Self { facts: List::default(), by: Map::default() }
}
