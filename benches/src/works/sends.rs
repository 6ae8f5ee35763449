//! Subgraphs at once, one for each `Send`.

use std::sync::Arc;

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_graph::{Context, END, Graph, START, SendTo, Sent, Snapshot, Target};
use hanok_state::{List, State};

use super::{DURABILITIES, thread};
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const SUBJECTS: usize = 100;
/// How a list of a thousand letters reads in LangGraph's suite, where a joke is about such a list.
const SUBJECT_BYTES: usize = 5000;
const BUMPS: usize = 10;

#[derive(State, Clone, Default)]
struct Overall {
    subjects: Vec<Arc<str>>,
    #[reduce(append)]
    jokes: List<Arc<str>>,
}

#[derive(State, Clone, Default)]
struct Joke {
    subject: Arc<str>,
    jokes: Vec<Arc<str>>,
}

async fn edit(state: Snapshot<Joke>, _: Context) -> Result<JokeUpdate> {
    Ok(Joke::update().subject(format!("{} - hohoho", state.subject)))
}

async fn generate(state: Snapshot<Joke>, _: Context) -> Result<JokeUpdate> {
    Ok(Joke::update().jokes(vec![format!("Joke about {}", state.subject).into()]))
}

async fn bump(state: Snapshot<Joke>, _: Context) -> Result<JokeUpdate> {
    let joke = state.jokes.first().ok_or("there is no joke")?;
    Ok(Joke::update().jokes(vec![format!("{joke} a").into()]))
}

fn again(state: &Joke) -> &'static str {
    let ending = " a".repeat(BUMPS);
    if state.jokes.first().is_some_and(|joke| joke.ends_with(&ending)) { END } else { "bump" }
}

/// Runs the subgraph, which is what the services are.
async fn tell(
    _: Snapshot<Overall>,
    Sent(subject): Sent<Arc<str>>,
    context: Context<Graph<Joke>>,
) -> Result<OverallUpdate> {
    let input = Joke::update().subject(subject);
    let told = context.run(context.services(), input, ()).await?.done()?;
    Ok(Overall::update().jokes(told.jokes))
}

/// The graph that sends, and the one that is sent to.
type Graphs = (Graph<Overall, Graph<Joke>>, Graph<Joke>);

fn graphs() -> Result<Graphs> {
    let joke = Graph::<Joke>::builder("joke")
        .node("edit", edit)
        .node("generate", generate)
        .node("bump", bump)
        .edge(START, "edit")
        .edge("edit", "generate")
        .edge("generate", "bump")
        .branch("bump", again, ["bump", END])
        .recursion_limit(u32::MAX)
        .build()?;
    let each = |state: &Overall| -> Vec<Target> {
        state.subjects.iter().map(|subject| SendTo::new("tell", subject).into()).collect()
    };
    let overall = Graph::<Overall, Graph<Joke>>::builder("overall")
        .node("tell", tell)
        .branch(START, each, ["tell"])
        .edge("tell", END)
        .build()?;
    Ok((overall, joke))
}

/// Letters that differ from subject to subject.
fn subjects() -> Vec<Arc<str>> {
    let subject = |i: usize| {
        let letters = (0..SUBJECT_BYTES).map(|n| char::from(b'a' + (n * (i + 7) % 26) as u8));
        letters.collect::<String>().into()
    };
    (0..SUBJECTS).map(subject).collect()
}

fn check(state: &Overall) -> Result<()> {
    let whole = SUBJECT_BYTES + "Joke about  - hohoho".len() + 2 * BUMPS;
    ensure(state.jokes.len() == SUBJECTS, "how many jokes")?;
    ensure(state.jokes.iter().all(|joke| joke.len() == whole), "the jokes")
}

pub(super) fn hollow(rounds: usize) -> Result<Vec<f64>> {
    let ((graph, joke), subjects) = (graphs()?, subjects());
    medians(rounds, async || {
        let input = Overall::update().subjects(subjects.clone());
        let cpu = Cpu::start();
        let state = graph.invoke(input, joke.clone()).await?.done()?;
        let took = cpu.millis();
        check(&state)?;
        Ok([took])
    })
}

pub(super) fn kept(rounds: usize) -> Result<Vec<f64>> {
    let ((graph, joke), subjects) = (graphs()?, subjects());
    medians(rounds, async || {
        let mut took = [0.0; 3];
        for (durability, took) in DURABILITIES.into_iter().zip(&mut took) {
            let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(thread("t")?);
            let thread = thread.durability(durability);
            let input = Overall::update().subjects(subjects.clone());
            let cpu = Cpu::start();
            let state = thread.invoke(input, joke.clone()).await?.done()?;
            *took = cpu.millis();
            check(&state)?;
        }
        Ok(took)
    })
}
