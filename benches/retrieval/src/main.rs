//! How well and how fast documents are found. `cargo xtask evaluate` builds this and runs it; `docs/retrieval.md` has what it
//! printed.

mod arguments;
mod embedders;
mod found;
mod fusion;
mod korean;
mod measure;
mod questions;
mod scale;
mod score;
mod stores;

use std::{error::Error, process::ExitCode};

use arguments::Request;
use hanok_encoder::Morphology;
use hanok_retrieval::{SharedMorphemes, Terms};

/// Any failure of an evaluation.
pub(crate) type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    match arguments::read(std::env::args().skip(1)) {
        Ok(request) => match run(request) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("evaluate: {error}");
                ExitCode::FAILURE
            }
        },
        Err(wrong) => {
            eprintln!("evaluate: {wrong}\n\n{}", arguments::usage());
            ExitCode::from(2)
        }
    }
}

fn run(request: Request) -> Result<()> {
    // One thread: what is measured is one core.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match request {
        Request::Help => println!("{}", arguments::usage()),
        Request::Questions { encoder, dictionary, fusion } => {
            let terms = match dictionary {
                Some(folder) => Terms::Morphemes(SharedMorphemes::new(Morphology::open(folder)?)),
                None => Terms::default(),
            };
            for embedder in embedders::all(encoder.as_deref())? {
                println!("{}", runtime.block_on(found::tables(&embedder, &terms))?);
                if fusion {
                    println!("{}", runtime.block_on(fusion::table(&embedder, &terms))?);
                }
            }
        }
        Request::Store { store, passages } => {
            println!(
                "{}",
                serde_json::to_string(&runtime.block_on(scale::measure(store, passages))?)?
            );
        }
        Request::Passages { passages } => println!("{}", scale::table(passages)?),
    }
    Ok(())
}
