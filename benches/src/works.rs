//! What is measured. A work is done in rounds; each round checks what came of it.

mod chain;
mod concurrent;
mod door;
mod fan_out;
mod idle;
mod keys;
mod learn;
mod long_chat;
mod looped;
pub(crate) mod mcp;
mod memory;
mod parked;
mod parse;
mod react;
mod sends;
mod steps;
mod storage;
mod team;
mod tools;
mod turns;
mod wide;

use hanok_core::{BoxError, Tenant, ThreadKey};
use hanok_graph::Durability;

use crate::Result;

/// Some work, and what it is measured by.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) figures: &'static [Figure],
    /// The same without an engine.
    pub(crate) hand_written: Option<Run>,
    pub(crate) hanok: Run,
}

/// Does the work in so many rounds and gives the median of each figure.
pub(crate) type Run = fn(usize) -> Result<Vec<f64>>;

/// One thing that is measured of some work.
#[derive(Debug)]
pub(crate) struct Figure {
    /// Empty for the work's only, or main, figure.
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) goal: Option<Goal>,
    pub(crate) better: Better,
}

/// The direction in which a figure improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Less,
    More,
}

/// What hanok is to cost.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    pub(crate) fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }
}

const fn most(name: &'static str, unit: &'static str, most: f64) -> Figure {
    Figure { name, unit, goal: Some(Goal::AtMost(most)), better: Better::Less }
}

const fn least(name: &'static str, unit: &'static str, least: f64) -> Figure {
    Figure { name, unit, goal: Some(Goal::AtLeast(least)), better: Better::More }
}

const fn only_told(name: &'static str, unit: &'static str) -> Figure {
    Figure { name, unit, goal: None, better: Better::Less }
}

const fn more_told(name: &'static str, unit: &'static str) -> Figure {
    Figure { name, unit, goal: None, better: Better::More }
}

/// What a conversation that is kept small is measured by.
const MEMORY: &[Figure] = &[
    only_told("sent in 10 turns", "%"),
    only_told("sent in 50 turns", "%"),
    only_told("sent in 200 turns", "%"),
    only_told("sent in 500 turns", "%"),
    only_told("last prompt", "tokens"),
    more_told("read before in 50 turns", "%"),
    most("sent in 50, of data that moves", "%", 105.0),
    most("cost in 50 at 10x", "%", 100.0),
    most("cost in 50 at 50x", "%", 100.0),
    more_told("read before in 500 turns", "%"),
    most("sent in 500, of data that moves", "%", 105.0),
    most("cost in 500 at 10x", "%", 100.0),
    most("cost in 500 at 50x", "%", 100.0),
];

/// Everything that can be measured, in the order of the table.
pub(crate) static ALL: &[Work] = &[
    Work {
        name: "loop",
        about: "one node, 1,000 super-steps, one integer, nothing kept",
        figures: &[most("", "µs/step", 0.5)],
        hand_written: Some(looped::by_hand),
        hanok: looped::hanok,
    },
    Work {
        name: "fan-out",
        about: "one node, then 100 at once that append an item each, then one; nothing kept",
        figures: &[most("", "µs/run", 110.0)],
        hand_written: Some(fan_out::by_hand),
        hanok: fan_out::hanok,
    },
    Work {
        name: "turns",
        about: "50 turns of a model and a tool, 200 bytes a message, a log in memory",
        figures: &[most("", "µs/turn", 5.0)],
        hand_written: Some(turns::few_by_hand),
        hanok: turns::few,
    },
    Work {
        name: "turns-500",
        about: "the same, 500 turns, and whether the last are as cheap as the first",
        figures: &[most("", "µs/turn", 6.0), most("last/first 100", "x", 1.2)],
        hand_written: Some(turns::many_by_hand),
        hanok: turns::many,
    },
    Work {
        name: "turns-sqlite",
        about: "500 turns on SQLite (WAL, NORMAL), and the size of the file",
        figures: &[most("", "µs/turn", 70.0), most("file", "MB", 0.6)],
        hand_written: Some(turns::on_disk_by_hand),
        hanok: turns::on_disk,
    },
    Work {
        name: "keys",
        about: "100 integers of which a node writes one, 1,000 super-steps, nothing kept",
        figures: &[most("", "µs/step", 0.6)],
        hand_written: Some(keys::by_hand),
        hanok: keys::hanok,
    },
    Work {
        name: "idle",
        about: "10,000 threads of 10 messages that nobody runs, in memory",
        figures: &[most("", "KiB/thread", 6.0)],
        hand_written: Some(idle::by_hand),
        hanok: idle::hanok,
    },
    Work {
        name: "chain",
        about: "1,000 nodes that do nothing (LangGraph's sequential_1000), nothing kept",
        figures: &[most("", "ms/run", 0.8)],
        hand_written: None,
        hanok: chain::hollow,
    },
    Work {
        name: "chain-kept",
        about: "the same, every super-step kept in memory",
        figures: &kept("ms/run", Some(Goal::AtMost(4.0))),
        hand_written: None,
        hanok: chain::kept,
    },
    Work {
        name: "sends",
        about: "100 Sends to subgraphs of 12 steps (fanout_to_subgraph_100x), nothing kept",
        figures: &[most("", "ms/run", 5.0)],
        hand_written: None,
        hanok: sends::hollow,
    },
    Work {
        name: "sends-kept",
        about: "the same, every super-step kept in memory",
        figures: &kept("ms/run", None),
        hand_written: None,
        hanok: sends::kept,
    },
    Work {
        name: "react",
        about: "100 tool calls, 3.6 MB of messages (react_agent_100x), every super-step kept in memory",
        figures: &kept("ms/run", Some(Goal::AtMost(12.0))),
        hand_written: None,
        hanok: react::kept,
    },
    Work {
        name: "wide",
        about: "15 fields, 16.7 MB at the end (wide_state_25x300), nothing kept",
        figures: &[most("", "ms/run", 0.5)],
        hand_written: None,
        hanok: wide::hollow,
    },
    Work {
        name: "wide-kept",
        about: "the same, every super-step kept in memory",
        figures: &kept("ms/run", None),
        hand_written: None,
        hanok: wide::kept,
    },
    Work {
        name: "concurrent",
        about: "5,000 runs at once of 5 nodes that wait 10 ms each, nothing kept",
        figures: &[least("", "runs/CPU s", 80_000.0)],
        hand_written: Some(concurrent::by_hand),
        hanok: concurrent::hanok,
    },
    Work {
        name: "team",
        about: "a question that a team supervisor plans for: three teams, ten tools that cost nothing, a scripted model, a log in memory",
        figures: &[
            most("", "ms/question", 1.0),
            only_told("entries", "entries"),
            only_told("file", "KiB/question"),
        ],
        hand_written: None,
        hanok: team::hanok,
    },
    Work {
        name: "storage",
        about: "one thread, 1,000 turns of 500 bytes on SQLite, safe a moment later (Async), then reading it",
        figures: &[
            most("file", "MB", 1.2),
            most("CPU", "s", 0.2),
            most("last/first 100", "x", 1.2),
            most("newest state", "ms", 1.0),
            most("newest 10 positions", "ms", 2.0),
        ],
        hand_written: Some(storage::by_hand),
        hanok: storage::hanok,
    },
    Work {
        name: "memory-ko",
        about: "a conversation in Korean, 10 messages of which 5 stay, 3 summaries; the tokens (o200k) that are sent of all that were said",
        figures: MEMORY,
        hand_written: Some(memory::all_korean),
        hanok: memory::korean,
    },
    Work {
        name: "memory-ko-fold",
        about: "the same, with summaries that are folded",
        figures: MEMORY,
        hand_written: Some(memory::all_korean),
        hanok: memory::folded,
    },
    Work {
        name: "memory-ko-wide",
        about: "the same, with 40 messages of which 20 stay",
        figures: MEMORY,
        hand_written: Some(memory::all_korean),
        hanok: memory::wide,
    },
    Work {
        name: "memory-en",
        about: "the same in English",
        figures: MEMORY,
        hand_written: Some(memory::all_english),
        hanok: memory::english,
    },
    Work {
        name: "memory-chat",
        about: "an agent's chat of 500 turns with a tool, in a window of 8,000 tokens, with ten facts that its last turns ask for; in the column of LangGraph LangChain's summarisation, where it is installed (--peers)",
        figures: &[
            only_told("sent", "k tokens"),
            more_told("read before", "%"),
            only_told("cost at a tenth for what was read", "k tokens"),
            most("largest prompt", "tokens", 8_000.0),
            least("recalled", "facts", 10.0),
            most("calls or results alone", "of them", 0.0),
        ],
        hand_written: None,
        hanok: long_chat::hanok,
    },
    Work {
        name: "memory-learn",
        about: "what 500 turns taught of 20 users, four pieces each, out of the outbox into records on SQLite",
        figures: &[least("", "pieces/s", 2_000.0), more_told("wall", "pieces/s")],
        hand_written: None,
        hanok: learn::hanok,
    },
    Work {
        name: "tools",
        about: "the tools for a question out of 500, and out of 10,000, in memory: half of 101 questions are answered in that time",
        figures: &[most("500", "ms", 0.5), most("10,000", "ms", 5.0)],
        hand_written: None,
        hanok: tools::hanok,
    },
    Work {
        name: "mcp",
        about: "a call of an MCP server's tool that costs nothing, out of a node, judged and at most once, a log in memory: what it costs more than by the bare library; and a turn of four free tools",
        figures: &[
            most("in process", "µs/call", 50.0),
            most("in process, one thread", "µs/call", 50.0),
            most("stdio", "µs/call", 50.0),
            only_told("bare, in process", "µs/call"),
            only_told("bare, one thread", "µs/call"),
            only_told("bare, stdio", "µs/call"),
            most("turn of four steps", "ms/turn", 2.0),
        ],
        hand_written: None,
        hanok: mcp::hanok,
    },
    Work {
        name: "door",
        about: "1,000 tokens to one reader, of a stream and of a thread; 100 messages that a client sends as JSON",
        figures: &[
            only_told("streamed", "µs/event"),
            only_told("followed", "µs/event"),
            only_told("read", "µs/conversation"),
        ],
        hand_written: None,
        hanok: door::hanok,
    },
    Work {
        name: "parked",
        about: "10,000 threads that wait for an approval, in memory; one of 100,000 on SQLite that goes on",
        figures: &[
            most("", "KiB/thread", 6.0),
            most("tasks", "tasks", 0.0),
            most("answered", "ms", 5.0),
            most("woken", "ms", 5.0),
        ],
        hand_written: None,
        hanok: parked::hanok,
    },
    Work {
        name: "parse-prose",
        about: "a million bytes of an answer, English and Korean, through the parser of tool calls",
        figures: &[least("", "MB/s", 500.0), least("8-byte pieces", "MB/s", 100.0)],
        hand_written: None,
        hanok: parse::prose,
    },
    Work {
        name: "parse-neutralise",
        about: "the same text neutralised, as a page that a tool fetched, and the calls below",
        figures: &[
            least("", "MB/s", 500.0),
            more_told("the parser on it", "MB/s"),
            least("calls", "MB/s", 150.0),
            more_told("restored", "MB/s"),
        ],
        hand_written: None,
        hanok: parse::neutralised,
    },
    Work {
        name: "parse-calls",
        about: "2,500 calls in Hermes' form, through the same",
        figures: &[least("", "MB/s", 200.0), least("8-byte pieces", "MB/s", 100.0)],
        hand_written: None,
        hanok: parse::calls,
    },
    Work {
        name: "parse-react",
        about: "12,500 calls in ReAct's form and nothing else, through the same",
        figures: &[least("", "MB/s", 49.0), more_told("8-byte pieces", "MB/s")],
        hand_written: None,
        hanok: parse::react,
    },
    Work {
        name: "parse-told",
        about: "the calls above in pieces of 8 bytes, their format told, and found out",
        figures: &[
            more_told("Hermes", "MB/s"),
            more_told("Hermes found out", "MB/s"),
            more_told("ReAct", "MB/s"),
            more_told("ReAct found out", "MB/s"),
        ],
        hand_written: None,
        hanok: parse::told,
    },
    Work {
        name: "parse-patterns",
        about: "1,000 patterns of pieces of formats, 3 MB each, and 50 kB letter by letter: the worst of them, eight times the text as a multiple of eight times the time",
        figures: &[
            most("", "x", 1.5),
            more_told("the slowest", "MB/s"),
            most("letter by letter", "x", 1.5),
            more_told("the slowest letter by letter", "MB/s"),
        ],
        hand_written: None,
        hanok: parse::patterns,
    },
    Work {
        name: "parse-memory",
        about: "200,000 calls in ReAct's form, 10 MB of them and nothing else: memory for it while it is read, and of the reply",
        figures: &[most("", "MiB", 150.0), only_told("the reply", "MiB")],
        hand_written: None,
        hanok: parse::memory,
    },
    Work {
        name: "parse-growth",
        about: "texts that cost other parsers the square of their length: twice the text, as a multiple of twice the time",
        figures: &[
            most("100,000 {", "x", 1.15),
            most("100,000 Action:", "x", 1.15),
            most("100,000 Action Input: {", "x", 1.15),
            most("a million [", "x", 1.15),
            most("10 MB, no line break", "x", 1.15),
            most("1 MB of almost marks", "x", 1.15),
        ],
        hand_written: None,
        hanok: parse::growth,
    },
    Work {
        name: "parse-traps",
        about: "how fast these are read",
        figures: &[
            more_told("100,000 {", "MB/s"),
            more_told("100,000 Action:", "MB/s"),
            more_told("100,000 Action Input: {", "MB/s"),
            more_told("a million [", "MB/s"),
            more_told("10 MB, no line break", "MB/s"),
            more_told("1 MB of almost marks", "MB/s"),
        ],
        hand_written: None,
        hanok: parse::traps,
    },
];

/// What is measured of work at each durability, in the order of [`DURABILITIES`].
const fn kept(unit: &'static str, sync: Option<Goal>) -> [Figure; 3] {
    let sync = Figure { name: "", unit, goal: sync, better: Better::Less };
    [sync, only_told("Async", unit), only_told("Exit", unit)]
}

/// How the super-steps of work that is kept are kept: each before the next begins, soon, and all in one at the end.
const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

impl Work {
    /// What the row of `figure` is called.
    pub(crate) fn row(&self, figure: &Figure) -> String {
        match figure.name {
            "" => self.name.to_owned(),
            name => format!("{}: {name}", self.name),
        }
    }
}

/// The work of this name.
pub(crate) fn named(name: &str) -> Option<&'static Work> {
    ALL.iter().find(|work| work.name == name)
}

/// A thread of its own.
fn thread(name: &str) -> Result<ThreadKey, BoxError> {
    Ok(ThreadKey::new(Tenant::default(), name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::By;

    #[test]
    fn a_goal_and_a_rate_say_which_direction_is_better() {
        for figure in ALL.iter().flat_map(|work| work.figures) {
            let want = match figure.goal {
                Some(Goal::AtMost(_)) => Better::Less,
                Some(Goal::AtLeast(_)) => Better::More,
                None if figure.unit.ends_with("/s") => Better::More,
                None => continue,
            };
            assert_eq!(figure.better, want, "{figure:?}");
        }
    }

    #[test]
    fn works_have_names_of_their_own() {
        let mut names: Vec<_> = ALL.iter().map(|work| work.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }

    /// Every round checks what came of it, so that this says whether hanok and the hand-written code do the work.
    #[test]
    fn every_work_is_done_and_gives_a_number_for_each_figure() {
        // These take long.
        let slow =
            ["idle", "mcp", "concurrent", "storage", "turns-sqlite", "parse-growth", "parse-traps"];
        for work in ALL.iter().filter(|work| !slow.contains(&work.name)) {
            for by in [By::Hanok, By::Hand] {
                let figures = by.measure(work, 1).unwrap();
                let done = by == By::Hanok || work.hand_written.is_some();
                assert!(!done || figures.len() == work.figures.len(), "{} {by:?}", work.name);
                assert!(figures.iter().all(|figure| figure.is_finite()), "{} {by:?}", work.name);
            }
        }
    }
}
