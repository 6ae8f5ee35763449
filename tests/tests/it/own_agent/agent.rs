use hanok::agent::{AgentState, HasAgent, Hook, Hooked, ReactAgent};
use hanok::model::{ChatModel, FromState, Services, ToolError, ToolOutput};
use hanok::{BoxError, Context, Message, State, tool};

/// What a run is given: who asks, and what the tools use.
struct Shop {
    user: String,
    stock: Vec<&'static str>,
}

/// The agent's own state: its conversation, and a basket.
#[derive(State, HasAgent, Clone, Default, Debug)]
struct Visit {
    #[reduce(nested)]
    agent: AgentState,
    #[reduce(append)]
    basket: Vec<String>,
}

/// Puts something into the user's basket.
#[tool]
async fn take(
    /// What to take.
    item: String,
    shop: Services<Shop>, // no model sees these two
    visit: FromState<Visit>,
) -> Result<ToolOutput, ToolError> {
    if !shop.stock.contains(&item.as_str()) {
        return Err(ToolError::failed(format!("There is no {item}; there is {:?}.", shop.stock)));
    }
    let words = format!("{} has {} things in the basket.", shop.user, visit.basket.len() + 1);
    ToolOutput::new(words).update(&Visit::update().push_basket(item))
}

/// Says who the user is, at the beginning of a turn.
#[derive(Debug)]
struct Greeting;

impl Hook<Visit, Shop> for Greeting {
    async fn before_agent(&self, _: &Visit, cx: &Context<Shop>) -> Result<Hooked<Visit>, BoxError> {
        Ok(Hooked::new().message(Message::system(format!("The user is {}.", cx.services().user))))
    }
}

/// The answer of a turn.
#[derive(serde::Deserialize, schemars::JsonSchema, Debug, PartialEq)]
struct Receipt {
    items: Vec<String>,
}

fn agent(model: impl ChatModel) -> Result<ReactAgent<Visit, Shop>, BoxError> {
    let till = ReactAgent::builder("till", "Sells things", model);
    let till = till.state::<Visit>().services::<Shop>().tool(take).hook(Greeting);
    Ok(till.answer::<Receipt>().build()?)
}
