//! The settings of an export of traces.

use std::time::Duration;

use hanok_core::Secret;

/// The address of a collector, and the choice of traces that go there.
///
/// What is not set here is taken from OpenTelemetry's own variables where they are set (`OTEL_RESOURCE_ATTRIBUTES`,
/// `OTEL_TRACES_SAMPLER`, `OTEL_BSP_…`, `OTEL_EXPORTER_OTLP_HEADERS`).
///
/// ```
/// use hanok_core::Secret;
/// use hanok_otlp::OtlpConfig;
///
/// let config = OtlpConfig::new("http://localhost:4318", "leave-desk")
///     .header("authorization", Secret::new("Bearer sk-123".to_owned()));
/// assert!(!format!("{config:?}").contains("sk-123"));
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct OtlpConfig {
    pub(crate) endpoint: String,
    pub(crate) service_name: String,
    pub(crate) headers: Vec<(String, Secret<String>)>,
    pub(crate) timeout: Duration,
    pub(crate) every: Duration,
    pub(crate) targets: Vec<String>,
}

impl OtlpConfig {
    /// Sends to the collector at `endpoint`, as the service `service_name`.
    ///
    /// `endpoint` is an `http` or `https` address; `/v1/traces` is added to its path unless it ends with that.
    pub fn new(endpoint: impl Into<String>, service_name: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            service_name: service_name.into(),
            headers: Vec::new(),
            timeout: Duration::from_secs(10),
            every: Duration::from_secs(5),
            targets: vec![hanok_telemetry::TARGET.to_owned()],
        }
    }

    /// Sends this header with every request, too. Default: none.
    pub fn header(mut self, name: impl Into<String>, value: Secret<String>) -> Self {
        self.headers.push((name.into(), value));
        self
    }

    /// The time that one delivery may take with its retries, and so the last one when the export ends. Default: 10 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The time for which spans are gathered before they are sent. Default: 5 s.
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// Sends the spans and events of this target as well, and of those that begin with it: `my_service` is that crate and
    /// all of its modules. What they hold is sent as it is. Default: hanok's only.
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.targets.push(target.into());
        self
    }
}
