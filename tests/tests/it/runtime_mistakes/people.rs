//! A question and its answers.

use hanok::{
    BoxError, Context, END, Graph, InMemoryCheckpointer, Outcome, START, SendTo, Sent, Snapshot,
    State, Thread, ThreadKey,
    core::RequestId,
    graph::{GraphBuilder, Pending},
};

use crate::runtime_mistakes::Page;

#[derive(State, Clone, Debug, Default)]
struct Bill {
    #[reduce(append)]
    paid: Vec<bool>,
}

async fn asks(_: Snapshot<Bill>, context: Context) -> Result<BillUpdate, BoxError> {
    Ok(Bill::update().push_paid(context.ask::<bool>("pay 300?", None).await?))
}

async fn interrupts(_: Snapshot<Bill>, context: Context) -> Result<BillUpdate, BoxError> {
    Ok(Bill::update().push_paid(context.interrupt("pay 300?").await?))
}

async fn each(_: Snapshot<Bill>, n: Sent<u32>, context: Context) -> Result<BillUpdate, BoxError> {
    Ok(Bill::update().push_paid(context.interrupt(&format!("pay {}?", *n)).await?))
}

async fn late(_: Snapshot<Bill>, context: Context) -> Result<BillUpdate, BoxError> {
    Ok(Bill::update().push_paid(context.ask::<bool>("pay?", Some(context.now())).await?))
}

fn graph() -> GraphBuilder<Bill> {
    Graph::builder("bill")
}

fn thread(graph: GraphBuilder<Bill>) -> Thread<Bill> {
    let app = graph.build().unwrap().checkpointer(InMemoryCheckpointer::new());
    app.thread(ThreadKey::named("bill-1").unwrap())
}

async fn open_requests(thread: &Thread<Bill>) -> Vec<Pending> {
    match thread.invoke(Bill::update(), ()).await.unwrap() {
        Outcome::Interrupted(waiting) => waiting.requests,
        other => panic!("{other:?}"),
    }
}

/// The text, with `#1` for the first id that it names, and so on: ids are made of their thread's life.
fn with_ids(text: &str, ids: &[String]) -> String {
    ids.iter().zip(1..).fold(text.to_owned(), |text, (id, n)| text.replace(id, &format!("#{n}")))
}

#[tokio::test]
async fn a_question_and_its_answers() {
    let mut page = Page::default();
    let one = |builder: GraphBuilder<Bill>| builder.edge(START, "pay").edge("pay", END);
    let mut ids = Vec::new();

    let thread_that_asks = thread(one(graph().node("pay", asks)));
    let question = open_requests(&thread_that_asks).await.remove(0);
    ids.push(question.id.to_string());
    page.tell(
        "an answer of a wrong shape to `ask`",
        &thread_that_asks.reply("yes", ()).await.unwrap_err(),
    );
    let again = thread_that_asks.invoke(Bill::update(), ()).await.unwrap_err();
    page.tell("a new input while a question is open", &again);
    let never = thread_that_asks.answer(RequestId("never".into()), &true, ()).await;
    page.tell("an answer to a question that never was", &never.unwrap_err());
    thread_that_asks.reply(&true, ()).await.unwrap();
    page.tell(
        "a second answer",
        &thread_that_asks.answer(question.id, &true, ()).await.unwrap_err(),
    );
    page.tell("a reply with nothing asked", &thread_that_asks.reply(&true, ()).await.unwrap_err());

    let interrupted = thread(one(graph().node("pay", interrupts)));
    ids.push(open_requests(&interrupted).await[0].id.to_string());
    page.tell(
        "an answer of a wrong shape to `interrupt`",
        &interrupted.reply("yes", ()).await.unwrap_err(),
    );
    let waiting = interrupted.resume(()).await.unwrap().done().unwrap_err();
    page.tell("`done` of a run that asks", &waiting);

    let several = |_: &Bill| [1_u32, 2].map(|n| SendTo::new("each", &n)).to_vec();
    let several =
        thread(graph().node("each", each).branch(START, several, ["each"]).edge("each", END));
    ids.extend(open_requests(&several).await.iter().map(|asked| asked.id.to_string()));
    page.tell("one answer to two questions", &several.reply(&true, ()).await.unwrap_err());

    let late = thread(one(graph().node("pay", late)));
    ids.push(open_requests(&late).await[0].id.to_string());
    page.tell("an answer after the deadline", &late.reply(&true, ()).await.unwrap_err());

    let nowhere = one(graph().node("pay", interrupts)).build().unwrap();
    page.tell(
        "a question without a checkpointer",
        &nowhere.invoke(Bill::update(), ()).await.unwrap_err(),
    );
    insta::assert_snapshot!(with_ids(&page.0, &ids), @r#"
    # an answer of a wrong shape to `ask`
    HNK-216 the answer to request `#1` does not fit: value is not of type "boolean"
    # a new input while a question is open
    HNK-210 thread `default/bill-1` has not finished its turn: the run waits for an answer: answer with `Thread::reply` or `Thread::answer`
    # an answer to a question that never was
    HNK-211 there is no request `never`; `resume` shows those that are open
    # a second answer
    HNK-212 request `#1` has been answered already
    # a reply with nothing asked
    HNK-217 thread `default/bill-1` asks nothing now; if it should, check its name, or `resume` it
    # an answer of a wrong shape to `interrupt`
    HNK-216 the answer to request `#2` does not fit: the stored value "yes" is no `bool`: a text stands where something else should
    # `done` of a run that asks
    the run waits for an answer: answer with `Thread::reply` or `Thread::answer`
    # one answer to two questions
    HNK-215 2 requests are open; say which one is answered: `#3`, `#4`
    # an answer after the deadline
    HNK-214 the deadline of request `#5` has passed; `resume`, and its node is told so
    # a question without a checkpointer
    HNK-201 node `pay` failed in super-step 0: nobody can be asked here: an interrupt needs a checkpointer: the run has to end and go on later
    "#);
}
