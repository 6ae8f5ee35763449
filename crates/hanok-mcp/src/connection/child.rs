//! A program in a process group of its own, which ends with its connection.

use std::{io, process::Stdio, time::Duration};

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::program::{program, variables};
use crate::config::StdioConfig;

/// The time that a program has to end when its input has ended.
const GRACE: Duration = Duration::from_secs(2);

/// A program that was started. When this is dropped, so are all processes of its group.
#[derive(Debug)]
pub(super) struct ChildGroup(Child);

/// The ends of a program's standard streams.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl ChildGroup {
    /// Starts the program. No shell reads its command line, and it sees no variable that is not listed.
    pub(super) fn start(config: &StdioConfig) -> io::Result<(Self, Streams)> {
        let mut command = Command::new(program(config)?);
        command
            .args(config.args.iter().map(|argument| argument.expose()))
            .env_clear()
            .envs(variables(config))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(cwd) = &config.cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(io::Error::other("a standard stream is missing"));
        };
        Ok((Self(child), Streams { stdin, stdout, stderr }))
    }

    /// Waits a moment for the program to end, then ends its whole group. Its input has to be closed before.
    pub(super) async fn end(&mut self, output_ended: impl Future<Output = ()>) {
        // The program is not waited for itself: until it is, no other process can get its number, which the group has.
        // One that stays is ended all the same.
        let _ = tokio::time::timeout(GRACE, output_ended).await;
        self.kill();
        // Whether it ends with an error is of no interest any more.
        let _ = self.0.wait().await;
    }

    /// Ends all processes of the group.
    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(group) =
            self.0.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()))
        {
            // There may be none left.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        #[cfg(not(unix))]
        {
            let _ = self.0.start_kill();
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
