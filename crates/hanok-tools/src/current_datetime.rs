//! The clock as a tool.

use std::time::Duration;

use hanok_core::{Call, Effect};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::{Arguments, Json};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{ClockError, clock, datetime_in};

/// The tool `get_current_datetime`: the run's own time ([`Call::clock`]) in a time zone, by [`datetime_in`]. Where a model
/// names none, it is that of the machine when the tool was made, UTC if that is not known, or [the one set](Self::zone).
///
/// It changes nothing. An observation reads `2026-01-01T09:00:00+09:00, 목요일 (Thursday), Asia/Seoul, UTC+09:00`; its
/// data are the fields of a [`DateTimeReport`](crate::DateTimeReport).
///
/// ```
/// use hanok_model::Tool;
/// use hanok_tools::CurrentDatetime;
///
/// let clock = CurrentDatetime::new()?;
/// assert_eq!(clock.spec().name(), "get_current_datetime");
/// assert!(clock.spec().parameters().iter().all(|parameter| !parameter.required));
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Debug, Clone)]
pub struct CurrentDatetime {
    spec: ToolSpec,
    zone: String,
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Wanted {
    /// The IANA time zone, e.g. `Asia/Seoul`, `America/New_York`, `UTC`; by default the one of the machine or the service.
    #[serde(default)]
    zone: Option<String>,
}

impl CurrentDatetime {
    /// The tool, in the zone of the machine.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its name and arguments are fixed.
    pub fn new() -> Result<Self, InvalidSpec> {
        let description = "Tells the current date, time and weekday in a time zone.";
        let spec = ToolSpec::of::<Wanted>("get_current_datetime", description)?;
        Ok(Self { spec, zone: clock::machine_zone() })
    }

    /// Sets the zone where a model names none: an IANA name, in any case. Default: the machine's, or UTC.
    ///
    /// ```
    /// use hanok_tools::{ClockError, CurrentDatetime};
    ///
    /// let clock = CurrentDatetime::new()?.zone("Europe/Paris")?;
    /// # let _ = clock;
    /// let wrong = CurrentDatetime::new()?.zone("Europe/Pari").unwrap_err();
    /// assert!(matches!(wrong, ClockError::UnknownZone { near, .. } if near == ["Europe/Paris"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ClockError::UnknownZone`] with near names.
    pub fn zone(self, zone: &str) -> Result<Self, ClockError> {
        let zone = clock::known_zone(zone)?;
        Ok(Self { zone, ..self })
    }
}

impl Tool for CurrentDatetime {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// 5 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// Tells the time.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] for a zone that is not known, with near names.
    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let Wanted { zone } = arguments.decode().map_err(ToolError::arguments)?;
        let zone = zone.as_deref().map(str::trim).filter(|zone| !zone.is_empty());
        let zone = zone.unwrap_or(&self.zone);
        let report = datetime_in(call.clock().now(), zone).map_err(error)?;
        let data = serde_json::to_value(&report).map_err(ToolError::failed)?;
        Ok(ToolOutput::new(report.to_string()).data(Json(data)))
    }
}

fn error(error: ClockError) -> ToolError {
    match error {
        ClockError::UnknownZone { .. } => ToolError::arguments(error),
        ClockError::OutOfRange => ToolError::failed(error),
    }
}
