//! CPU time, memory, and the median of rounds.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::Result;

/// The CPU time of this process, from a moment on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cpu(Duration);

impl Cpu {
    /// Counts from now on.
    pub(crate) fn start() -> Self {
        Self(cpu())
    }

    /// Microseconds of all threads, the system's time for them included.
    pub(crate) fn micros(self) -> f64 {
        cpu().saturating_sub(self.0).as_secs_f64() * 1e6
    }

    pub(crate) fn millis(self) -> f64 {
        self.micros() / 1e3
    }

    pub(crate) fn seconds(self) -> f64 {
        self.micros() / 1e6
    }
}

fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// Resident memory of this process in KiB.
///
/// # Errors
///
/// The system does not say, as any but Linux.
pub(crate) fn resident() -> Result<f64> {
    status("VmRSS:")
}

/// The most memory that was ever resident, in KiB.
///
/// # Errors
///
/// The system does not say, as any but Linux.
pub(crate) fn most_resident() -> Result<f64> {
    status("VmHWM:")
}

fn status(name: &str) -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kib.ok_or("the system does not say how much memory is resident")?.trim().parse()?)
}

/// Runs `round` once to warm up and `rounds` times more, as the main task of a runtime with several threads; the median
/// of each figure.
pub(crate) fn medians<const N: usize>(
    rounds: usize,
    mut round: impl AsyncFnMut() -> Result<[f64; N]>,
) -> Result<Vec<f64>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let measured: Result<Vec<_>> = runtime.block_on(async {
        round().await?;
        let mut measured = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            measured.push(round().await?);
        }
        Ok(measured)
    });
    Ok(columns(&measured?).map(median).collect())
}

fn columns<const N: usize>(rows: &[[f64; N]]) -> impl Iterator<Item = Vec<f64>> {
    (0..N).map(|i| rows.iter().filter_map(|row| row.get(i).copied()).collect())
}

/// The middle of `values`, the higher of two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// An error unless `holds`: a round that gives something else measures something else.
pub(crate) fn ensure(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(format!("the round went wrong: {what}").into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_each_figure_and_without_the_warm_up() {
        let mut given = [[90.0, 9.0], [3.0, 10.0], [1.0, 30.0], [2.0, 20.0]].into_iter();
        let medians = medians(3, async || given.next().ok_or("no round is left".into()));
        assert_eq!(medians.unwrap(), [2.0, 20.0]);
    }

    #[test]
    fn work_costs_cpu_time_and_sleep_does_not() {
        let (cpu, wall) = (Cpu::start(), std::time::Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        let asleep = cpu.millis();
        while wall.elapsed() < Duration::from_millis(100) {
            std::hint::black_box(resident()).unwrap();
        }
        assert!(cpu.millis() > asleep, "{asleep}");
    }
}
