//! Files: text files behind one interface, wherever they are, and the tools of them.
//!
//! At the bottom is the path ([`FilePath`]), which no model can lead out, and the folder, in which every name is opened in the
//! folder before it and judged as it was opened. Above are the places of files, and above those the tools, which heed the rules
//! and ask a person before anything is done.

mod error;
mod file_tools;
mod folder;
mod folder_write;
mod hidden;
mod in_folder;
mod in_state;
#[cfg(feature = "store")]
mod in_store;
mod limits;
mod lines;
mod page;
mod path;
mod pattern;
mod question;
mod read_file;
mod rules;
mod source;
mod text_edit;

pub use error::FileError;
pub use file_tools::{FileTool, FileTools};
pub use in_folder::FolderFiles;
pub use in_state::{FileChange, FileMap, StateFiles};
#[cfg(feature = "store")]
pub use in_store::StoreFiles;
pub use path::FilePath;
pub use question::{FileDecision, FileRequest};
pub use read_file::ReadFile;
pub use rules::{FileAccess, FileRule, FileRules};
pub use source::{FileEntry, FileWrite, Files, SharedFiles};
pub use text_edit::TextEdit;
