//! The choices that the log of a thread holds.

use std::collections::{BTreeMap, BTreeSet};

use hanok_checkpoint::{Body, CheckpointError, Log, LogEntry, Select};
use hanok_core::{Change, Changes, Field, Fields, Position, Stored};

use super::{
    entry::{Choice, ChoiceEntry},
    tool_selector::STEP,
};

/// The number of entries that are read at a time.
const PAGE: usize = 256;

/// The choices of all turns that `log` holds, of all its graphs and branches, in the order in which they were stored.
///
/// The entries of a state are known by what they are, a [`ChoiceEntry`], in a field of any name: alone, in a list, in a map, or in a
/// nested state. A choice that a [`ToolSelector`](crate::ToolSelector) made is there even if no field holds it. What was rewound
/// was chosen all the same, and what was pruned is there as far as the state holds it still. A thread that is erased holds none.
///
/// ```
/// use hanok_agent::{Choice, ChoiceEntry, ChoiceKind, Choices, choices_of};
/// use hanok_checkpoint::InMemoryCheckpointer;
/// use hanok_core::{BoxError, ThreadKey};
/// use hanok_graph::{Context, END, Graph, START, Snapshot};
/// use hanok_state::State;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Desk {
///     #[reduce(append)]
///     choices: Vec<ChoiceEntry>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// async fn route(_: Snapshot<Desk>, context: Context) -> Result<DeskUpdate, BoxError> {
///     let id = context.call("route", "teams", "May the rent rise?").key().to_string();
///     let choice = Choice::new(id, context.now(), ChoiceKind::Teams, "supervisor", "May the rent rise?");
///     Ok(Desk::update().push_choices(ChoiceEntry::Made(choice.chosen(["search"]))))
/// }
/// let graph = Graph::<Desk>::builder("desk").node("route", route).edge(START, "route").edge("route", END).build()?;
/// let app = graph.checkpointer(InMemoryCheckpointer::new());
/// let thread = app.thread(ThreadKey::named("t")?);
/// thread.invoke(Desk::update(), ()).await?.done()?;
/// thread.invoke(Desk::update(), ()).await?.done()?;
///
/// let entries = choices_of(&thread.log()).await?;
/// assert_eq!(Choices::of(&entries).agent("supervisor").option("search").iter().len(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`CheckpointError`] when the log cannot be read.
pub async fn choices_of(log: &Log) -> Result<Vec<ChoiceEntry>, CheckpointError> {
    let mut newest_first: Vec<Vec<ChoiceEntry>> = Vec::new();
    let mut void: BTreeSet<Position> = BTreeSet::new();
    let mut first = None;
    let mut pages = log.pages(Select::all(), PAGE);
    while let Some(page) = pages.next().await? {
        for LogEntry { position, entry, .. } in page {
            first = Some(position);
            // The reader comes to it before it comes to the writes.
            if let Body::Void(not_counted) = &entry.body {
                void.extend(not_counted.writes.iter().copied());
            }
            let mut entries = Vec::new();
            if !void.remove(&position) {
                of_body(&entry.body, &mut entries);
            }
            if !entries.is_empty() {
                newest_first.push(entries);
            }
        }
    }
    // The state at the beginning is what is left of a history that was cut off, or of the thread that this one is a fork of.
    let mut entries = Vec::new();
    if let Some(first) = first
        && let Some(opened) = log.open(Some(first)).await?
    {
        for run in opened.fold.runs.values() {
            of_fields(&run.fields, &mut entries);
        }
    }
    entries.extend(newest_first.into_iter().rev().flatten());
    Ok(once_each(entries))
}

/// The entries without those that say again what one before them says.
fn once_each(entries: Vec<ChoiceEntry>) -> Vec<ChoiceEntry> {
    let mut made = BTreeSet::new();
    let mut last_result = BTreeMap::new();
    entries
        .into_iter()
        .filter(|entry| match entry {
            ChoiceEntry::Made(choice) => made.insert(choice.id.clone()),
            ChoiceEntry::Ended(result) => {
                let before = last_result.insert(result.id.clone(), result.clone());
                before.as_ref() != Some(result)
            }
        })
        .collect()
}

fn of_body(body: &Body, entries: &mut Vec<ChoiceEntry>) {
    match body {
        Body::Begin(begin) => of_changes(&begin.input, entries),
        Body::Write(write) => of_changes(&write.changes, entries),
        Body::Commit(commit) => of_changes(&commit.changes, entries),
        Body::Edit(edit) => of_changes(&edit.changes, entries),
        Body::Rebase(rebase) => {
            let pending = rebase.writes.iter().map(|(_, changes)| changes);
            let added = rebase.added.iter().flatten();
            pending.chain(added).for_each(|changes| of_changes(changes, entries));
            of_map(&rebase.fields, entries);
        }
        Body::Memo(memo) if memo.name.starts_with(STEP) => {
            entries.extend(memo.value.decode::<Choice>().ok().map(ChoiceEntry::Made));
        }
        _ => {}
    }
}

fn of_changes(changes: &Changes, entries: &mut Vec<ChoiceEntry>) {
    for (_, change) in &changes.0 {
        match change {
            Change::Set(value) | Change::Input(value) => of_value(value, entries),
            Change::Append(items) => items.iter().for_each(|item| of_value(item, entries)),
            Change::Splice { insert, .. } => insert.iter().for_each(|item| of_value(item, entries)),
            Change::Merge(pairs) => pairs.iter().for_each(|(_, value)| of_value(value, entries)),
            Change::Nested(changes) => of_changes(changes, entries),
            Change::Unset | Change::RemoveKeys(_) | Change::Messages(_) => {}
        }
    }
}

fn of_fields(fields: &Fields, entries: &mut Vec<ChoiceEntry>) {
    for (_, field) in fields.iter() {
        match field {
            Field::Value(value) => of_value(value, entries),
            Field::List(items) => items.iter().for_each(|item| of_value(item, entries)),
            Field::Map(map) => map.values().for_each(|value| of_value(value, entries)),
            Field::Nested(fields) => of_fields(fields, entries),
            Field::Messages(_) => {}
        }
    }
}

/// The entry that `value` is, or those of the list or the map that it is.
fn of_value(value: &Stored, entries: &mut Vec<ChoiceEntry>) {
    if let Ok(entry) = value.decode::<ChoiceEntry>() {
        entries.push(entry);
    } else if let Ok(items) = value.to_items() {
        entries.extend(items.iter().filter_map(|item| item.decode().ok()));
    } else {
        of_map(value, entries);
    }
}

fn of_map(value: &Stored, entries: &mut Vec<ChoiceEntry>) {
    for (_, value) in value.to_entries().unwrap_or_default() {
        match value.to_items() {
            Ok(items) => entries.extend(items.iter().filter_map(|item| item.decode().ok())),
            Err(_no_list) => entries.extend(value.decode().ok()),
        }
    }
}
