//! The invariants of every run, whatever befell it.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use hanok_checkpoint::{
    Begin, Body, Checkpointer, Commit, Doubt, Epoch, Intent, Log, LogEntry, NOT_MADE, RunFold,
    ThreadFold,
};
use hanok_core::{Change, Changes, Field, Namespace, ThreadKey};
use hanok_graph::{Durability, Event, EventId};
use hanok_state::State;

use crate::{
    disk::{Book, at_once},
    effects::Effects,
    finished::branch,
    play::{Ending, Play},
};

/// Checks all that holds of any run, then what the simulation was told to check.
pub(crate) fn check(play: &Play<'_>) -> Result<Ending, String> {
    let (wrong, lost) = {
        let inner = play.stage.core.inner();
        (inner.disk.wrong.first().cloned(), inner.disk.lost)
    };
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    let mut threads: Vec<_> = play.all_inputs.iter().map(|(thread, _)| thread.clone()).collect();
    threads.push(play.thread.clone());
    threads.dedup();
    for thread in &threads {
        let entries = play.entries(thread);
        chained(&entries)?;
        follows_from_before(play, thread)?;
        taken_once(
            &entries,
            play.all_inputs.iter().filter(|(to, _)| to == thread).map(|(_, input)| input),
        )?;
        read_back(play, thread)?;
    }
    made_once(play, &threads)?;
    let entries = play.entries(&play.thread);
    if !lost {
        shown(play, &entries)?;
    }
    let fold = play.folded(&play.thread)?;
    let run = fold.run(&Namespace::root()).cloned().unwrap_or_default();
    let effects = Effects::new(&play.stage.core, u32::MAX);
    let view = (play.script.end)(run.fields, &entries, &effects)?;
    Ok(Ending { view, outcome: String::new() })
}

/// The fold of a log.
pub(crate) fn fold(book: &Book) -> Result<ThreadFold, String> {
    let mut fold = book.start.clone().unwrap_or_default();
    for entry in branch(&book.entries, fold.position) {
        fold.apply(entry.position, &entry.entry).map_err(|error| error.to_string())?;
    }
    Ok(fold)
}

/// The inputs that a log holds.
pub(crate) fn taken(entries: &[LogEntry]) -> Vec<Changes> {
    let begins = entries.iter().filter(|entry| entry.entry.namespace.is_root());
    let inputs = begins.filter_map(|entry| match &entry.entry.body {
        Body::Begin(Begin { frontier: Some(_), input, .. }) => Some(input.clone()),
        _ => None,
    });
    inputs.collect()
}

/// True when `taken` is what `input` becomes in a log: ids of messages, and what reducers make of it, are added there.
pub(crate) fn is_input(taken: &Changes, input: &Changes) -> bool {
    input.0.iter().all(|(field, change)| {
        let same = |taken: &Change| match (change, taken) {
            (Change::Messages(_) | Change::Input(_), _) => true,
            (Change::Nested(input), Change::Nested(taken)) => is_input(taken, input),
            (change, taken) => taken == change,
        };
        taken.0.iter().any(|(name, taken)| name == field && same(taken))
    })
}

/// P10: one head and an unbroken chain of parents; claims with rising epochs, none within another.
pub(crate) fn chained(entries: &[LogEntry]) -> Result<(), String> {
    let mut epoch = Epoch::default();
    for (due, entry) in (1..).zip(entries) {
        let position = entry.position.0;
        if position != due {
            return Err(format!("P10: position {position} stands where {due} should"));
        }
        let parent = entry.parent.0;
        let rewinds = matches!(entry.entry.body, Body::Rewind(_));
        if parent >= due || (parent != due - 1 && !rewinds) {
            return Err(format!("P10: position {due} has the parent {parent}"));
        }
        if matches!(entry.entry.body, Body::Copied(_)) {
            // The claims before it were those of another thread.
            epoch = Epoch::default();
        }
        if let (Body::Begin(begin), true) = (&entry.entry.body, entry.entry.namespace.is_root()) {
            if begin.epoch <= epoch {
                return Err(format!("P10: epoch {} follows {epoch}", begin.epoch));
            }
            epoch = begin.epoch;
        }
    }
    Ok(())
}

/// P1, P2, P4, P14: each entry follows from those before it.
fn follows_from_before(play: &Play<'_>, thread: &ThreadKey) -> Result<(), String> {
    let durability = play.script.settings.durability;
    let inner = play.stage.core.inner();
    let Some(book) = inner.disk.book(thread) else { return Ok(()) };
    let mut fold = book.start.clone().unwrap_or_default();
    for entry in branch(&book.entries, fold.position) {
        let (path, body) = (&entry.entry.namespace, &entry.entry.body);
        let empty = RunFold::default();
        let run = fold.run(path).unwrap_or(&empty);
        // A commit that is stored at the end of a run is several in one.
        let several = durability == Durability::Exit && matches!(body, Body::Commit(_));
        let follows = match several {
            true => Ok(()),
            false => follows(run, body).and_then(|()| all_known(&fold, path, body)),
        };
        follows.map_err(|why| format!("{why} (position {} in {path})", entry.position))?;
        fold.apply(entry.position, &entry.entry).map_err(|error| error.to_string())?;
    }
    let open = fold.runs.iter().find(|(path, run)| path.is_root() && run.open);
    match open {
        Some(_) => Err("the last run did not say how it ended".to_owned()),
        None => Ok(()),
    }
}

/// P4: no super-step is committed while a call of its tasks, or in a graph that they ran, is in doubt.
fn all_known(fold: &ThreadFold, path: &Namespace, body: &Body) -> Result<(), String> {
    let runs = fold.runs.iter().filter(|(of, _)| of.is_within(path));
    let mut intents = runs.flat_map(|(_, run)| run.records.intents.values());
    match (body, intents.find(|intent| intent.asks())) {
        (Body::Commit(_), Some(intent)) => Err(format!("P4: the call {} vanishes", intent.key)),
        _ => Ok(()),
    }
}

/// P4: what was said last of the call `key`, unless that it was not made.
fn is_settled(run: &RunFold, key: &str) -> bool {
    let said = run.records.settled.iter().filter_map(|(id, value)| {
        let number: u32 = id.strip_prefix(key)?.strip_prefix('#')?.parse().ok()?;
        Some((number, value))
    });
    let last = said.max_by_key(|(number, _)| *number);
    last.is_some_and(|(_, value)| value.as_str().ok() != Some(NOT_MADE))
}

fn follows(run: &RunFold, body: &Body) -> Result<(), String> {
    let no = |why: &str| Err(why.to_owned());
    match body {
        Body::Write(write) => {
            if run.records.pending.values().any(|before| before.task == write.task) {
                return no("P1: a task's write is stored twice");
            }
            if !run.frontier.due.iter().any(|due| due.node == write.node) {
                return no("P1: a write of a node that is not due");
            }
        }
        Body::Commit(commit) => return committed(run, commit),
        Body::Void(void) if void.writes.iter().any(|at| !run.records.pending.contains_key(at)) => {
            return no("P1: what is voided was not pending");
        }
        // A note of a call may be followed by a newer one.
        Body::Memo(memo) if memo.name.starts_with(char::is_control) => {}
        Body::Memo(memo) if run.records.memos.contains_key(&(memo.task, memo.name.clone())) => {
            return no("P2: a step's result is stored twice");
        }
        Body::Intent(intent) => {
            let key = (intent.task, intent.key.clone());
            // What is said of the same announcement again, as by a note, is no other call.
            let is_open = |before: &Intent| !before.repeats() && before.id != intent.id;
            if run.records.intents.get(&key).is_some_and(is_open) {
                return no("P4: a call that is in doubt is made again");
            }
            if run.records.memos.contains_key(&key) {
                return no("P4: a call whose result is stored is made again");
            }
            if is_settled(run, &intent.key) {
                return no("P4: a call of which a person has said what became of it is made again");
            }
        }
        Body::Answer(answer) => {
            let asked = run.records.questions.iter().any(|question| question.id == answer.id);
            let doubted = run.records.intents.values().any(|intent| intent.id == answer.id);
            if run.records.answers.contains_key(&answer.id)
                || run.records.settled.contains_key(&answer.id)
            {
                return no("P14: a question is answered twice");
            }
            if !asked && !doubted {
                return no("P14: an answer to what nobody asks");
            }
        }
        Body::End(end) if run.run != Some(end.run) => {
            return no("P10: another run ends than the one that began");
        }
        Body::End(_) if !run.open => return no("P10: a run ends twice"),
        _ => {}
    }
    Ok(())
}

/// A commit folds all that is pending, in the order of the tasks that were due, and nothing else.
fn committed(run: &RunFold, commit: &Commit) -> Result<(), String> {
    let due: Vec<_> = run.frontier.due.iter().map(|due| &*due.node).collect();
    if !commit.nodes.iter().map(|node| &**node).eq(due.iter().copied()) {
        return Err(format!("P11: {:?} are committed where {due:?} were due", commit.nodes));
    }
    if commit.step != run.frontier.step || commit.frontier.step != run.frontier.step + 1 {
        return Err(format!(
            "P1: super-step {} is committed after {}",
            commit.step, run.frontier.step
        ));
    }
    let mut folded = Vec::new();
    for at in &commit.folds {
        match run.records.pending.get(at) {
            Some(write) => folded.push(&*write.node),
            None => return Err(format!("P1: position {at} is folded and is not pending")),
        }
    }
    if !(folded == due || folded.is_empty() && due.len() == 1) {
        return Err(format!("P1, P11: the writes of {folded:?} are folded where {due:?} were due"));
    }
    if commit.folds.len() != run.records.pending.len() {
        return Err("P1: a stored write is not folded".to_owned());
    }
    Ok(())
}

/// P10: the log holds every input that was given, once.
fn taken_once<'a>(
    entries: &[LogEntry],
    inputs: impl Iterator<Item = &'a Changes>,
) -> Result<(), String> {
    let mut taken = taken(entries);
    for input in inputs {
        match taken.iter().position(|taken| is_input(taken, input)) {
            Some(at) => drop(taken.swap_remove(at)),
            None => return Err(format!("P10: the input {input:?} is lost")),
        }
    }
    match taken.as_slice() {
        [] => Ok(()),
        more => Err(format!("P10: inputs that were given once are there twice: {more:?}")),
    }
}

/// P7, P10: the store reads as what was stored in it, snapshots or not, and nobody owns the thread.
fn read_back(play: &Play<'_>, thread: &ThreadKey) -> Result<(), String> {
    let store = play.stage.core.inner().disk.store();
    let head = at_once(store.head(thread)).map_err(|error| error.to_string())?;
    let Some(head) = head else {
        return if play.entries(thread).is_empty() {
            Ok(())
        } else {
            Err("the log is gone".to_owned())
        };
    };
    if head.claim.is_some() {
        return Err("P10: the thread is claimed when all is over".to_owned());
    }
    let log = Log::new(store, thread.clone());
    let opened = at_once(log.open(None)).map_err(|error| error.to_string())?;
    let read = opened.map(|opened| opened.fold).unwrap_or_default();
    let want = play.folded(thread)?;
    let same = |(path, run): (&Namespace, &RunFold)| {
        // A snapshot also holds the fields that nothing has written.
        let other = read.run(path);
        let has = |(name, field): (&str, &Field)| {
            other
                .and_then(|run| run.fields.get(name))
                .is_some_and(|other| other.to_stored() == field.to_stored())
        };
        other.is_some_and(|other| other.frontier == run.frontier) && run.fields.iter().all(has)
    };
    if read.position != want.position || !want.runs.iter().all(same) {
        return Err("P7: the store reads as something else than its log says".to_owned());
    }
    Ok(())
}

/// P3, P4: a call was made once, unless it was said to be in doubt, or may be repeated.
fn made_once(play: &Play<'_>, threads: &[ThreadKey]) -> Result<(), String> {
    let mut entries: Vec<_> = threads.iter().flat_map(|thread| play.entries(thread)).collect();
    entries
        .extend(play.stage.core.inner().disk.deleted.iter().flat_map(|book| book.entries.clone()));
    let mut intents: BTreeMap<String, Doubt> = BTreeMap::new();
    for entry in &entries {
        if let Body::Intent(intent) = &entry.entry.body {
            intents.insert(intent.key.clone(), intent.doubt);
        }
    }
    let dropped = dropped(&entries);
    let inner = play.stage.core.inner();
    for (key, made) in &inner.ledger.made {
        let repeats = intents.get(key) == Some(&Doubt::Repeat);
        if made.len() > 1 && !repeats && !play.doubted.contains(key) {
            return Err(format!("P4: the call {key} was made {} times without a word", made.len()));
        }
        if dropped.contains(key) && !play.doubted.contains(key) && !inner.disk.lost {
            return Err(format!(
                "P4: the call {key} was made, and nobody was told what came of it"
            ));
        }
        if !intents.contains_key(key) && !inner.disk.lost {
            return Err(format!("P4: the call {key} was made and nothing says that it was meant"));
        }
    }
    Ok(())
}

/// The calls that people are to be asked about and of which nothing was stored when the next turn began.
fn dropped(entries: &[LogEntry]) -> BTreeSet<String> {
    let (mut open, mut dropped) = (BTreeMap::new(), BTreeSet::new());
    for LogEntry { entry, .. } in entries {
        let path = &entry.namespace;
        match &entry.body {
            Body::Intent(intent) if intent.asks() => {
                open.insert(intent.key.clone(), (path.clone(), intent.task));
            }
            Body::Memo(memo) => drop(open.remove(&memo.name)),
            Body::Write(write) => open.retain(|_, (_, task)| *task != write.task),
            Body::Commit(_) => open.retain(|_, (of, _)| of != path),
            Body::Begin(begin) if path.is_root() && begin.frontier.is_some() => {
                dropped.extend(std::mem::take(&mut open).into_keys());
            }
            _ => {}
        }
    }
    dropped
}

/// P54: what a run shows is what is told again: no gap without a word, and nothing twice.
fn shown(play: &Play<'_>, entries: &[LogEntry]) -> Result<(), String> {
    let Some(service) = play.service() else { return Ok(()) };
    let stored = service.events(&play.thread).now_or_never();
    let stored = stored.ok_or("the log waits")?.map_err(|error| error.to_string())?;
    if stored.windows(2).any(|pair| matches!(pair, [a, b] if a.id >= b.id)) {
        return Err("P54: recorded events are out of order".to_owned());
    }
    let floor = at_once(play.stage.core.inner().disk.store().head(&play.thread));
    let floor = floor.map_err(|error| error.to_string())?.map(|head| head.floor);
    // Nor is what was cut off.
    let floor = floor.unwrap_or_default();
    // What a rewind left behind is not told again.
    let rewound = entries.iter().any(|entry| matches!(entry.entry.body, Body::Rewind(_)));
    for (thread, events) in
        play.shown.iter().filter(|(thread, _)| *thread == play.thread && !rewound)
    {
        let stays = |(id, _): &(EventId, String)| id.position > floor;
        let seen: Vec<_> = events.iter().filter_map(comparable).filter(stays).collect();
        let (Some(first), Some(last)) = (seen.first(), seen.last()) else { continue };
        let within = |(id, _): &(EventId, String)| (first.0..=last.0).contains(id);
        let want: Vec<_> = stored.iter().filter_map(comparable).filter(within).collect();
        // What is stored at the end of a run has no position while it is shown.
        let late = play.script.settings.durability == Durability::Exit;
        let want = want.into_iter().filter(|event| !late || seen.contains(event));
        let want: Vec<_> = want.collect();
        if seen != want {
            return Err(format!(
                "P54: a run of {} showed {seen:?}, and {want:?} is told",
                thread.thread()
            ));
        }
    }
    Ok(())
}

/// A recorded event, as it is compared.
fn comparable(event: &Event) -> Option<(EventId, String)> {
    let kind = format!("{:?}", event.kind);
    let word = kind.split(['(', ' ', '{']).next().unwrap_or_default();
    // The step of an end is told as that of the last commit, wherever the run stood.
    let step = if word == "Ended" { 0 } else { event.step };
    Some((event.id?, format!("{word} {} {step} {:?}", event.path, event.task)))
}

/// The part of a state that is compared by default: its fields, as they are stored. The ids of messages, which are of one life of one
/// thread, are told by their order.
pub(crate) fn view<S: State>(state: &S) -> String {
    let told =
        state.to_fields().map_or_else(|error| error.to_string(), |fields| fields.to_string());
    let mut ids: Vec<&str> = Vec::new();
    let numbered = told.split('"').map(|part| match is_derived(part) {
        true => {
            let at = ids.iter().position(|id| *id == part).unwrap_or(ids.len());
            if at == ids.len() {
                ids.push(part);
            }
            at.to_string()
        }
        false => part.to_owned(),
    });
    numbered.collect::<Vec<_>>().join("\"")
}

/// Checks whether a text is an id that derives from a task: half of its digest, and a number.
fn is_derived(text: &str) -> bool {
    text.split_once('-').is_some_and(|(digest, number)| {
        let is_hex = |byte: u8| byte.is_ascii_hexdigit();
        digest.len() == 16 && digest.bytes().all(is_hex) && number.parse::<u32>().is_ok()
    })
}
