#![doc = include_str!("../README.md")]

#[cfg(feature = "files")]
mod files;
#[cfg(feature = "python")]
mod python;
#[cfg(feature = "web")]
mod web;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
#[cfg(feature = "web")]
pub use hanok_egress as egress;
pub use hanok_model as model;
pub use hanok_state as state;

#[cfg(all(feature = "files", feature = "store"))]
pub use files::StoreFiles;
#[cfg(feature = "files")]
pub use files::{
    FileAccess, FileChange, FileDecision, FileEntry, FileError, FileMap, FilePath, FileRequest,
    FileRule, FileRules, FileTool, FileTools, FileWrite, Files, FolderFiles, ReadFile, SharedFiles,
    StateFiles, TextEdit,
};
#[cfg(feature = "python")]
pub use python::{JailError, PythonRepl, PythonReplBuilder};
#[cfg(feature = "web")]
pub use web::{GetWeather, SearchWikipedia, WebSearch};
