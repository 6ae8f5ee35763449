//! What is sent of what a user said, in three ways.

use std::collections::BTreeMap;

use hanok_checkpoint::{InMemoryStore, Put, Search, SharedStore, Store};
use hanok_core::{ItemKey, Labels, Stored, Tenant, ThreadKey, Timestamp};
use hanok_learning::{
    Actor, Episode, EpisodeReport, Evidence, EvidenceSource, LongTerm, Memories, MemoryKind,
    Preference, PreferenceStatement, stated_preferences,
};
use hanok_model::DataMark;
use hanok_parse::Language;
use hanok_state::Message;
use serde::Serialize;

use crate::evaluation::Turn;

/// The ways.
pub(crate) const WAYS: [&str; 3] = ["everything", "BM25 over turns", "LongTerm"];

/// The records, and the turns, that are sent.
const LIMIT: usize = 5;
const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// What was said, as each way has it.
pub(crate) struct Prompts {
    everything: BTreeMap<String, String>,
    turns: SharedStore,
    memories: Memories,
}

#[derive(Serialize)]
struct Lesson<'a, B> {
    kind: &'a str,
    evidence: &'a Evidence<B>,
}

impl Prompts {
    pub(crate) async fn new(all: &[Turn]) -> Self {
        let memories = Memories::new(SharedStore::new(InMemoryStore::new()));
        let memories = memories.kind::<Preference>().kind::<Episode>();
        let turns = SharedStore::new(InMemoryStore::new());
        let mut everything: BTreeMap<String, String> = BTreeMap::new();
        for (number, turn) in all.iter().enumerate() {
            let text = shown(turn);
            let key = ItemKey::new(Tenant::default(), labels(&turn.user), &format!("{number:04}"));
            let put = Put::new(Stored::encode(&text).unwrap());
            turns.put(&key.unwrap(), put, NOW).await.unwrap();
            everything.entry(turn.user.clone()).or_default().push_str(&text);
            learn(&memories, turn, number).await;
        }
        Self { everything, turns, memories }
    }

    /// What is sent beside `question` of `user`.
    pub(crate) async fn of(&self, way: &str, user: &str, question: &str) -> String {
        match way {
            "everything" => self.everything[user].clone(),
            "BM25 over turns" => {
                let search = Search::within(Tenant::default(), labels(user));
                let search = search.text(question).limit(LIMIT);
                let hits = self.turns.search(&search, NOW).await.unwrap().hits;
                hits.iter().map(|hit| hit.item.value.as_str().unwrap().to_owned()).collect()
            }
            _ => {
                let of = LongTerm::new(self.memories.clone(), Tenant::default(), Some(user));
                let recalled = of.limit(LIMIT).recall(question, NOW).await.unwrap();
                let mark = DataMark::from_code("00ff00ff00ff00ff");
                let message = recalled.message(Language::Korean, &mark);
                message.map(|message| message.text().into_owned()).unwrap_or_default()
            }
        }
    }
}

fn labels(user: &str) -> Labels {
    Labels::new(["turns", user]).unwrap()
}

fn shown(turn: &Turn) -> String {
    format!("[{}] 사용자: {}\n[{}] 도우미: {}\n", turn.day, turn.question, turn.day, turn.answer)
}

/// Learns of a turn what the program learns of one: the preferences that rules find, and the question with its answer.
async fn learn(memories: &Memories, turn: &Turn, number: usize) {
    let message = Message::user(&*turn.question).with_id(format!("m{number}"));
    let thread = ThreadKey::named(&turn.thread).unwrap();
    for statement in PreferenceStatement::stated(stated_preferences(&message), &message) {
        let name = statement.key().to_owned();
        teach::<Preference>(memories, &thread, turn, number, &name, statement).await;
    }
    let report = EpisodeReport::new(&turn.question, &turn.answer);
    teach::<Episode>(memories, &thread, turn, number, "answer", report).await;
}

async fn teach<K: MemoryKind>(
    memories: &Memories,
    thread: &ThreadKey,
    turn: &Turn,
    number: usize,
    name: &str,
    body: K::Body,
) {
    let evidence = Evidence {
        id: format!("{number}/{name}"),
        user: turn.user.clone(),
        at: Timestamp(noon(&turn.day)),
        actor: Actor::User,
        source: EvidenceSource {
            thread: turn.thread.clone(),
            task: number.to_string(),
            message: format!("m{number}"),
            ..EvidenceSource::default()
        },
        body,
    };
    let lesson = Stored::encode(&Lesson { kind: K::NAME, evidence: &evidence }).unwrap();
    memories.learn(thread, &lesson, NOW).await.unwrap();
}

/// Noon of a day of 2026, in milliseconds since 1970.
fn noon(day: &str) -> u64 {
    let mut parts = day.split('-').map(|part| part.parse::<u64>().unwrap());
    let [year, month, day] = std::array::from_fn(|_| parts.next().unwrap());
    assert_eq!(year, 2026, "days of another year");
    let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let days = 20_454 + before[usize::try_from(month).unwrap() - 1] + day - 1;
    days * 86_400_000 + 43_200_000
}
