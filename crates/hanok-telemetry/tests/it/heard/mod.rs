//! A subscriber that writes down every span with all that is recorded of it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::with_default,
};

/// What was said of one span: where it is from, and its fields by name.
#[derive(Default)]
struct Line {
    head: String,
    fields: BTreeMap<&'static str, String>,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.fields.insert(field.name(), format!("{value}i"));
    }
}

#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<Line>>>);

impl Heard {
    /// The spans that `work` makes, a line each.
    pub(crate) fn of(work: impl FnOnce()) -> Vec<String> {
        let heard = Self::default();
        with_default(heard.clone(), work);
        let lines = heard.0.lock().unwrap();
        let line = |line: &Line| {
            let fields = line.fields.iter().map(|(name, value)| format!("{name}={value}"));
            format!("{}: {}", line.head, fields.collect::<Vec<_>>().join(" "))
        };
        lines.iter().map(line).collect()
    }
}

impl Subscriber for Heard {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let at = span.metadata();
        let head = format!("{} {} {}", at.target(), at.level(), at.name());
        let mut line = Line { head, fields: BTreeMap::new() };
        span.record(&mut line);
        let mut lines = self.0.lock().unwrap();
        lines.push(line);
        Id::from_u64(u64::try_from(lines.len()).unwrap())
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let at = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(self.0.lock().unwrap().get_mut(at).unwrap());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
