//! Entries as JSON text, for people.

use std::fmt::{self, Write};

use hanok_core::{Answerer, Change, Changes, MessageChange, Stored};

use crate::entry::{body::Body, frontier::Frontier};

/// Writes the body of an entry, for people.
pub(super) fn body(text: &mut String, body: &Body) {
    let mut member = |name: &str, value: &str| {
        say(text, format_args!(",\"{name}\":"));
        quote(text, value);
    };
    match body {
        Body::Begin(begin) => {
            member("run", &begin.run.to_string());
            for (key, value) in &begin.tags {
                member("tag", &format!("{key}={value}"));
            }
            changes(text, &begin.input);
            next(text, begin.frontier.as_ref());
        }
        Body::Write(write) => {
            member("node", &write.node);
            changes(text, &write.changes);
        }
        Body::Commit(commit) => {
            member("nodes", &commit.nodes.join(", "));
            changes(text, &commit.changes);
            next(text, Some(&commit.frontier));
        }
        Body::Void(void) => {
            member("field", &void.field);
            member("reason", &void.reason);
        }
        Body::Memo(memo) => {
            member("name", &memo.name);
            value(text, "value", &memo.value);
        }
        Body::Intent(intent) => {
            member("node", &intent.node);
            member("tool", &intent.tool);
            member("arguments", &intent.arguments);
        }
        Body::Question(question) => {
            member("id", &question.id);
            member("node", &question.node);
            value(text, "question", &question.payload);
        }
        Body::Answer(answer) | Body::Late(answer) => {
            member("id", &answer.id);
            person(text, answer.by.as_ref());
            value(text, "answer", &answer.value);
        }
        Body::Reopen(reopen) => {
            member("id", &reopen.id);
            member("reason", &reopen.reason);
        }
        Body::Rebase(rebase) => value(text, "state", &rebase.fields),
        Body::Extend(extend) => changes(text, &extend.values),
        Body::Origin(origin) => member("fork_of", &origin.thread),
        Body::End(end) => {
            member("run", &end.run.to_string());
            member("outcome", end.outcome.as_str());
            member("detail", &end.detail);
            person(text, end.by.as_ref());
        }
        Body::Failed(failed) => {
            member("node", &failed.node);
            member("error", &failed.message);
        }
        Body::Edit(edit) => {
            member("node", edit.node.as_deref().unwrap_or_default());
            person(text, edit.by.as_ref());
            changes(text, &edit.changes);
            next(text, edit.frontier.as_ref());
        }
        Body::Erased(erased) => member("by", &erased.by),
        Body::Copied(copied) => {
            member("from", &copied.from.thread.to_string());
            member("life", &copied.from.life.to_string());
        }
        Body::Rewind(rewind) => person(text, rewind.by.as_ref()),
    }
}

fn person(text: &mut String, by: Option<&Answerer>) {
    if let Some(by) = by {
        text.push_str(",\"by\":");
        quote(text, &by.name);
    }
}

fn value(text: &mut String, name: &str, value: &Stored) {
    say(text, format_args!(",\"{name}\":{}", value.to_json()));
}

fn next(text: &mut String, frontier: Option<&Frontier>) {
    let Some(frontier) = frontier else { return };
    text.push_str(",\"next\":[");
    for (n, due) in frontier.due.iter().enumerate() {
        text.push_str(if n > 0 { "," } else { "" });
        quote(text, &due.node);
    }
    text.push(']');
}

fn changes(text: &mut String, written: &Changes) {
    text.push_str(",\"writes\":");
    write_changes(text, written);
}

fn write_changes(text: &mut String, written: &Changes) {
    text.push('{');
    for (n, (field, change)) in written.0.iter().enumerate() {
        text.push_str(if n > 0 { "," } else { "" });
        quote(text, field);
        text.push(':');
        write_change(text, change);
    }
    text.push('}');
}

fn write_change(text: &mut String, change: &Change) {
    let list = |values: &[Stored]| Stored::list(values.iter()).to_json();
    let map = |entries: &[(Stored, Stored)]| {
        Stored::map(entries.iter().map(|(key, value)| (key, value))).to_json()
    };
    match change {
        Change::Set(value) => say(text, format_args!("{{\"set\":{}}}", value.to_json())),
        Change::Unset => text.push_str("{\"unset\":true}"),
        Change::Append(items) => say(text, format_args!("{{\"append\":{}}}", list(items))),
        Change::Splice { at, remove, insert } => say(
            text,
            format_args!("{{\"at\":{at},\"remove\":{remove},\"insert\":{}}}", list(insert)),
        ),
        Change::Merge(entries) => say(text, format_args!("{{\"merge\":{}}}", map(entries))),
        Change::RemoveKeys(keys) => say(text, format_args!("{{\"remove_keys\":{}}}", list(keys))),
        Change::Nested(changes) => write_changes(text, changes),
        Change::Messages(changes) => {
            text.push_str("{\"messages\":[");
            for (n, change) in changes.iter().enumerate() {
                text.push_str(if n > 0 { "," } else { "" });
                match change {
                    MessageChange::Put(message) => text.push_str(&message.to_json()),
                    MessageChange::Remove { id } => {
                        text.push_str("{\"remove\":");
                        quote(text, id);
                        text.push('}');
                    }
                    MessageChange::Clear => text.push_str("\"clear\""),
                }
            }
            text.push_str("]}");
        }
        Change::Input(value) => say(text, format_args!("{{\"input\":{}}}", value.to_json())),
    }
}

pub(super) fn say(text: &mut String, what: fmt::Arguments<'_>) {
    // Writing to a text never fails.
    let _ = text.write_fmt(what);
}

pub(super) fn quote(text: &mut String, what: &str) {
    text.push('"');
    for c in what.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => say(text, format_args!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
}
