//! The three teams: graphs that choose tools, call those that were chosen, and say what came of it.
//!
//! ```text
//! search:   prepare -> route -> search -> aggregate -> finalize        route -> finalize, where there is nothing to search
//! analysis: prepare -> preprocess -> analyze -> generate_insights -> create_report -> finalize
//! document: prepare -> generate -> review_check -> review -> finalize  review_check -> finalize, where nobody has to look
//! ```

mod analysis;
mod document;
mod search;
mod toolbox;
mod work;

pub use analysis::analysis;
pub use document::{Paper, PaperKind, PaperUpdate, begin, document, end};
pub use search::search;
pub use toolbox::Toolbox;
pub use work::{ToolEnd, Work, WorkUpdate};
