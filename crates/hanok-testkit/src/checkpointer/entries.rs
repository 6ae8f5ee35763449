//! Entries of every kind, made up.

use std::collections::BTreeMap;

use hanok_checkpoint::{
    Answer, Begin, Body, Commit, Copied, Doubt, Due, Edit, End, Entry, Epoch, Erased, Extend,
    Failed, Frontier, Goto, GraphId, Handed, Intent, Life, Memo, Origin, Outbox, Persistence,
    Question, Rebase, Reopen, Rewind, RunEnd, SendLimits, Snapshot, TaskWrite, ThreadFold,
    ThreadLife, Void,
};
use hanok_core::{
    Answerer, Audience, Change, Changes, Fields, MessageChange, Namespace, Position, RunId, Spent,
    Stored, StoredField, StoredSchema, TaskId, Tenant, ThreadKey, Timestamp,
};
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::*,
    sample::select,
};

/// Any entry, as a property test makes them up.
pub fn any_entry() -> impl Strategy<Value = Entry> {
    (number(), namespace(), body()).prop_map(|(at, namespace, body)| Entry {
        at: Timestamp(at),
        namespace,
        body,
    })
}

/// Any snapshot: that of what some entries amount to.
pub fn any_snapshot() -> impl Strategy<Value = Snapshot> {
    vec((namespace(), prop_oneof![begin(), commit(), rebase(), copied()]), 0..4).prop_map(
        |bodies| {
            let mut fold = ThreadFold::default();
            for (at, (namespace, body)) in (1..).zip(bodies) {
                let entry = Entry { at: Timestamp(0), namespace, body };
                let mut next = fold.clone();
                if next.apply(Position(at), &entry).is_ok() {
                    fold = next;
                }
            }
            fold.runs.values_mut().for_each(as_stored);
            Snapshot::of(&fold)
        },
    )
}

/// A list that grew and the same list read whole are one value in two forms; this is the form that is read.
pub(crate) fn as_stored(run: &mut hanok_checkpoint::RunFold) {
    let read = |fields: &Fields| Fields::from_stored(&fields.to_stored()).unwrap();
    run.fields = read(&run.fields);
    for state in &mut run.records.earlier {
        state.fields = read(&state.fields);
    }
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        3 => begin(),
        3 => write(),
        6 => commit(),
        1 => (vec(position(), 0..3), text(), text())
            .prop_map(|(writes, field, reason)| Body::Void(Void { writes, field, reason })),
        1 => (task(), id(), stored(), spent())
            .prop_map(|(task, name, value, spent)| Body::Memo(Memo { task, name, value, spent })),
        1 => (task(), id(), text(), text(), id(), text(), doubt(), any::<bool>()).prop_map(
            |(task, key, tool, arguments, id, node, doubt, noted)| {
                Body::Intent(Intent { task, key, tool, arguments, id, node, doubt, noted })
            }
        ),
        1 => question().prop_map(Body::Question),
        1 => (task(), text(), text(), text(), any::<u32>(), spent()).prop_map(
            |(task, node, kind, message, attempts, spent)| {
                Body::Failed(Failed { task, node, kind, message, attempts, spent })
            }
        ),
        1 => (option::of(text()), changes(), option::of(frontier()), by()).prop_map(
            |(node, changes, frontier, by)| Body::Edit(Edit { node, changes, frontier, by })
        ),
        1 => answer().prop_map(Body::Answer),
        1 => answer().prop_map(Body::Late),
        1 => (id(), text()).prop_map(|(id, reason)| Body::Reopen(Reopen { id, reason })),
        1 => by().prop_map(|by| Body::Rewind(Rewind { by })),
        1 => rebase(),
        1 => (schema(), changes()).prop_map(|(schema, values)| {
            Body::Extend(Extend { schema, values })
        }),
        1 => (text(), position(), any_snapshot()).prop_map(|(thread, position, snapshot)| {
            Body::Origin(Origin { thread, position, snapshot })
        }),
        1 => text().prop_map(|by| Body::Erased(Erased { by })),
        1 => copied(),
        1 => (run(), outcome(), text(), spent(), option::of(text()), by()).prop_map(
            |(run, outcome, detail, spent, code, by)| {
                Body::End(End { run, outcome, detail, spent, code, by })
            },
        ),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let schema = option::of(text());
    let parts = (id(), task(), text(), stored(), schema, option::of(number()), option::of(text()));
    parts.prop_map(|(id, task, node, payload, schema, deadline, role)| {
        let deadline = deadline.map(Timestamp);
        let audience = role.map(|role| Audience::everybody().role(role));
        Question { id, task, node, payload, schema, deadline, audience }
    })
}

fn answer() -> impl Strategy<Value = Answer> {
    let parts = (id(), stored(), by(), option::of(text()));
    parts.prop_map(|(id, value, by, key)| Answer { id, value, by, key })
}

fn by() -> impl Strategy<Value = Option<Answerer>> {
    option::of((text(), text()))
        .prop_map(|by| by.map(|(name, role)| Answerer::new(name, "test").role(role)))
}

fn copied() -> impl Strategy<Value = Body> {
    (select(vec!["a", "b"]), 1..3_u128).prop_map(|(name, life)| {
        let thread = ThreadKey::new(Tenant::default(), name).unwrap();
        let from = ThreadLife { thread, life: Life::new(life) };
        Body::Copied(Copied { from })
    })
}

fn begin() -> impl Strategy<Value = Body> {
    let first = (run(), number(), option::of(task()), persistence(), any::<bool>(), changes());
    let tags = btree_map(text(), text(), 0..3);
    let graph = (option::of(text()), number())
        .prop_map(|(name, fingerprint)| GraphId { name: name.map(Into::into), fingerprint });
    let second = (option::of(frontier()), option::of(schema()), graph, any::<u32>(), tags);
    (first, second).prop_map(
        |(
            (run, epoch, parent, persistence, shared, input),
            (frontier, schema, graph, takeovers, tags),
        )| {
            let (epoch, schema) = (Epoch(epoch), schema.map(Into::into));
            Body::Begin(Begin {
                run,
                epoch,
                parent,
                persistence,
                shared,
                input,
                frontier,
                schema,
                graph,
                takeovers,
                tags,
            })
        },
    )
}

fn write() -> impl Strategy<Value = Body> {
    (task(), text(), changes(), vec(goto(), 0..3), spent(), vec(outbox(), 0..2)).prop_map(
        |(task, node, changes, goto, spent, outbox)| {
            Body::Write(TaskWrite { task, node: node.into(), changes, goto, spent, outbox })
        },
    )
}

fn outbox() -> impl Strategy<Value = Outbox> {
    (text(), text(), stored()).prop_map(|(id, topic, payload)| Outbox { id, topic, payload })
}

fn goto() -> impl Strategy<Value = Goto> {
    prop_oneof![4 => near(), 1 => handed().prop_map(Goto::Parent)]
}

/// The time-outs of a send.
fn limits() -> impl Strategy<Value = SendLimits> {
    let one = || option::of(any::<u64>());
    (one(), one()).prop_map(|(timeout, idle_timeout)| SendLimits { timeout, idle_timeout })
}

/// The next nodes of a task within its own graph.
fn near() -> impl Strategy<Value = Goto> {
    prop_oneof![
        text().prop_map(|node| Goto::Node(node.into())),
        (text(), stored(), limits()).prop_map(|(node, input, limits)| {
            Goto::Send(Due { node: node.into(), input: Some(input), limits })
        }),
        Just(Goto::End),
        Just(Goto::Only),
    ]
}

fn handed() -> impl Strategy<Value = Handed> {
    (changes(), vec(near(), 0..3), any::<bool>()).prop_map(|(changes, goto, only)| Handed {
        changes,
        goto,
        only,
    })
}

fn doubt() -> impl Strategy<Value = Doubt> {
    select(vec![Doubt::Ask, Doubt::Repeat, Doubt::GiveUp])
}

fn outcome() -> impl Strategy<Value = RunEnd> {
    let known = [RunEnd::Breakpoint, RunEnd::Drained];
    prop_oneof![text().prop_map(|text| text.as_str().into()), select(known.to_vec())]
}

fn commit() -> impl Strategy<Value = Body> {
    let first = (any::<u32>(), vec(text(), 0..3), vec(position(), 0..4), changes());
    (first, (frontier(), spent(), vec(outbox(), 0..2))).prop_map(
        |((step, nodes, folds, changes), (frontier, spent, outbox))| {
            let nodes = nodes.into_iter().map(Into::into).collect();
            Body::Commit(Commit { step, nodes, folds, changes, frontier, spent, outbox })
        },
    )
}

fn rebase() -> impl Strategy<Value = Body> {
    let fields = vec(("[abx]", stored()), 0..3).prop_map(|fields| {
        let fields: BTreeMap<_, _> = fields.into_iter().collect();
        let fields: Vec<_> = fields
            .into_iter()
            .map(|(name, value)| (Stored::encode(&name).unwrap(), value))
            .collect();
        Stored::map(fields.iter().map(|(name, value)| (name, value)))
    });
    let writes = vec((position(), changes()), 0..2);
    let added = option::of(vec(changes(), 0..2));
    (schema(), fields, writes, added).prop_map(|(schema, fields, writes, added)| {
        Body::Rebase(Rebase { schema, fields, writes, added })
    })
}

/// Changes that fit a state whose fields each keep their kind.
fn changes() -> impl Strategy<Value = Changes> {
    let nested = vec(flat_change(), 0..2).prop_map(changes_of);
    let change = prop_oneof![
        6 => flat_change(),
        1 => nested.prop_map(|changes| ("nested", Change::Nested(changes))),
    ];
    vec(change, 0..4).prop_map(changes_of)
}

fn changes_of(parts: Vec<(&'static str, Change)>) -> Changes {
    let mut changes = Changes::default();
    parts.into_iter().for_each(|(field, change)| changes.push(field, change));
    changes
}

fn flat_change() -> impl Strategy<Value = (&'static str, Change)> {
    let list = || vec(stored(), 0..3);
    let merged = vec((text(), stored()), 0..3).prop_map(|entries| {
        let key = |name: String| Stored::encode(&name).unwrap();
        Change::Merge(entries.into_iter().map(|(name, value)| (key(name), value)).collect())
    });
    let removed = vec(text(), 0..2).prop_map(|names| {
        Change::RemoveKeys(names.iter().map(|name| Stored::encode(name).unwrap()).collect())
    });
    let put = |id: String, text: String| {
        let message = BTreeMap::from([("id", id), ("text", text)]);
        MessageChange::Put(Stored::encode(&message).unwrap())
    };
    let message = prop_oneof![
        4 => (id(), text()).prop_map(move |(id, text)| put(id, text)),
        1 => id().prop_map(|id| MessageChange::Remove { id }),
        1 => Just(MessageChange::Clear),
    ];
    prop_oneof![
        stored().prop_map(|value| ("value", Change::Set(value))),
        stored().prop_map(|value| ("value", Change::Input(value))),
        select(vec!["value", "list", "map", "messages"]).prop_map(|field| (field, Change::Unset)),
        list().prop_map(|items| ("list", Change::Append(items))),
        list().prop_map(|items| ("list", Change::Set(Stored::list(items.iter())))),
        (0..3u64, 0..2u64, list())
            .prop_map(|(at, remove, insert)| { ("list", Change::Splice { at, remove, insert }) }),
        merged.prop_map(|change| ("map", change)),
        removed.prop_map(|change| ("map", change)),
        vec(message, 0..3).prop_map(|changes| ("messages", Change::Messages(changes))),
    ]
}

fn frontier() -> impl Strategy<Value = Frontier> {
    let due = || {
        (text(), option::of(stored())).prop_map(|(node, input)| Due { input, ..Due::node(node) })
    };
    let joins = vec((text(), vec(text(), 0..2)), 0..2);
    let handed = option::weighted(0.2, handed().prop_map(Box::new));
    (any::<u32>(), vec(due(), 0..3), joins, vec(due(), 0..2), handed).prop_map(
        |(step, due, joins, deferred, handed)| Frontier { step, due, joins, deferred, handed },
    )
}

fn stored() -> impl Strategy<Value = Stored> {
    prop_oneof![
        Just(Stored::nil()),
        any::<i64>().prop_map(|value| Stored::encode(&value).unwrap()),
        any::<f64>().prop_map(|value| Stored::encode(&value).unwrap()),
        text().prop_map(|value| Stored::encode(&value).unwrap()),
        vec(text(), 0..3).prop_map(|value| Stored::encode(&value).unwrap()),
    ]
}

fn spent() -> impl Strategy<Value = Spent> {
    (0..3u64, 0..3u64, any::<u32>(), 0..3u64, 0..3u64, 0..3u64).prop_map(
        |(model_calls, tool_calls, input, output_tokens, cost, millis)| Spent {
            model_calls,
            tool_calls,
            input_tokens: u64::from(input),
            output_tokens,
            cost,
            millis,
        },
    )
}

/// Few tasks, positions and ids, so that entries speak of each other.
fn task() -> impl Strategy<Value = TaskId> {
    (0..3u8).prop_map(|n| TaskId::from_bytes([n; 16]))
}

fn position() -> impl Strategy<Value = Position> {
    (0..20u64).prop_map(Position)
}

fn id() -> impl Strategy<Value = String> {
    "[pq]"
}

fn namespace() -> impl Strategy<Value = Namespace> {
    let root = Namespace::root();
    let child = root.child("team:a").unwrap();
    let grandchild = child.child("b/'c'").unwrap();
    prop_oneof![4 => Just(root), 1 => Just(child), 1 => Just(grandchild)]
}

fn run() -> impl Strategy<Value = RunId> {
    prop_oneof![Just(0), Just(u128::MAX), any::<u128>()].prop_map(RunId)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), any::<u64>()]
}

fn persistence() -> impl Strategy<Value = Persistence> {
    select(vec![Persistence::PerCall, Persistence::PerThread])
}

fn schema() -> impl Strategy<Value = StoredSchema> {
    let flat = any::<u32>().prop_map(|fingerprint| StoredField { fingerprint, nested: None });
    let of = |fields| {
        (any::<u32>(), fields).prop_map(|(version, fields)| StoredSchema { version, fields })
    };
    let field = flat.prop_recursive(2, 4, 2, move |inner| {
        let nested = of(btree_map(text(), inner, 0..2));
        (any::<u32>(), nested)
            .prop_map(|(fingerprint, nested)| StoredField { fingerprint, nested: Some(nested) })
    });
    of(btree_map(text(), field.boxed(), 0..3))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,2}", "\\PC{0,8}", Just("__interrupt__".to_owned())]
}
