//! The readers: each reads one thing that a mark opens, wherever the text stops, and goes on from there.
//!
//! A [`reader`] is a state. [`walk`] is what all of them share: where reading stands, what text is sent where, what was
//! read. [`dispatch`] decides what follows a mark; [`separator`] and [`json_arguments`] read a name and its JSON, [`calls`] JSON calls,
//! [`data_list`] lists that are none, [`params`], [`nested_xml`] and [`suffixed_tag`] tags, [`python_calls`] Python's calls, [`label_name`] what stands behind a
//! label, [`header`] the header of a message, [`headless`] calls whose first mark is missing, [`think`] reasoning; [`trailer`], [`recovery`] and [`skip`] what stands behind a call.
//!
//! A reader never reads a byte twice, except for a bounded look ahead.

pub(crate) mod attribute_call;
pub(crate) mod calls;
pub(crate) mod data_list;
pub(crate) mod dispatch;
pub(crate) mod echo;
pub(crate) mod enclosure;
pub(crate) mod fence;
pub(crate) mod header;
pub(crate) mod headless;
pub(crate) mod json_arguments;
pub(crate) mod label_name;
pub(crate) mod nested_xml;
pub(crate) mod params;
pub(crate) mod python_calls;
pub(crate) mod python_names;
pub(crate) mod quotation;
pub(crate) mod reader;
pub(crate) mod recovery;
pub(crate) mod separator;
pub(crate) mod shown;
pub(crate) mod skip;
pub(crate) mod suffixed_tag;
mod tag_words;
pub(crate) mod think;
pub(crate) mod tool_input;
pub(crate) mod trailer;
mod value_end;
pub(crate) mod walk;
pub(crate) mod word_call;
