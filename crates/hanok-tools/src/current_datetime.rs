//! The clock as a tool.

use std::time::Duration;

use hanok_core::{Call, Effect};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::{Arguments, Json};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{ClockError, DEFAULT_ZONE, datetime_in};

/// The tool `get_current_datetime`: the run's own time ([`Call::clock`]) in a time zone, by [`datetime_in`].
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
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Wanted {
    /// IANA 시간대. The IANA time zone, e.g. `Asia/Seoul` (the default), `America/New_York`, `UTC`.
    #[serde(default)]
    zone: Option<String>,
}

impl CurrentDatetime {
    /// The tool.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its name and arguments are fixed.
    pub fn new() -> Result<Self, InvalidSpec> {
        let description = "지금의 날짜, 시간, 요일을 알려 줍니다. \
            Tells the current date, time and weekday in a time zone.";
        Ok(Self { spec: ToolSpec::of::<Wanted>("get_current_datetime", description)? })
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
        let zone = zone.as_deref().unwrap_or(DEFAULT_ZONE);
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
