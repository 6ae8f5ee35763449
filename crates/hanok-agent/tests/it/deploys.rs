//! What tools and hooks wrote in an earlier build, read by the next one while the turn waits for a person.

use std::sync::{Arc, Mutex};

use hanok_agent::{AgentState, HasAgent, Hook, Hooked, Protocol, ReactAgent};
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{BoxError, Change, Fields, Stored, ThreadKey};
use hanok_graph::{Context, Outcome, Thread};
use hanok_model::{Exchange, ScriptedModel, SharedTool, ToolOutput};
use hanok_state::{Map, Message, State};

use crate::support::desk::{asking, native, tool};

mod before {
    use super::*;

    #[derive(State, HasAgent, Clone, Default, Debug)]
    pub(super) struct Cart {
        #[reduce(nested)]
        pub(super) agent: AgentState,
        pub(super) net: u64,
        pub(super) tax: u64,
        #[reduce(merge)]
        pub(super) tags: Map<String, u32>,
    }
}

mod after {
    use super::*;

    /// The sum is stored instead of its parts, and the numbers of the tags are larger.
    #[derive(State, HasAgent, Clone, Default, Debug)]
    #[state(version = 2, upgrade = sum)]
    pub(super) struct Cart {
        #[reduce(nested)]
        pub(super) agent: AgentState,
        pub(super) total: u64,
        #[reduce(merge)]
        pub(super) tags: Map<String, u64>,
    }

    fn sum(_: u32, fields: &mut Fields) -> Result<(), BoxError> {
        let mut total = 0_u64;
        for part in ["net", "tax"] {
            if let Some(value) = fields.take(part) {
                total += value.to_stored().decode::<u64>()?;
            }
        }
        Ok(fields.apply("total", &Change::Set(Stored::encode(&total)?))?)
    }
}

/// Writes the price and takes a tag away.
fn price() -> SharedTool {
    tool("price", |_, _| {
        ToolOutput::new("priced").update(&before::Cart::update().net(5_u64).remove_tags("a"))
    })
}

fn agent<S: HasAgent>(model: ScriptedModel) -> ReactAgent<S> {
    let agent = ReactAgent::builder("till", "Sells", model).state::<S>();
    agent.protocol(Protocol::Native).tools([price(), asking()]).build().unwrap()
}

fn thread<S: HasAgent>(agent: &ReactAgent<S>, store: &SharedCheckpointer) -> Thread<S> {
    let app = agent.graph().clone().checkpointer(store.clone());
    app.thread(ThreadKey::named("t").unwrap())
}

/// The state after a turn in which `price` wrote beside a question that the next build is given the answer to.
async fn sold<S: HasAgent>() -> S {
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let calls = Exchange::calls([native("1", "price", ""), native("2", "ask", "")]);
    let old = agent::<before::Cart>(ScriptedModel::new([calls]));
    let tags = [("a", 1_u32), ("b", 2)].map(|(tag, count)| (tag.to_owned(), count));
    let input = old.ask("?").net(1_u64).tax(10_u64).tags(tags);
    let waits = thread(&old, &store).invoke(input, ()).await.unwrap();
    assert!(matches!(waits, Outcome::Interrupted(_)));
    let new = agent::<S>(ScriptedModel::new([Exchange::says("sold")]));
    thread(&new, &store).reply("yes", ()).await.unwrap().done().unwrap()
}

/// B120: a write is upgraded with the state that it was made on, not by itself.
#[tokio::test]
async fn a_tools_write_beside_a_question_outlives_a_deploy() {
    let quiet = sold::<before::Cart>().await;
    assert_eq!((quiet.net + quiet.tax, quiet.tags.len()), (15, 1));
    let cart = sold::<after::Cart>().await;
    assert_eq!((cart.total, cart.tags), (15, [("b".to_owned(), 2)].into_iter().collect()));
}

/// The builds in which hooks ran.
type Ran = Arc<Mutex<Vec<&'static str>>>;

/// Asks a person before the model is asked.
#[derive(Debug)]
struct Asks;

impl<S: HasAgent> Hook<S> for Asks {
    async fn before_model(&self, _: &S, context: &Context) -> Result<Hooked<S>, BoxError> {
        let _: String = context.interrupt("Go on?").await?;
        Ok(Hooked::new())
    }
}

/// A build with a hook `Greets` of its own, which writes `$field`.
macro_rules! build {
    ($build:ident, $field:ident) => {
        mod $build {
            use super::*;

            #[derive(State, HasAgent, Clone, Default, Debug)]
            pub(super) struct Visit {
                #[reduce(nested)]
                pub(super) agent: AgentState,
                pub(super) $field: String,
            }

            #[derive(Debug)]
            struct Greets(Ran);

            impl Hook<Visit> for Greets {
                async fn before_model(
                    &self,
                    _: &Visit,
                    _: &Context,
                ) -> Result<Hooked<Visit>, BoxError> {
                    self.0.lock().unwrap().push(stringify!($build));
                    Ok(Hooked::new().update(Visit::update().$field(stringify!($build))))
                }
            }

            pub(super) fn visit(store: &SharedCheckpointer, ran: &Ran) -> Thread<Visit> {
                let model = ScriptedModel::new([Exchange::says("done")]);
                let agent = ReactAgent::builder("door", "Greets", model).state::<Visit>();
                let agent = agent.protocol(Protocol::Native).hook(Greets(ran.clone())).hook(Asks);
                thread(&agent.build().unwrap(), store)
            }
        }
    };
}

build!(first, mood);
build!(moved, mood);
build!(other, humour);

async fn first(ran: &Ran) -> SharedCheckpointer {
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let input = first::Visit::wrap(AgentState::update().message(Message::user("?")));
    let waits = first::visit(&store, ran).invoke(input, ()).await.unwrap();
    assert!(matches!(waits, Outcome::Interrupted(_)));
    store
}

/// B121: the name of a hook does not hold the module that its type is in.
#[tokio::test]
async fn a_hook_that_moved_to_another_module_is_not_run_again() {
    let ran = Ran::default();
    let store = first(&ran).await;
    let visit = moved::visit(&store, &ran).reply("yes", ()).await.unwrap().done().unwrap();
    assert_eq!(visit.mood, "first");
    assert_eq!(*ran.lock().unwrap(), ["first"]);
}

/// B121: what a hook wrote into a field that is gone cannot be read, so the hook of this build runs.
#[tokio::test]
async fn a_hook_whose_write_cannot_be_read_is_run_again() {
    let ran = Ran::default();
    let store = first(&ran).await;
    let visit = other::visit(&store, &ran).reply("yes", ()).await.unwrap().done().unwrap();
    assert_eq!(visit.humour, "other");
    assert_eq!(*ran.lock().unwrap(), ["first", "other"]);
}
