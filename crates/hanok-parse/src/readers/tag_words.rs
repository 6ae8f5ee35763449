//! The tags of one call, as its format or its text has them.

use std::borrow::Cow;

use crate::text::{grammar, rule::Tags};

/// The tags of one call.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    pub(crate) open: Cow<'static, str>,
    pub(crate) head: Cow<'static, str>,
    pub(crate) key: Option<&'static str>,
    pub(crate) value: Option<Cow<'static, str>>,
    pub(crate) kind: Option<(&'static str, &'static str)>,
    pub(crate) skips: &'static [&'static str],
    pub(crate) close: Cow<'static, str>,
    pub(crate) end: Cow<'static, str>,
    pub(crate) other_end: Option<Cow<'static, str>>,
    pub(crate) behind: &'static [&'static str],
    pub(crate) cdata: Option<&'static str>,
    pub(crate) lines: bool,
    pub(crate) json_ends: &'static [&'static str],
}

impl Words {
    pub(crate) fn new(tags: &'static Tags) -> Self {
        Self {
            open: tags.open.into(),
            head: tags.head.into(),
            key: tags.key,
            value: tags.value.map(Cow::from),
            kind: tags.kind,
            skips: tags.skips,
            close: tags.close.into(),
            end: tags.end.into(),
            other_end: tags.other_end.map(Cow::from),
            behind: tags.behind,
            cdata: tags.cdata,
            lines: tags.lines,
            json_ends: tags.ends(),
        }
    }

    /// The same tags with `suffix` before their `>`.
    pub(crate) fn suffixed(tags: &'static Tags, suffix: &str) -> Self {
        let with = |tag: &str| grammar::suffixed(tag, suffix);
        let words = Self::new(tags);
        Self {
            open: with(tags.open).into(),
            head: with(tags.head).into(),
            value: tags.value.map(|tag| with(tag).into()),
            close: with(tags.close).into(),
            end: with(tags.end).into(),
            other_end: tags.other_end.map(|tag| with(tag).into()),
            skips: &[],
            behind: &[],
            json_ends: &[],
            ..words
        }
    }
}
