//! XML, read tag by tag: no tree, no entity but the five of XML and letters by number, no document type.

use std::borrow::Cow;

use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
};

use crate::{deadline::Deadline, skip::SkipReason};

/// How deep elements may stand in each other.
const MAX_DEPTH: usize = 256;

/// So many events come between two looks at the time.
const EVENTS: u32 = 4_096;

/// What is done with the tags and the text of a part.
pub(crate) trait Visit {
    fn open(&mut self, tag: &Tag<'_>) -> Result<(), SkipReason>;
    /// An element ends; its name is without a prefix.
    fn close(&mut self, name: &str);
    fn text(&mut self, text: &str);
}

/// A tag that opens an element.
#[derive(Debug)]
pub(crate) struct Tag<'a> {
    /// Without a prefix.
    pub(crate) name: &'a str,
    start: &'a BytesStart<'a>,
}

impl Tag<'_> {
    /// The value of an attribute, by its name without a prefix.
    pub(crate) fn get(&self, key: &str) -> Option<Cow<'_, str>> {
        let mut all = self.start.attributes();
        // What cannot be read is no attribute.
        let mut read = all.with_checks(false).filter_map(Result::ok);
        let found = read.find(|attribute| attribute.key.local_name().into_inner() == key)?;
        // What is no value counts as none.
        found.normalized_value(XmlVersion::Implicit1_0).ok()
    }

    /// The same where it is a number.
    pub(crate) fn number(&self, key: &str) -> Option<usize> {
        self.get(key)?.trim().parse().ok()
    }
}

/// Reads `xml` to its end.
pub(crate) fn read(
    xml: &str,
    deadline: Deadline,
    visitor: &mut impl Visit,
) -> Result<(), SkipReason> {
    let mut reader = Reader::from_str(xml);
    let (mut depth, mut events) = (0_usize, 0_u32);
    loop {
        events = events.wrapping_add(1);
        if events.is_multiple_of(EVENTS) {
            deadline.check()?;
        }
        let event = reader.read_event().map_err(|cause| SkipReason::damaged(&cause.to_string()))?;
        match event {
            Event::Start(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(SkipReason::TooNested { limit: MAX_DEPTH });
                }
                open(&start, visitor)?;
            }
            Event::Empty(start) => {
                open(&start, visitor)?;
                visitor.close(start.local_name().into_inner());
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                visitor.close(end.local_name().into_inner());
            }
            Event::Text(text) => visitor.text(&text.xml10_content()),
            Event::CData(text) => visitor.text(&text.xml10_content()),
            Event::GeneralRef(name) => refer(&name, visitor),
            Event::DocType(_) => return Err(SkipReason::damaged("a document type")),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof if depth > 0 => return Err(SkipReason::damaged("markup breaks off")),
            Event::Eof => return Ok(()),
        }
    }
}

fn open(start: &BytesStart<'_>, visitor: &mut impl Visit) -> Result<(), SkipReason> {
    visitor.open(&Tag { name: start.local_name().into_inner(), start })
}

/// A letter by its name or number. Any other entity means nothing here.
fn refer(name: &quick_xml::events::BytesRef<'_>, visitor: &mut impl Visit) {
    if let Ok(Some(letter)) = name.resolve_char_ref() {
        visitor.text(letter.encode_utf8(&mut [0; 4]));
    } else if let Some(text) = resolve_predefined_entity(name) {
        visitor.text(text);
    }
}
