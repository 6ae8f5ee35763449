//! Search in a catalogue of tools, in memory, by names, words and vectors of letters.

use std::time::Instant;

use hanok_agent::{IndexedTool, ToolIndex, ToolQuery};
use hanok_checkpoint::{InMemoryStore, SharedStore};
use hanok_core::{Call, Labels, Timestamp};
use hanok_model::{Embedder, ModelError, SharedEmbedder, ToolSpec};
use serde_json::json;

use crate::{
    Result,
    measure::{ensure, medians},
};

const FEW: usize = 500;
const MANY: usize = if cfg!(test) { 600 } else { 10_000 };
/// The questions whose times are compared.
const QUESTIONS: usize = if cfg!(test) { 11 } else { 101 };
const NOW: Timestamp = Timestamp(0);

const VERBS: [&str; 10] = [
    "create", "delete", "update", "list", "search", "share", "archive", "export", "assign",
    "approve",
];
const THINGS: [&str; 20] = [
    "message", "event", "issue", "file", "channel", "page", "contact", "invoice", "table", "alert",
    "ticket", "folder", "meeting", "branch", "report", "order", "shipment", "employee", "contract",
    "backup",
];

/// The numbers of a vector.
const NUMBERS: u64 = 256;

/// Makes vectors of three letters in a row, which costs next to nothing beside the search.
#[derive(Debug)]
struct Letters;

impl Embedder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn dimensions(&self) -> Option<usize> {
        usize::try_from(NUMBERS).ok()
    }

    async fn embed(
        &self,
        texts: &[String],
        _: &Call,
    ) -> std::result::Result<Vec<Vec<f32>>, ModelError> {
        Ok(texts.iter().map(|text| letters(text)).collect())
    }
}

fn letters(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; usize::try_from(NUMBERS).unwrap_or_default()];
    for letters in text.as_bytes().windows(3) {
        let place = letters
            .iter()
            .fold(7_u64, |sum, letter| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*letter));
        let place = usize::try_from((place ^ (place >> 17)) % NUMBERS).unwrap_or_default();
        if let Some(number) = vector.get_mut(place) {
            *number += 1.0;
        }
    }
    vector
}

/// The `n`th of the tools, whose names and words are those of some others too.
fn tool(n: usize) -> Result<IndexedTool> {
    let pick = |words: &[&'static str], n: usize| words.get(n % words.len()).copied().unwrap_or("");
    let (verb, thing) = (pick(&VERBS, n), pick(&THINGS, n / VERBS.len()));
    let server = n / (VERBS.len() * THINGS.len());
    let about = format!("Lets a user {verb} one {thing} of the service number {server} by its id");
    let schema = json!({
        "properties": {
            "id": {"type": "string", "description": format!("the {thing}")},
            "note": {"type": "string", "description": "a note for its owner"},
        },
        "required": ["id"],
    });
    Ok(IndexedTool::new(ToolSpec::new(format!("server{server}__{verb}_{thing}"), about, schema)?))
}

async fn index(count: usize) -> Result<ToolIndex> {
    let store = SharedStore::new(InMemoryStore::new());
    let index = ToolIndex::new(store, &Labels::new(["catalogue"])?)?;
    let index = index.embedder(SharedEmbedder::new(Letters), Call::detached());
    let tools = (0..count).map(tool).collect::<Result<Vec<_>>>()?;
    let update = index.update(&tools, NOW).await?;
    ensure(update.written == count && update.embedded == count, "not all tools are written")?;
    Ok(index)
}

/// Half of the times of a question are below this, in milliseconds on the wall.
async fn median(index: &ToolIndex, count: usize) -> Result<f64> {
    let mut times = Vec::with_capacity(QUESTIONS);
    for n in 0..QUESTIONS {
        let right = tool(n * 7_919 % count)?;
        let name = right.spec().name();
        let text = match n % 3 {
            0 => format!("use {name} for the customer"),
            1 => format!("please {}", name.replace("__", " ").replace('_', " ")),
            _ => right.spec().description().to_owned(),
        };
        let query = ToolQuery::new(text);
        let started = Instant::now();
        let recommended = index.recommend(&query, NOW).await?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
        ensure(!recommended.tools.is_empty(), "nothing is found")?;
        let is_first = recommended.tools.first().is_some_and(|tool| tool.name() == name);
        ensure(n % 3 != 0 || is_first, "the tool that is named is not the first")?;
    }
    times.sort_by(f64::total_cmp);
    times.get(QUESTIONS / 2).copied().ok_or_else(|| "no question was asked".into())
}

/// The median of questions to few and to many tools.
pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let few = median(&index(FEW).await?, FEW).await?;
        let many = median(&index(MANY).await?, MANY).await?;
        Ok([few, many])
    })
}
