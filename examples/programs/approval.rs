//! A payment that a person edits and approves. The program asks in one process and goes on in another: nothing but the
//! database file lives in between. Without arguments it starts both itself.

use std::{path::Path, process::Command};

use hanok::{
    BoxError, Context, END, Graph, Outcome, START, Snapshot, State, Thread, ThreadKey,
    sqlite::Sqlite,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(State, Clone, Default)]
struct Order {
    amount: u32,
    receipt: Option<String>,
}

/// What a person may answer. Anything else is refused, and the question stays open.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Decision {
    approved: bool,
    #[schemars(range(min = 1, max = 100))]
    amount: u32,
}

async fn pay(order: Snapshot<Order>, context: Context) -> Result<OrderUpdate, BoxError> {
    let question = format!("pay {} to the bakery?", order.amount);
    let decision: Decision = context.ask(&question, None).await?;
    if !decision.approved {
        return Ok(Order::update().receipt("not paid".to_owned()));
    }
    // Once, whatever happens to the process: the result is stored before anything follows.
    let paid = || async { Ok::<_, BoxError>(format!("paid {}", decision.amount)) };
    let receipt: String = context.step("pay", paid).await?;
    Ok(Order::update().amount(decision.amount).receipt(Some(receipt)))
}

async fn thread(file: &Path) -> Result<Thread<Order>, BoxError> {
    let graph = Graph::<Order>::builder("order")
        .node("pay", pay)
        .edge(START, "pay")
        .edge("pay", END)
        .build()?;
    let app = graph.checkpointer(Sqlite::open(file).await?);
    Ok(app.thread(ThreadKey::named("order-17")?))
}

async fn ask(file: &Path) -> Result<(), BoxError> {
    let outcome = thread(file).await?.invoke(Order::update().amount(40), ()).await?;
    let Outcome::Interrupted(asked) = outcome else { return Err("nobody was asked".into()) };
    let [question] = asked.as_slice() else { return Err("one question".into()) };
    println!("asked: {}", question.payload::<String>()?);
    Ok(())
}

async fn answer(file: &Path) -> Result<(), BoxError> {
    let thread = thread(file).await?;
    let too_much = thread.reply(&Decision { approved: true, amount: 4_000 }, ()).await;
    println!("refused: {}", too_much.err().ok_or("4000 was taken")?);
    let order = thread.reply(&Decision { approved: true, amount: 35 }, ()).await?.done()?;
    println!("done: {}", order.receipt.unwrap_or_default());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ask", file] => return ask(Path::new(file)).await,
        ["answer", file] => return answer(Path::new(file)).await,
        _ => {}
    }
    let folder = tempfile::tempdir()?;
    for part in ["ask", "answer"] {
        let file = folder.path().join("orders.db");
        Command::new(std::env::current_exe()?).arg(part).arg(file).status()?;
    }
    Ok(())
}
