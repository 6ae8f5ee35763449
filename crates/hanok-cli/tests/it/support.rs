//! The command, run by tests.

use std::{path::Path, process::Command};

use serde_json::Value;

/// What the command wrote, and its code.
pub(crate) struct Written {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Written {
    /// The lines, each as JSON.
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The command on the store in `db`.
pub(crate) fn hanok(db: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hanok"));
    command.arg("--db").arg(db).args(arguments).env_remove("HANOK_POSTGRES");
    command
}

/// What `command` writes.
pub(crate) fn written(mut command: Command) -> Written {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    Written { code, out: text(output.stdout), err: text(output.stderr) }
}

/// What `command` writes, which ends with 0.
pub(crate) fn done(command: Command) -> Written {
    let written = written(command);
    assert_eq!(written.code, 0, "{}{}", written.out, written.err);
    written
}
