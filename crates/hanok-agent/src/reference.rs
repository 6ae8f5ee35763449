//! References within a JSON Schema.

/// The part behind `#` of a reference `to` something in the document that has this `id`; `None` for one to another document.
pub(crate) fn fragment<'a>(to: &'a str, id: Option<&str>) -> Option<&'a str> {
    let by_id = || match to.strip_prefix(id?.trim_end_matches('#'))? {
        "" => Some(""),
        rest => rest.strip_prefix('#'),
    };
    to.strip_prefix('#').or_else(by_id)
}

/// True for a fragment that is a JSON pointer, and no anchor's name.
pub(crate) fn is_pointer(fragment: &str) -> bool {
    fragment.is_empty() || fragment.starts_with('/')
}
