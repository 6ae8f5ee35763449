//! The verbs for what threads ask people: listed, shown, answered, and told afterwards.

use std::{collections::BTreeSet, fs, path::Path};

use hanok_agent::{
    AuditEvent, AuditKey, AuditRecord, audit_of, shown_whole, shown_without_secrets, verify_audit,
};
use hanok_checkpoint::{Log, REQUESTS, Which};
use hanok_core::{Answerer, RequestId, Stored};
use hanok_graph::{NewAnswer, Pending, RunError, answer as give, open_requests};
use serde_json::{Value, json};

use crate::{
    arguments::{AnswerArguments, AuditArguments, Person},
    failure::Failure,
    output::{Output, list_of, moment},
    store::{Place, id, now},
};

/// The most characters of a request in a list.
const SHORT: usize = 60;

/// The fewest characters of an id that name a request: an empty one, as of a variable that is not set, names none.
const FEWEST: usize = 4;

/// Lists the open requests of all threads of the tenant, or those that a person may answer.
pub(crate) async fn inbox(
    place: &Place,
    person: Person,
    output: &mut Output,
) -> Result<(), Failure> {
    let all = place.store.all_threads(&Which::Of(place.tenant.clone())).await?;
    let answerer = person.is_named().then(|| person.answerer());
    let mut rows = Vec::new();
    let waits = all.into_iter().filter(|info| info.labels.contains_key(REQUESTS));
    for info in waits {
        let log = Log::new(place.store.clone(), info.thread);
        for asked in open_requests(&log, now()).await? {
            if answerer.as_ref().is_some_and(|person| !asked.audience.admits(Some(person))) {
                continue;
            }
            if output.is_json() {
                output.object(&object(&log, &asked, false))?;
            } else {
                rows.push(row(&log, &asked));
            }
        }
    }
    match output.is_json() {
        true => Ok(()),
        false => output.table(&["THREAD", "REQUEST", "NODE", "FOR", "UNTIL", "WHAT"], &rows),
    }
}

/// Shows the open requests of a thread, whole: with what a form marks as secret, if `secrets`.
pub(crate) async fn show(
    place: &Place,
    log: &Log,
    secrets: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    place.there(log).await?;
    for asked in open_requests(log, now()).await? {
        if output.is_json() {
            output.object(&object(log, &asked, secrets))?;
            continue;
        }
        output.line(&format!("{} asks ({})", asked.node, asked.id))?;
        if !asked.path.is_root() {
            output.line(&format!("  in: {}", asked.path))?;
        }
        output.line(&format!("  for: {}", asked.audience))?;
        if let Some(deadline) = asked.deadline {
            output.line(&format!("  until: {}", moment(deadline)))?;
        }
        output.line(&format!("  shown ({}):", asked.digest()))?;
        lines(&what(&asked, secrets), output)?;
        if let Some(schema) = asked.schema.as_deref() {
            output.line("  an answer fits:")?;
            lines(&serde_json::from_str(schema).unwrap_or_default(), output)?;
        }
        if asked.doubt.is_some() {
            output.line("  say --made RESULT, --not-made or --give-up")?;
        }
    }
    Ok(())
}

/// Answers a request; whoever runs the thread next goes on with it.
pub(crate) async fn answer(
    place: &Place,
    arguments: AnswerArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    let log = place.log(&arguments.thread)?;
    place.there(&log).await?;
    let open = open_requests(&log, now()).await?;
    let id_of = named(&log, &open, &arguments.request).await?;
    let value = arguments.decision.json()?;
    let value = Stored::encode(&value).map_err(|error| Failure::NoAnswer(error.into()))?;
    let answer = NewAnswer::of(id_of.clone(), value);
    let answer = match arguments.key {
        Some(key) => answer.key(key),
        None => answer,
    };
    let answer = match arguments.shown {
        Some(shown) => answer.shown(shown),
        None => answer,
    };
    let by = arguments.person.answerer();
    let at = give(&log, vec![answer], Some(&by), id(), now()).await.map_err(stored)?;
    let left = open_requests(&log, now()).await?;
    let left = left.iter().filter(|asked| asked.id != id_of).count();
    if output.is_json() {
        let thread = log.thread().thread();
        return output.object(&json!({
            "thread": thread, "request": id_of.to_string(), "position": at.0, "open": left,
        }));
    }
    let more = match left {
        0 => "nothing else is asked: the next run goes on".to_owned(),
        left => format!("{left} more are open"),
    };
    output.line(&format!("{}: {id_of} is answered by {by}; {more}", log.thread()))
}

/// The request that `name` is the id of, or how its id begins. One that is not open may have been answered: whoever takes the answer
/// says so, or takes it again under the same key.
async fn named(log: &Log, open: &[Pending], name: &str) -> Result<RequestId, Failure> {
    if let Some(asked) = open.iter().find(|asked| *asked.id.0 == *name) {
        return Ok(asked.id.clone());
    }
    if name.chars().count() < FEWEST {
        return Err(Failure::ShortRequest(name.to_owned(), FEWEST));
    }
    let ids: BTreeSet<_> = open.iter().map(|asked| asked.id.to_string()).collect();
    if let Some(id) = begins(&ids, name)? {
        return Ok(id);
    }
    let closed: BTreeSet<_> =
        audit_of(log, None).await?.into_iter().map(|record| record.request).collect();
    Ok(begins(&closed, name)?.unwrap_or_else(|| RequestId(name.into())))
}

/// The only one of `ids` that begins with `name`, `None` where none does.
fn begins(ids: &BTreeSet<String>, name: &str) -> Result<Option<RequestId>, Failure> {
    let named: Vec<_> = ids.iter().filter(|id| id.starts_with(name)).cloned().collect();
    match named.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(RequestId(one.as_str().into()))),
        several => Err(Failure::ManyRequests(name.to_owned(), list_of(several))),
    }
}

/// Tells what people were asked and what they decided.
pub(crate) async fn audit(
    place: &Place,
    arguments: AuditArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    let log = place.log(&arguments.thread)?;
    place.there(&log).await?;
    let key = std::env::var("HANOK_AUDIT_KEY").ok().filter(|key| !key.is_empty());
    let key = key.as_deref().map(AuditKey::new);
    if matches!(arguments.verify, Some(None)) {
        // Before they are read: a thread that is damaged has no records.
        whole(&log, output).await?;
    }
    let records = audit_of(&log, key.as_ref()).await?;
    match arguments.verify {
        None => tell(&records, output),
        Some(None) => verified(&log, &records, key.is_some(), output),
        Some(Some(file)) => compare(&file, &records, key.as_ref(), output),
    }
}

fn tell(records: &[AuditRecord], output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return records.iter().try_for_each(|record| {
            output.object(&serde_json::to_value(record).unwrap_or_default())
        });
    }
    let rows: Vec<_> = records.iter().map(audit_row).collect();
    output.table(&["AT", "POSITION", "NODE", "EVENT", "BY", "TOOK", "WHAT"], &rows)
}

/// The log's own chain says whether the records of the store are as they were written; where they are not, it is said where.
async fn whole(log: &Log, output: &mut Output) -> Result<(), Failure> {
    let verified = log.verify().await?;
    if verified.as_ref().is_some_and(|verified| verified.is_whole()) {
        return Ok(());
    }
    if let Some(verified) = &verified {
        crate::verify::tell(log, verified, output)?;
    }
    Err(Failure::Damaged(1, 1))
}

fn verified(
    log: &Log,
    records: &[AuditRecord],
    keyed: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let last = records.last().map_or("", |last| last.hash.as_str());
    let count = records.len();
    if output.is_json() {
        return output.object(&json!({ "records": count, "hash": last, "keyed": keyed }));
    }
    output.line(&format!("{}: {count} records, whole; the last is {last}", log.thread()))?;
    match keyed {
        true => Ok(()),
        false => output.line(
            "without HANOK_AUDIT_KEY this shows accidents, and not the hand of whoever may write the store",
        ),
    }
}

/// Compares records that were written out earlier with those of the log now.
fn compare(
    file: &Path,
    now: &[AuditRecord],
    key: Option<&AuditKey>,
    output: &mut Output,
) -> Result<(), Failure> {
    let text = fs::read_to_string(file)?;
    let mut before: Vec<AuditRecord> = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        let fault = |error: serde_json::Error| Failure::NoRecord(nth + 1, error.to_string());
        before.push(serde_json::from_str(line).map_err(fault)?);
    }
    verify_audit(&before, key).map_err(Failure::Audit)?;
    let same = before.iter().zip(now).take_while(|(before, now)| before == now).count();
    if same < before.len() {
        let record = before.get(same);
        let position = record.map_or(0, |record| record.position);
        return Err(Failure::OtherAudit(same + 1, position));
    }
    let (count, more) = (before.len(), now.len() - same);
    match output.is_json() {
        true => output.object(&json!({ "records": count, "new": more })),
        false => output.line(&format!("{count} records are as the log has them; {more} are new")),
    }
}

fn audit_row(record: &AuditRecord) -> Vec<String> {
    let (event, by, took, what) = match &record.event {
        AuditEvent::Requested { shown, .. } => {
            ("requested".to_owned(), String::new(), None, shown.to_string())
        }
        AuditEvent::Answered { answer, decision, by, took, changed, .. } => {
            let decision = decision.clone().unwrap_or_else(|| "answered".to_owned());
            let what = match changed.as_slice() {
                [] => answer.to_string(),
                changed => serde_json::to_string(changed).unwrap_or_default(),
            };
            let by = by.as_ref().map(|by| format!("{} ({})", by.name, by.channel));
            (decision, by.unwrap_or_default(), *took, what)
        }
        AuditEvent::Passed { about, reasons, .. } => {
            let reasons = reasons.iter().map(|it| format!("{}: {}", it.rule, it.reason));
            let what = format!("{about} ({})", reasons.collect::<Vec<_>>().join("; "));
            ("passed".to_owned(), String::new(), None, what)
        }
        AuditEvent::Settled { tool, resolution, by, .. } => {
            let by = by.as_ref().map(|by| format!("{} ({})", by.name, by.channel));
            (resolution.clone(), by.unwrap_or_default(), None, tool.clone())
        }
        AuditEvent::Late { answer, by, .. } => {
            let by = by.as_ref().map(|by| format!("{} ({})", by.name, by.channel));
            ("late".to_owned(), by.unwrap_or_default(), None, answer.to_string())
        }
        AuditEvent::Reopened { reason } => {
            ("reopened".to_owned(), String::new(), None, reason.clone())
        }
        _ => ("of a newer build".to_owned(), String::new(), None, String::new()),
    };
    vec![
        moment(hanok_core::Timestamp(record.at)),
        record.position.to_string(),
        record.node.clone(),
        event,
        by,
        took.map(|millis| format!("{millis} ms")).unwrap_or_default(),
        short(&what),
    ]
}

fn row(log: &Log, asked: &Pending) -> Vec<String> {
    vec![
        log.thread().thread().to_owned(),
        asked.id.to_string(),
        asked.node.clone(),
        asked.audience.to_string(),
        asked.deadline.map(moment).unwrap_or_default(),
        short(&in_short(asked)),
    ]
}

/// What a request is about, in one line.
fn in_short(asked: &Pending) -> String {
    let what = what(asked, false);
    match (&asked.doubt, what.get("tool").and_then(Value::as_str), &what) {
        (Some(doubt), ..) => {
            let digest = what.get("digest").and_then(Value::as_str).unwrap_or_default();
            format!("was {} called? {} bytes, {digest}", doubt.tool, doubt.arguments.len())
        }
        (None, Some(tool), _) => {
            let arguments = what.get("arguments").unwrap_or(&Value::Null);
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            format!("{tool} {arguments}")
        }
        (None, None, Value::String(text)) => text.clone(),
        (None, None, what) => match (what.get("gate"), what.get("question")) {
            (Some(_), Some(Value::String(question))) => question.clone(),
            _ => what.to_string(),
        },
    }
}

/// What a request shows: with what its form marks as secret, and the arguments of a call in doubt, if `secrets`.
fn what(asked: &Pending, secrets: bool) -> Value {
    match secrets {
        true => shown_whole(asked),
        false => shown_without_secrets(asked),
    }
}

fn object(log: &Log, asked: &Pending, secrets: bool) -> Value {
    let schema = asked.schema.as_deref().map(serde_json::from_str::<Value>);
    json!({
        "thread": log.thread().thread(),
        "request": asked.id.to_string(),
        "node": asked.node,
        "path": asked.path,
        "shown": what(asked, secrets),
        "digest": asked.digest(),
        "schema": schema.and_then(Result::ok),
        "deadline": asked.deadline.map(moment),
        "names": asked.audience.names,
        "roles": asked.audience.roles,
        "in_doubt": asked.doubt.is_some(),
    })
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn lines(value: &Value, output: &mut Output) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.lines().try_for_each(|line| output.line(&format!("    {line}")))
}

/// A failure of the store is one of the store's; the rest is about the answer.
fn stored(error: RunError) -> Failure {
    match error {
        RunError::Checkpoint(error) => Failure::Store(error),
        error => Failure::Refused(Box::new(error)),
    }
}

impl Person {
    /// The person, by name or as the system knows them.
    pub(crate) fn answerer(&self) -> Answerer {
        let system =
            || ["USER", "LOGNAME", "USERNAME"].iter().find_map(|it| std::env::var(it).ok());
        let answerer = match &self.name {
            Some(name) => Answerer::new(name, "cli"),
            None => Answerer::new(system().unwrap_or_else(|| "nobody".into()), "cli, system user"),
        };
        self.role.iter().fold(answerer, |answerer, role| answerer.role(role))
    }

    fn is_named(&self) -> bool {
        self.name.is_some() || !self.role.is_empty()
    }
}
