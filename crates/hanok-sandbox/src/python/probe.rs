//! Trying the jail before anything is run in it.

use std::time::Duration;

use hanok_core::Call;

use super::{
    JailError,
    limits::Limits,
    run::{Ran, run},
};

/// How long it may take at least, however little a program may.
const TIME: Duration = Duration::from_secs(20);

const PROBE: &str = include_str!("probe.py");

/// What the probe says of a jail that holds.
const HOLDS: &str = "holds";

/// Whether a jail can be made here, and holds.
pub(super) async fn probe(limits: &Limits, call: &Call) -> Result<(), JailError> {
    let most = limits.processes.to_string();
    let (time, cpu) = (limits.time.max(TIME), limits.cpu.max(TIME));
    let limits = Limits { time, cpu, ..limits.clone() };
    let Ran { code, output, complaint } = run(&limits, PROBE, most.as_bytes(), call).await?;
    match output.trim() {
        HOLDS if code == 0 => Ok(()),
        holes if code == 0 => Err(JailError::Leaky { holes: holes.to_owned() }),
        said => {
            let said = if complaint.trim().is_empty() { said } else { complaint.trim() };
            Err(JailError::NoJail { said: format!("exit code {code}: {said}") })
        }
    }
}
