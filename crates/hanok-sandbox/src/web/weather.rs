//! The weather as a tool.

use std::time::Duration;

use hanok_core::{Call, Effect, Secret};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use jiff::{Timestamp, tz::Offset};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::form_urlencoded::Serializer;

use super::{
    service::{Service, asked},
    text::{language, line},
};
use hanok_egress::{Egress, Fetch};

const ENDPOINT: &str = "https://api.openweathermap.org/data/2.5/weather";
const KEY: &str = "OPENWEATHER_API_KEY";

/// The tool `get_weather`: the weather of now in a city, from OpenWeather.
///
/// It changes nothing. An observation reads `Seoul, KR: 맑음, 21.5 °C, feels like 20.9 °C, humidity 40 %, wind 3.1 m/s, at
/// 2026-01-01T09:00:00+09:00`; its data hold the numbers. Without a key a call says that one is missing, and which.
///
/// ```
/// use hanok_core::Secret;
/// use hanok_model::Tool;
/// use hanok_sandbox::GetWeather;
///
/// let weather = GetWeather::new()?.key(Secret::new("0123456789abcdef".to_owned()));
/// assert_eq!(weather.spec().name(), "get_weather");
/// assert!(weather.is_configured());
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Debug, Clone)]
pub struct GetWeather {
    spec: ToolSpec,
    service: Service,
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Wanted {
    /// The city, with its country where there are several of the name: `Seoul`, `London,GB`.
    city: String,
    /// `metric` (°C, m/s; the default) or `imperial` (°F, mph).
    #[serde(default)]
    units: Option<Units>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Units {
    #[default]
    Metric,
    Imperial,
}

/// What the service says, as far as it is told on.
#[derive(Debug, Deserialize)]
struct Said {
    name: String,
    #[serde(default)]
    sys: Place,
    #[serde(default)]
    weather: Vec<Sky>,
    main: Measured,
    #[serde(default)]
    wind: Wind,
    #[serde(default)]
    dt: i64,
    #[serde(default)]
    timezone: i32,
}

#[derive(Debug, Default, Deserialize)]
struct Place {
    #[serde(default)]
    country: String,
}

#[derive(Debug, Deserialize)]
struct Sky {
    description: String,
}

#[derive(Debug, Deserialize)]
struct Measured {
    temp: f64,
    feels_like: f64,
    humidity: f64,
}

#[derive(Debug, Default, Deserialize)]
struct Wind {
    #[serde(default)]
    speed: f64,
}

impl GetWeather {
    /// The tool, without a key.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its name and arguments are fixed.
    pub fn new() -> Result<Self, InvalidSpec> {
        let description = "Tells the current weather of a city.";
        let spec = ToolSpec::of::<Wanted>("get_weather", description)?;
        Ok(Self { spec, service: Service::new("the weather service", ENDPOINT, Some(KEY)) })
    }

    /// The tool with the key of `OPENWEATHER_API_KEY`, if that is set.
    ///
    /// # Errors
    ///
    /// As [`GetWeather::new`].
    pub fn from_env() -> Result<Self, InvalidSpec> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The same with the variables of another place: `get` is given a variable's name.
    ///
    /// # Errors
    ///
    /// As [`GetWeather::new`].
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, InvalidSpec> {
        let Self { spec, service } = Self::new()?;
        Ok(Self { spec, service: service.keyed_by(get) })
    }

    /// The key. Default: none, and every call says so.
    #[must_use]
    pub fn key(self, key: Secret<String>) -> Self {
        Self { service: self.service.key(key), ..self }
    }

    /// Where the service is. Default: OpenWeather's own address.
    #[must_use]
    pub fn endpoint(self, url: impl Into<String>) -> Self {
        Self { service: self.service.endpoint(url.into()), ..self }
    }

    /// The way to it. Default: one that reaches this service's host and no other.
    #[must_use]
    pub fn egress(self, egress: Egress) -> Self {
        Self { service: self.service.egress(egress), ..self }
    }

    /// Whether it has a key; one without is better not given to an agent.
    pub fn is_configured(&self) -> bool {
        self.service.is_configured()
    }
}

impl Tool for GetWeather {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// 20 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(20)
    }

    /// Asks.
    ///
    /// # Errors
    ///
    /// [`ToolError::Refused`] without a key, or for one that the service refuses; [`ToolError::Arguments`] for a city that it
    /// does not know; [`ToolError::Failed`] when it cannot be reached.
    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let Wanted { city, units } = arguments.decode().map_err(ToolError::arguments)?;
        let city = asked("city", &city)?;
        let units = units.unwrap_or_default();
        let key = self.service.needed_key()?;
        let fetch = Fetch::get(self.url(city, units)).secret_query("appid", key);
        match self.service.json::<Said>(fetch, call).await {
            Ok(said) => Ok(told(&said, units)),
            Err(ToolError::Arguments(_)) => Err(ToolError::arguments(format!(
                "the weather service knows no city `{}`; write its name in English, with the country: `Seoul,KR`",
                line(city, 60)
            ))),
            Err(error) => Err(error),
        }
    }
}

impl GetWeather {
    fn url(&self, city: &str, units: Units) -> String {
        let units = match units {
            Units::Metric => "metric",
            Units::Imperial => "imperial",
        };
        // The service has names of its own for two of the languages.
        let language = match language(city) {
            "ko" => "kr",
            "zh" => "zh_cn",
            other => other,
        };
        let mut query = Serializer::new(String::new());
        query.extend_pairs([("q", city), ("units", units), ("lang", language)]);
        format!("{}?{}", self.service.endpoint, query.finish())
    }
}

fn told(said: &Said, units: Units) -> ToolOutput {
    let (degrees, speed) = match units {
        Units::Metric => ("°C", "m/s"),
        Units::Imperial => ("°F", "mph"),
    };
    let Measured { temp, feels_like, humidity } = said.main;
    let (name, country) = (line(&said.name, 80), line(&said.sys.country, 8));
    let sky = said.weather.first().map_or_else(String::new, |sky| line(&sky.description, 80));
    let shown_sky = if sky.is_empty() { String::new() } else { format!("{sky}, ") };
    let place = if country.is_empty() { name } else { format!("{name}, {country}") };
    let at = at(said.dt, said.timezone);
    let wind = said.wind.speed;
    let text = format!(
        "{place}: {shown_sky}{temp} {degrees}, feels like {feels_like} {degrees}, humidity {humidity} %, wind {wind} {speed}{}",
        at.as_deref().map(|at| format!(", at {at}")).unwrap_or_default()
    );
    let data = json!({
        "place": place, "sky": sky, "temperature": temp, "feels_like": feels_like,
        "humidity": humidity, "wind": wind, "at": at,
    });
    ToolOutput::new(text).data(data)
}

/// When it was measured, by the clocks there. A service that does not tell has no such moment.
fn at(seconds: i64, offset: i32) -> Option<String> {
    let moment = Timestamp::from_second(seconds).ok().filter(|_| seconds > 0)?;
    let offset = Offset::from_seconds(offset).ok()?;
    Some(moment.to_zoned(offset.to_time_zone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
}
