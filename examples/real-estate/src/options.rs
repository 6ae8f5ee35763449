//! What the program is told on its command line.

use std::path::PathBuf;

use clap::Parser;

/// Answers questions about renting, buying and lending a home in Korea: three teams search, calculate and write.
///
/// Without a question it holds a conversation: one line a turn, from a terminal or a pipe; /help lists its commands. With
/// OPENAI_BASE_URL or OPENAI_API_KEY set (and OPENAI_MODEL) it asks that server's model, built with `-F server`; without them an
/// offline model of rules answers. It is no legal or financial advice: prices, listings and loans that ship with it are made up.
///
/// Exit: 0 answered, 1 failed, 2 wrong usage, 3 the thread is in use, 4 stopped by a limit, 5 waits for a person, 130
/// stopped by Ctrl-C.
#[derive(Debug, Clone, Parser)]
#[command(name = "real-estate", version, verbatim_doc_comment)]
pub struct Options {
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would take the place of the program's own help"
    )]
    pub talk: kit::Options,

    /// Who asks: what is remembered of this user is used, and more is learned. Without one nothing is remembered
    #[arg(long, value_name = "ID")]
    pub user: Option<String>,

    /// A folder with data of your own: each file that is there replaces the one that ships with the program
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,

    /// The folder into which documents are written
    #[arg(long, value_name = "FOLDER", default_value = "documents")]
    pub out: PathBuf,

    /// How many seconds a team may work
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub team_timeout: u64,
}
