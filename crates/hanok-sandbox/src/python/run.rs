//! One program, run in a jail.

use std::{io, process::ExitStatus, time::Duration};

use hanok_core::Call;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{
    JailError,
    jail::{Jail, jail},
    kept::Kept,
    limits::Limits,
};
use hanok_core::Waiting;

/// The most bytes that a program may write before it is stopped.
const FLOOD: u64 = 16 * 1024 * 1024;

/// How much is kept of what the jail itself says.
const COMPLAINT: usize = 2 * 1024;

/// How often, and with which pauses, a control group is removed whose last process ends.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// What became of a program.
pub(super) struct Ran {
    /// Its exit code; above 128 that of a signal.
    pub(super) code: i32,
    pub(super) output: String,
    /// What the jail said, if it said something.
    pub(super) complaint: String,
}

/// Runs `program` by `bootstrap`. Whatever it has started is gone when this returns; when it is dropped, soon after.
pub(super) async fn run(
    limits: &Limits,
    bootstrap: &str,
    program: &[u8],
    call: &Call,
) -> Result<Ran, JailError> {
    let Jail { mut command, mut groups, filter } = jail(limits, bootstrap, program)?;
    let time = call.time_left().map_or(limits.time, |left| left.min(limits.time));
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut output, mut complaint) = (Kept::new(limits.output), Kept::new(COMPLAINT));
    let running = async {
        // The jail itself says little, and ends when the program has.
        read(stdout, &mut output, FLOOD).await?;
        read(stderr, &mut complaint, FLOOD).await?;
        child.wait().await
    };
    let ended = call.bounded(time, running).await;
    drop(filter);
    // Killing the outermost process kills the first one in its namespace, and with it all the others.
    drop(child.start_kill());
    let reaped = child.wait().await;
    for _ in 0..TRIES {
        if groups.remove() {
            break;
        }
        call.clock().sleep(PAUSE).await;
    }
    match ended {
        Waiting::Stopped => Err(JailError::Cancelled),
        Waiting::Late => Err(JailError::TimedOut { after: time, output: output.text() }),
        Waiting::Done(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(JailError::Flood { limit: FLOOD, output: output.text() })
        }
        Waiting::Done(ended) => {
            reaped?;
            let code = code(ended?);
            Ok(Ran { code, output: output.text(), complaint: complaint.text() })
        }
    }
}

/// Reads `from` to its end.
async fn read(from: Option<impl AsyncRead + Unpin>, kept: &mut Kept, limit: u64) -> io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let count = from.read(&mut buffer).await?;
        kept.push(buffer.get(..count).unwrap_or_default());
        if count == 0 {
            return Ok(());
        }
        if kept.written() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
