//! A log as lines of text: for people, and on its way to another store.
//!
//! Each line is one JSON object. What it says is for people; what is read back is its last member, the bytes in
//! hexadecimal digits with a checksum, so that every value comes back as it was.

use hanok_core::{Position, Reader, StoredError, Timestamp, Writer};
use thiserror::Error;

use crate::{
    backend::append::AppendId,
    chain::{Ancestor, Digest, Link},
    codec::Codec,
    entry::body::Entry,
    error::CheckpointError,
    format::record::Part,
    thread::copy::{CopiedEntry, LogCopy},
    thread::log::{Log, LogEntry},
    thread::text::{body, quote, say},
    wire::{Wire, malformed, thread, write_thread},
};

/// The name of the last member of a line.
const STORED: &str = ",\"stored\":\"";

/// The format of the lines.
const VERSION: u64 = 3;

/// Why lines could not be taken in.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A line is not one of a log, or was changed.
    #[error("line {line} is not one of an exported log, or was changed")]
    Line {
        /// Which, counted from 1.
        line: usize,
        /// The fault.
        #[source]
        source: StoredError,
    },
    /// A line is missing or stands twice.
    #[error("line {line} holds position {actual}; position {expected} is next")]
    Order {
        /// Which, counted from 1.
        line: usize,
        /// The position it holds.
        actual: Position,
        /// The one that would follow.
        expected: Position,
    },
    /// Lines are missing at the end.
    #[error("the lines end at position {actual}; the log ends at {expected}: some are missing")]
    Cut {
        /// The position of the last line.
        actual: Position,
        /// The position that the first line says is the last.
        expected: Position,
    },
    /// The chain of the lines does not lead to the link in the first one: somebody changed them.
    #[error("the chain of the lines does not lead to the link that the first line says")]
    Chain,
    /// Another build wrote the lines.
    #[error(
        "the lines have format {format}; this build reads format {VERSION}: use the build that wrote them, or a newer one"
    )]
    Format {
        /// Their format.
        format: u64,
    },
    /// The store did not take them.
    #[error("{0}")]
    Checkpoint(#[from] CheckpointError),
}

impl Log {
    /// The log as lines of JSON without line breaks: one that says whose it is, and one for each entry, oldest first, on all
    /// branches. They hold what the log holds: treat them like the store.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// let lines = log.export().await?;
    /// let elsewhere = Log::new(SharedCheckpointer::new(InMemoryCheckpointer::new()), thread);
    /// elsewhere.import(lines.iter().map(String::as_str), AppendId(2), Timestamp(8)).await?;
    /// let taken = elsewhere.history(None, 10).await?;
    /// assert_eq!(taken[1..], log.history(None, 10).await?);
    /// assert_eq!(taken[0].entry.body.kind(), Kind::Copied);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record; [`CheckpointError::Conflict`] for a thread that has no log.
    pub async fn export(&self) -> Result<Vec<String>, CheckpointError> {
        let copy = self.copied().await?;
        let mut lines = Vec::with_capacity(copy.entries.len() + 1);
        lines.push(heading(&copy));
        lines.extend(copy.entries.iter().map(line));
        Ok(lines)
    }

    /// Writes the log that `lines` hold as this thread's, as [`copy`](Log::copy) does, in another store too and under the same name.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// let lines = log.export().await?;
    /// let cut = lines.iter().take(1).map(String::as_str);
    /// let elsewhere = Log::new(SharedCheckpointer::new(InMemoryCheckpointer::new()), thread);
    /// let refused = elsewhere.import(cut, AppendId(2), Timestamp(8)).await;
    /// assert!(matches!(refused, Err(ImportError::Cut { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`ImportError`] when the lines are no whole log: then nothing is stored. [`CheckpointError::Conflict`] when this thread
    /// has a log already.
    pub async fn import<'l>(
        &self,
        lines: impl IntoIterator<Item = &'l str>,
        id: AppendId,
        now: Timestamp,
    ) -> Result<(), ImportError> {
        self.put(read(lines)?, id, now).await.map_err(ImportError::Checkpoint)
    }
}

fn read<'l>(lines: impl IntoIterator<Item = &'l str>) -> Result<LogCopy, ImportError> {
    let mut lines = lines.into_iter().zip(1..);
    let wrong = |line| move |source| ImportError::Line { line, source };
    let (first, _) = lines.next().unwrap_or(("", 1));
    let bytes = stored(first).map_err(wrong(1))?;
    let mut reader = Reader::new(&bytes);
    let parts = reader.array().map_err(wrong(1))?;
    // No format has more parts than bytes: such a line is damaged, whatever number follows.
    if parts > bytes.len() {
        return malformed(&reader, "as many parts as the line has room for").map_err(wrong(1));
    }
    let format = reader.uint().map_err(wrong(1))?;
    if format != VERSION {
        return Err(ImportError::Format { format });
    }
    let (mut copy, count) = read_heading(&mut reader, parts).map_err(wrong(1))?;
    let mut expected = copy.base.as_ref().map_or(Position::START, |(floor, _)| *floor).next();
    for (text, line) in lines.filter(|(text, _)| !text.trim().is_empty()) {
        let entry = stored(text).and_then(|bytes| read_entry(&bytes)).map_err(wrong(line))?;
        let actual = entry.entry.position;
        if actual != expected || entry.entry.parent >= actual {
            return Err(ImportError::Order { line, actual, expected });
        }
        expected = actual.next();
        copy.entries.push(entry);
    }
    let actual = Position(expected.0.saturating_sub(1));
    let all = copy.entries.len() as u64 == count && copy.end > Position::START;
    if actual != copy.end || !all {
        return Err(ImportError::Cut { actual, expected: copy.end });
    }
    match holds(&copy) {
        true => Ok(copy),
        false => Err(ImportError::Chain),
    }
}

/// Checks whether the chain leads to the link that the first line says. One that is keyed is not looked at: its key is the store's
/// that it comes from.
fn holds(copy: &LogCopy) -> bool {
    let Some(newest) = copy.ancestor.link else { return true };
    if copy.entries.iter().any(|entry| entry.key.is_some()) {
        return true;
    }
    let base = copy.base.as_ref().map_or(Some(Link::BEFORE_ALL), |(_, base)| base.link);
    let Some(mut link) = base else { return false };
    for CopiedEntry { entry: LogEntry { position, parent, entry }, salt, from, .. } in &copy.entries
    {
        let Some(salt) = salt else { return false };
        let digest = Digest::of(&[&salt[..], &entry.to_bytes()].concat());
        let (position, parent, from) = (*position, *parent, from.clone());
        let part = Part { position, parent, key: None, from, digest };
        match part.link(&Codec::default(), copy.ancestor.life, &link) {
            Ok(next) => link = next,
            Err(_) => return false,
        }
    }
    link == newest
}

fn heading(copy: &LogCopy) -> String {
    let mut writer = Writer::new();
    write_thread(writer.array(11).uint(VERSION), &copy.from);
    copy.ancestor.life.write(&mut writer);
    copy.origin.write(&mut writer);
    copy.expires.write(&mut writer);
    copy.base.write(&mut writer);
    copy.labels.write(&mut writer);
    writer.uint(copy.end.0).uint(copy.entries.len() as u64);
    copy.ancestor.link.write(&mut writer);
    let mut text = String::from("{\"thread\":");
    quote(&mut text, copy.from.thread());
    text.push_str(",\"tenant\":");
    quote(&mut text, copy.from.tenant().as_str());
    say(&mut text, format_args!(",\"life\":\"{}\",\"end\":{}", copy.ancestor.life, copy.end));
    if let Some(link) = &copy.ancestor.link {
        say(&mut text, format_args!(",\"link\":\"{link}\""));
    }
    if let Some((floor, _)) = &copy.base {
        say(&mut text, format_args!(",\"cut_off_up_to\":{floor}"));
    }
    end(text, &writer.into_bytes())
}

/// The first line, and how many follow it.
fn read_heading(from: &mut Reader<'_>, parts: usize) -> Result<(LogCopy, u64), StoredError> {
    if parts != 11 {
        return malformed(from, "the eleven parts of a first line");
    }
    let (thread, life) = (thread(from)?, Wire::read(from)?);
    let (origin, expires) = (Wire::read(from)?, Wire::read(from)?);
    let (base, labels) = (Wire::read(from)?, Wire::read(from)?);
    let (end, count) = (Wire::read(from)?, from.uint()?);
    let ancestor = Ancestor { life, link: Wire::read(from)? };
    if !from.is_at_end() {
        return malformed(from, "the end of the line");
    }
    let (from, entries) = (thread, Vec::new());
    Ok((LogCopy { from, ancestor, end, base, entries, origin, expires, labels }, count))
}

fn line(copy: &CopiedEntry) -> String {
    let CopiedEntry { entry: LogEntry { position, parent, entry }, salt, key, from } = copy;
    let mut writer = Writer::new();
    writer.array(6).uint(position.0).uint(parent.0);
    key.write(&mut writer);
    from.write(&mut writer);
    salt.write(&mut writer);
    writer.bin(&entry.to_bytes());
    let mut text = String::new();
    say(&mut text, format_args!("{{\"position\":{position},\"parent\":{parent},"));
    say(&mut text, format_args!("\"at\":{},\"path\":[", entry.at.0));
    for (n, segment) in entry.namespace.segments().enumerate() {
        text.push_str(if n > 0 { "," } else { "" });
        quote(&mut text, segment);
    }
    say(&mut text, format_args!("],\"kind\":\"{}\"", entry.body.kind().as_str()));
    body(&mut text, &entry.body);
    end(text, &writer.into_bytes())
}

fn read_entry(bytes: &[u8]) -> Result<CopiedEntry, StoredError> {
    let mut reader = Reader::new(bytes);
    if reader.array()? != 6 {
        return malformed(&reader, "the six parts of a line");
    }
    let (position, parent) = (Wire::read(&mut reader)?, Wire::read(&mut reader)?);
    let (key, from) = (Wire::read(&mut reader)?, Wire::read(&mut reader)?);
    let salt = Wire::read(&mut reader)?;
    let entry = LogEntry { position, parent, entry: Entry::from_bytes(reader.bin()?)? };
    if !reader.is_at_end() {
        return malformed(&reader, "the end of the line");
    }
    Ok(CopiedEntry { entry, salt, key, from })
}

/// Ends a line with the bytes that are read back.
fn end(mut text: String, bytes: &[u8]) -> String {
    text.push_str(STORED);
    for byte in crc32c::crc32c(bytes).to_be_bytes().iter().chain(bytes) {
        say(&mut text, format_args!("{byte:02x}"));
    }
    text.push_str("\"}");
    text
}

/// The bytes of a line.
fn stored(line: &str) -> Result<Vec<u8>, StoredError> {
    let wrong = |expected| StoredError::Malformed { at: 0, expected };
    let line = line.trim_end().strip_suffix("\"}");
    let parts = line.and_then(|line| line.rsplit_once(STORED));
    let (_, digits) = parts.ok_or_else(|| wrong("a line of a log"))?;
    let pairs = digits.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2)?;
        u8::from_str_radix(text, 16).ok()
    });
    let bytes: Option<Vec<_>> = bytes.collect();
    let bytes = bytes.ok_or_else(|| wrong("hexadecimal digits"))?;
    match bytes.split_first_chunk() {
        Some((sum, bytes)) if u32::from_be_bytes(*sum) == crc32c::crc32c(bytes) => {
            Ok(bytes.to_vec())
        }
        _ => Err(wrong("a line that was not changed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of `import` for a first line that announces `parts` parts, of which it has the format and no more.
    fn refusal(parts: usize, format: u64) -> ImportError {
        let mut writer = Writer::new();
        writer.array(parts).uint(format);
        let line = end(String::from("{\"thread\":\"t\""), &writer.into_bytes());
        read([line.as_str()]).err().unwrap()
    }

    #[test]
    fn a_first_line_that_is_damaged_is_told_from_one_of_another_format() {
        for format in [1, VERSION, VERSION + 1] {
            let error = refusal(u32::MAX as usize, format);
            assert!(matches!(error, ImportError::Line { line: 1, .. }), "{format}: {error}");
        }
        assert!(
            matches!(refusal(1, VERSION + 1), ImportError::Format { format } if format == VERSION + 1)
        );
        assert!(matches!(refusal(1, VERSION), ImportError::Line { line: 1, .. }));
    }
}
