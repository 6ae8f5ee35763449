//! All of them, each in a process of its own.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::{Result, WORKS, text};

const ROUNDS: usize = 3;
const RUST: [&str; 3] = ["hanok", "tool-parser", "dynamo-parsers"];
const PYTHON: &str = "agent-tool-parser";

/// Prints a line for each parser and work; `python` has agent-tool-parser.
pub(crate) fn print(python: Option<&str>) -> Result<()> {
    println!("{:<20}{:<14}{:>14}{:>20}", "parser", "text", "MB/s whole", "MB/s 8-byte pieces");
    for work in WORKS {
        for parser in RUST {
            let this = std::env::current_exe()?;
            line(parser, work, Command::new(this).args([parser, work, &ROUNDS.to_string()]));
        }
        if let Some(python) = python {
            let (text, calls) = text(work)?;
            let file =
                std::env::temp_dir().join(format!("hanok-{}-{work}.txt", std::process::id()));
            fs::write(&file, text)?;
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("agent_tool_parser_speed.py");
            let (calls, rounds) = (calls.to_string(), ROUNDS.to_string());
            let mut command = Command::new(python);
            line(PYTHON, work, command.arg(script).arg(&file).args([calls, rounds]));
            fs::remove_file(&file)?;
        }
    }
    Ok(())
}

/// One line; of a parser that failed, what it said stands above it.
fn line(parser: &str, work: &str, command: &mut Command) {
    let said = command.stderr(Stdio::inherit()).output();
    let said = said.ok().filter(|output| output.status.success());
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).replace("NaN", "null"));
    let speeds: Vec<Option<f64>> =
        said.and_then(|said| serde_json::from_str(said.trim()).ok()).unwrap_or_default();
    let cell = |index: usize| match speeds.get(index) {
        Some(Some(speed)) => format!("{speed:.1}"),
        Some(None) => "wrong".to_owned(),
        None => "-".to_owned(),
    };
    println!("{parser:<20}{work:<14}{:>14}{:>20}", cell(0), cell(1));
}

#[cfg(test)]
mod tests {
    use crate::{CALLS, text, texts};

    #[test]
    fn the_texts_are_what_their_works_say() {
        assert_eq!(text("parse-calls").unwrap().1, CALLS);
        let (prose, calls) = text("parse-prose").unwrap();
        assert_eq!((texts::pieces(&prose).concat() == prose, calls), (true, 0));
    }
}
