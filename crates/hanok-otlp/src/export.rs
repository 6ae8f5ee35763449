//! Exporting, from its beginning to its end.

use std::{fmt, thread, time::Duration};

use futures::channel::oneshot;
use hanok_core::BoxError;
use opentelemetry::{InstrumentationScope, trace::TracerProvider};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider},
};
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::{
    Layer, Registry, filter::filter_fn, layer::SubscriberExt, registry::LookupSpan,
};

use crate::{
    OtlpConfig, OtlpError,
    collector::{self, Collector, Failure},
};

/// Sends every trace of the program to the collector, from now on.
///
/// For a program that has a subscriber of its own there is [`layer`].
///
/// # Errors
///
/// [`OtlpError::Installed`] when the program has a subscriber already; otherwise what is wrong with `config`. A collector
/// that is not there is no error: a program works without its traces.
pub fn install(config: OtlpConfig) -> Result<OtlpGuard, OtlpError> {
    let (layer, guard) = layer(config)?;
    tracing::subscriber::set_global_default(Registry::default().with(layer))
        .map_err(|error| OtlpError::Installed(error.into()))?;
    Ok(guard)
}

/// A layer for a subscriber that sends traces to the collector, and what ends it.
///
/// # Errors
///
/// What is wrong with `config`.
pub fn layer<S>(config: OtlpConfig) -> Result<(impl Layer<S> + use<S>, OtlpGuard), OtlpError>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let failure = Failure::default();
    let provider = provider(&config, failure.clone())?;
    let guard = OtlpGuard { provider, failure, patience: config.timeout };
    let scope = InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_schema_url(format!("https://opentelemetry.io/schemas/{}", hanok_telemetry::REVISION))
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(guard.provider.tracer_with_scope(scope))
        // Of our spans these say only where in hanok they are made, and on whose thread.
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(false)
        .with_level(false);
    let targets = config.targets;
    let wanted = move |metadata: &Metadata<'_>| {
        *metadata.level() <= Level::INFO
            && targets.iter().any(|target| is_within(metadata.target(), target))
    };
    Ok((layer.with_filter(filter_fn(wanted)), guard))
}

/// True when `target` is `whole` or a part of it.
fn is_within(target: &str, whole: &str) -> bool {
    target.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn provider(config: &OtlpConfig, failure: Failure) -> Result<SdkTracerProvider, OtlpError> {
    let url = collector::address(&config.endpoint)?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Collector::new(&url, config, failure)?)
        .with_endpoint(url.as_str())
        .with_timeout(config.timeout)
        .build()
        .map_err(|error| OtlpError::Exporter(error.into()))?;
    let batches = BatchConfigBuilder::default().with_scheduled_delay(config.every).build();
    let resource = Resource::builder().with_service_name(config.service_name.clone()).build();
    Ok(SdkTracerProvider::builder()
        .with_span_processor(
            BatchSpanProcessor::builder(exporter).with_batch_config(batches).build(),
        )
        .with_resource(resource)
        .build())
}

/// Ends the export: what was gathered is sent. Keep it until the program's end.
///
/// Dropping it blocks until the last spans are sent, at most as long as the configuration's time-out, and passes over a
/// failure. Where futures run, say [`shutdown`](OtlpGuard::shutdown) instead.
#[must_use = "when this is dropped the export ends"]
pub struct OtlpGuard {
    provider: SdkTracerProvider,
    failure: Failure,
    patience: Duration,
}

impl OtlpGuard {
    /// Sends what was gathered, and goes on exporting.
    ///
    /// # Errors
    ///
    /// [`OtlpError::NotDelivered`] when the collector refuses it, or does not take it within five seconds.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what was begun goes on.
    pub async fn flush(&self) -> Result<(), OtlpError> {
        self.aside(SdkTracerProvider::force_flush).await
    }

    /// Sends what was gathered, and ends the export.
    ///
    /// # Errors
    ///
    /// [`OtlpError::NotDelivered`] when the collector refuses it, or does not take it in time; then it is lost.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what was begun goes on, and the drop of the guard waits for nothing.
    pub async fn shutdown(self) -> Result<(), OtlpError> {
        let patience = self.patience;
        self.aside(move |provider| provider.shutdown_with_timeout(patience)).await
    }

    /// Does `work`, which blocks, on a thread of its own.
    async fn aside(
        &self,
        work: impl FnOnce(&SdkTracerProvider) -> OTelSdkResult + Send + 'static,
    ) -> Result<(), OtlpError> {
        // Of an earlier delivery.
        drop(self.failure.take());
        let provider = self.provider.clone();
        let (done, wait) = oneshot::channel();
        thread::spawn(move || {
            // Nobody hears it when the caller has gone.
            drop(done.send(work(&provider)));
        });
        let ended = match wait.await {
            Ok(ended) => ended.map_err(BoxError::from),
            Err(lost) => Err(lost.into()),
        };
        // The collector's own words are worth more than what the exporter makes of them, which may be nothing.
        match (self.failure.take(), ended) {
            (Some(failure), _) | (None, Err(failure)) => Err(OtlpError::NotDelivered(failure)),
            (None, Ok(())) => Ok(()),
        }
    }
}

impl Drop for OtlpGuard {
    fn drop(&mut self) {
        // After `shutdown` there is nothing left to end. What fails now nobody can be told; the log was.
        drop(self.provider.shutdown_with_timeout(self.patience));
    }
}

impl fmt::Debug for OtlpGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpGuard").finish_non_exhaustive()
    }
}
