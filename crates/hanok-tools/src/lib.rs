#![doc = include_str!("../README.md")]

mod calculate;
mod clock;
mod current_datetime;
#[cfg(feature = "files")]
mod files;
mod near;
#[cfg(feature = "python")]
mod python;
mod time_zone;
mod todos;
mod toolbox;
#[cfg(feature = "web")]
mod web;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
#[cfg(feature = "web")]
pub use hanok_egress as egress;
pub use hanok_figures as figures;
pub use hanok_model as model;
pub use hanok_state as state;

pub use calculate::Calculator;
pub use clock::{ClockError, DateTimeReport, datetime_in};
pub use current_datetime::CurrentDatetime;
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
pub use time_zone::time_zone_in;
pub use todos::{Todo, TodoStatus, Todos, TodosChange, WriteTodos};
pub use toolbox::{OffReason, OffTool, Toolbox};
#[cfg(feature = "web")]
pub use web::{GetWeather, SearchWikipedia, WebSearch};
