//! The call that every model and tool gets beside its arguments.

pub(crate) mod ask;
pub(crate) mod audience;
pub(crate) mod cancel;
pub(crate) mod gate;
pub(crate) mod info;
pub(crate) mod meter;
pub(crate) mod provided;
pub(crate) mod wait;

use std::{
    convert::Infallible,
    fmt,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use self::{
    ask::{Ask, AskError, NoteError, Request},
    cancel::Cancellation,
    info::{CallDescription, CallInfo, CallItem, CallSink},
    meter::{Charge, Meter, OverBudget, Spent},
    provided::{Need, Provided},
};
use crate::{
    clock::{Clock, Timestamp},
    name::Tenant,
    stored::{error::StoredError, value::Stored},
};

/// The idempotency key of one call: equal in every retry and resume of it, different for every other call. Any text is one, and as
/// JSON it is that text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallKey(Arc<str>);

impl CallKey {
    /// The key with this text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// An id for what the call writes: of a long key its beginning and what follows the last `-`.
    pub(crate) fn message_id(&self) -> String {
        const LONGEST: usize = 40;
        const KEPT: usize = 20;
        if self.0.len() <= LONGEST {
            return self.0.to_string();
        }
        let (content, number) = self.0.rsplit_once('-').unwrap_or((&self.0, "0"));
        let begins: String = content.chars().take(KEPT).collect();
        format!("{begins}-{number}")
    }
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for CallKey {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for CallKey {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl FromStr for CallKey {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::new(text))
    }
}

/// A piece of what a model writes, while it writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Token {
    /// Text of the reply.
    Text(String),
    /// Text of the model's reasoning.
    Reasoning(String),
    /// The text of the reply so far is none: it was reasoning, or no part of the answer that follows. Whoever shows it takes it
    /// back.
    Retracted,
}

/// Receives what a model writes while it writes it. Never blocks; may drop what nobody reads.
pub trait TokenSink: Send + Sync + 'static {
    /// Takes one piece.
    fn token(&self, token: Token);

    /// Takes a piece of a call that the model writes: of the call at `place` in the reply, whose name is `name` as far as it is
    /// there, more of its arguments. Default: nothing, for what forms in a call is shown to nobody unless somebody asks.
    fn call_piece(&self, place: u64, name: &str, arguments: &str) {
        let (_, _, _) = (place, name, arguments);
    }
}

/// The context of one call of a model or a tool: its key, its deadline, and where to report.
///
/// Clones are the same call.
#[derive(Clone)]
pub struct Call {
    key: CallKey,
    clock: Arc<dyn Clock>,
    deadline: Option<Timestamp>,
    /// The whole time whose end the deadline is, where that is known.
    limit: Option<Duration>,
    cancellation: Cancellation,
    meter: Meter,
    tokens: Option<Arc<dyn TokenSink>>,
    items: Option<Arc<dyn CallSink>>,
    description: Option<CallDescription>,
    id: Option<Arc<str>>,
    ask: Option<Arc<dyn Ask>>,
    tenant: Option<Tenant>,
    provided: Provided,
    /// True after the call was admitted.
    admitted: Arc<AtomicBool>,
}

impl Call {
    /// A call without a deadline, whose tokens nobody watches and that can ask nobody.
    pub fn new(key: CallKey, clock: Arc<dyn Clock>) -> Self {
        Self {
            key,
            clock,
            deadline: None,
            limit: None,
            cancellation: Cancellation::default(),
            meter: Meter::default(),
            tokens: None,
            items: None,
            description: None,
            id: None,
            ask: None,
            tenant: None,
            provided: Provided::default(),
            admitted: Arc::default(),
        }
    }

    /// A call outside of a graph, with a key of its own and the system's clock.
    ///
    /// ```
    /// use hanok_core::Call;
    ///
    /// let call = Call::detached();
    /// assert_eq!(call.time_left(), None);
    /// assert_ne!(call.key(), Call::detached().key());
    /// ```
    #[cfg(feature = "system-clock")]
    pub fn detached() -> Self {
        use std::hash::{BuildHasher, Hasher, RandomState};
        // Each `RandomState` of a process has keys of its own.
        let random = || RandomState::new().build_hasher().finish();
        let key = CallKey::new(format!("detached-{:016x}{:016x}", random(), random()));
        Self::new(key, Arc::new(crate::system_clock::SystemClock))
    }

    /// Another call of the same run: the same clock, deadline, cancellation, meter and listeners.
    #[must_use]
    pub fn keyed(&self, key: CallKey) -> Self {
        let description = self.description.as_ref().map(|it| it.keyed(&key));
        Self { key, description, admitted: Arc::default(), ..self.clone() }
    }

    /// Ends the call at `deadline`, or at the one it already has if that is sooner.
    #[must_use]
    pub fn deadline(self, deadline: Timestamp) -> Self {
        self.ends_at(deadline, None)
    }

    /// Ends the call when `limit` has passed from now on, or at the deadline that it already has if that is sooner.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_core::Call;
    ///
    /// let (short, long) = (Duration::from_secs(2), Duration::from_secs(9));
    /// let call = Call::detached().within(short).within(long);
    /// assert_eq!(call.limit(), Some(short));
    /// assert!(call.time_left().is_some_and(|left| left <= short));
    /// ```
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        let deadline = self.clock.now().plus(limit);
        self.ends_at(deadline, Some(limit))
    }

    /// Ends the call so much later, if it has a deadline: for time in which it could not begin.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_core::Call;
    ///
    /// let call = Call::detached().within(Duration::from_secs(2));
    /// let later = call.clone().extended(Duration::from_secs(9));
    /// assert!(later.time_left() > call.time_left());
    /// assert_eq!(Call::detached().extended(Duration::from_secs(9)).time_left(), None);
    /// ```
    #[must_use]
    pub fn extended(self, by: Duration) -> Self {
        Self { deadline: self.deadline.map(|deadline| deadline.plus(by)), ..self }
    }

    fn ends_at(self, deadline: Timestamp, limit: Option<Duration>) -> Self {
        match self.deadline.is_some_and(|before| before <= deadline) {
            true => self,
            false => Self { deadline: Some(deadline), limit, ..self },
        }
    }

    /// The whole time that [ends](Call::within) the call, as whoever limits it says it; `None` where a deadline ends it.
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Stops the call with `cancellation`. Default: it cannot be stopped.
    #[must_use]
    pub fn cancellation(self, cancellation: Cancellation) -> Self {
        Self { cancellation, ..self }
    }

    /// Counts what the call spends in `meter`. Default: a meter of its own.
    #[must_use]
    pub fn meter(self, meter: Meter) -> Self {
        Self { meter, ..self }
    }

    /// Sends what a model writes to `sink` as well. Default: nobody watches.
    #[must_use]
    pub fn tokens(self, sink: Arc<dyn TokenSink>) -> Self {
        Self { tokens: Some(sink), ..self }
    }

    /// The same call with nobody watching its tokens.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { tokens: None, ..self }
    }

    /// Sends what the call tells observers to `sink` as well. Default: nobody watches.
    #[must_use]
    pub fn items(self, sink: Arc<dyn CallSink>) -> Self {
        Self { items: Some(sink), ..self }
    }

    /// Notes for observers what is called: a `kind` (`model`, `tool`) and a name. A graph does so where somebody watches its run;
    /// without that nothing is noted, and [tags](Call::tag) and [metadata](Call::metadata) go nowhere.
    ///
    /// ```
    /// use hanok_core::Call;
    ///
    /// let call = Call::detached().described("model", "small").tag("draft").metadata("prompt", "v2");
    /// let info = call.info().ok_or("no description")?;
    /// assert_eq!((&*info.kind, &*info.name, &info.key), ("model", "small", call.key()));
    /// assert!(info.tags.contains("draft"));
    /// assert_eq!(info.metadata.get("prompt").map(String::as_str), Some("v2"));
    /// assert_eq!(Call::detached().tag("draft").info(), None);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn described(self, kind: &str, name: &str) -> Self {
        let description = CallDescription::new(kind, name, self.key.clone());
        Self { description: Some(description), ..self }
    }

    /// Sets the id by which the conversation names the call, for the call and for observers. Default: none.
    ///
    /// ```
    /// use hanok_core::Call;
    ///
    /// assert_eq!(Call::detached().identified("call-1").id(), Some("call-1"));
    /// ```
    #[must_use]
    pub fn identified(self, id: &str) -> Self {
        let id: Arc<str> = id.into();
        let call = self.describe(|info| info.id = Some(id.clone()));
        Self { id: Some(id), ..call }
    }

    /// The id by which the conversation names the call, as the model's server gave it. [`key`](Call::key) is the one that no
    /// other call has.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The id of the message that a model writes in this call. Observers are told it with each token
    /// ([`CallInfo::message`]): whoever stores the reply gives it to the message, so that a reader knows the message by
    /// its tokens.
    ///
    /// ```
    /// use hanok_core::{Call, CallKey};
    ///
    /// let call = Call::detached().described("model", "small");
    /// assert_eq!(call.info().map(|info| info.message.to_string()), Some(call.message_id()));
    /// // Another attempt writes the same message.
    /// assert_eq!(call.keyed(CallKey::new("second")).message_id(), call.message_id());
    /// ```
    pub fn message_id(&self) -> String {
        let described = self.description.as_ref().map(|it| it.info().message.to_string());
        described.unwrap_or_else(|| self.key.message_id())
    }

    /// Notes a tag for observers, in all clones of the call.
    #[must_use]
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.describe(|info| info.tags.extend([tag.into()]))
    }

    /// Notes `value` under `key` for observers, in all clones of the call. It takes the place of an earlier one.
    #[must_use]
    pub fn metadata(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.describe(|info| info.metadata.extend([(key.into(), value.into())]))
    }

    fn describe(self, change: impl FnOnce(&mut CallInfo)) -> Self {
        if let Some(description) = &self.description {
            description.change(change);
        }
        self
    }

    /// Lets the call ask a person through `ask`. Default: it can ask nobody.
    #[must_use]
    pub fn ask(self, ask: Arc<dyn Ask>) -> Self {
        Self { ask: Some(ask), ..self }
    }

    /// The tenant for whom the call is made. Default: none.
    #[must_use]
    pub fn tenant_of(self, tenant: Tenant) -> Self {
        Self { tenant: Some(tenant), ..self }
    }

    /// The tenant for whom the call is made, that of its thread, if it is known.
    pub fn tenant(&self) -> Option<&Tenant> {
        self.tenant.as_ref()
    }

    /// Gives the call a part of its run, for whoever makes it: the services, the state or a store. It hides an earlier part
    /// of this type. A graph gives its services.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hanok_core::{Call, Need};
    ///
    /// #[derive(Debug, PartialEq)]
    /// struct User(&'static str);
    ///
    /// // What a tool takes out of its call, in a test of the tool.
    /// let call = Call::detached().provide(Arc::new(User("u-17")));
    /// assert_eq!(call.provided::<User>().as_deref(), Some(&User("u-17")));
    /// assert_eq!(call.lacks(&[Need::of::<User>(), Need::of::<u32>()]), Some(Need::of::<u32>()));
    /// ```
    #[must_use]
    pub fn provide<T: Send + Sync + 'static>(self, part: Arc<T>) -> Self {
        Self { provided: self.provided.with(part), ..self }
    }

    /// The part of the run that has this type, if the call carries one.
    pub fn provided<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.provided.get()
    }

    /// The first of `needs` that the call does not carry.
    pub fn lacks(&self, needs: &[Need]) -> Option<Need> {
        needs.iter().find(|need| !self.provided.has(need)).copied()
    }

    /// The call's idempotency key.
    pub fn key(&self) -> &CallKey {
        &self.key
    }

    /// The clock of the run.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The time that the call may still take, `None` without a deadline.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.since(self.clock.now()))
    }

    /// The request to stop that this call heeds.
    pub fn stop(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Asks whether the call may be made: [`Meter::admit`]. Whoever makes calls asks before each; to ask again about the
    /// same call counts nothing.
    ///
    /// # Errors
    ///
    /// [`OverBudget`] when a limit of the turn is reached: the call is not to be made.
    pub fn admit(&self, charge: Charge) -> Result<(), OverBudget> {
        if self.admitted.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.meter.admit(charge)?;
        self.admitted.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Does `work` with the same call, and counts by itself what that spends. A limit that refuses something within refuses it
    /// here too.
    ///
    /// ```
    /// use hanok_core::{Call, Spent};
    ///
    /// /// What two model calls cost, beside all that the run has spent.
    /// async fn two(call: &Call) -> Spent {
    ///     let asked = |call: Call| async move { call.spend().add(Spent { model_calls: 2, ..Spent::default() }) };
    ///     let ((), spent) = call.metered(asked).await;
    ///     spent
    /// }
    /// ```
    pub async fn metered<T, F: Future<Output = T>>(
        &self,
        work: impl FnOnce(Self) -> F,
    ) -> (T, Spent) {
        let meter = self.meter.child();
        let done = work(self.clone().meter(meter.clone())).await;
        if let Some(limit) = meter.refused() {
            self.meter.refuse(limit);
        }
        (done, meter.spent())
    }

    /// The meter that counts what the call spends.
    pub fn spend(&self) -> &Meter {
        &self.meter
    }

    /// The sink for what a model writes, if somebody watches.
    pub fn sink(&self) -> Option<&Arc<dyn TokenSink>> {
        self.tokens.as_ref()
    }

    /// What observers are told of the call, where somebody watches.
    pub fn info(&self) -> Option<Arc<CallInfo>> {
        self.description.as_ref().map(CallDescription::info)
    }

    /// What observers are told of the call, for a sink that is to know it as it is when it is told something.
    pub fn description(&self) -> Option<&CallDescription> {
        self.description.as_ref()
    }

    /// Sends `item` to the observers of the run, at once: how far a tool is, what it has found so far. Where nobody watches
    /// nothing happens, and an item that cannot be stored is not sent.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use hanok_core::{Call, CallItem, CallSink, Stored};
    ///
    /// #[derive(Default)]
    /// struct Heard(Mutex<Vec<CallItem>>);
    ///
    /// impl CallSink for Heard {
    ///     fn item(&self, item: CallItem) {
    ///         self.0.lock().unwrap().push(item);
    ///     }
    /// }
    ///
    /// let heard = Arc::new(Heard::default());
    /// let call = Call::detached().items(heard.clone());
    /// call.custom("half done");
    /// call.output(&17);
    /// let want = [CallItem::Custom(Stored::encode("half done")?), CallItem::Output(Stored::encode(&17)?)];
    /// assert_eq!(*heard.0.lock().unwrap(), want);
    /// // Nobody watches this one.
    /// Call::detached().custom("half done");
    /// # Ok::<(), hanok_core::StoredError>(())
    /// ```
    pub fn custom<T: Serialize + ?Sized>(&self, item: &T) {
        self.tell(item, CallItem::Custom);
    }

    /// Sends `item` to the observers of the run as a part of the call's result, before the result is there: a line of a log, a
    /// row of a table. It is shown as [`custom`](Call::custom) is, and is no part of what a model reads.
    pub fn output<T: Serialize + ?Sized>(&self, item: &T) {
        self.tell(item, CallItem::Output);
    }

    fn tell<T: Serialize + ?Sized>(&self, item: &T, of: fn(Stored) -> CallItem) {
        if let Some(sink) = &self.items
            && let Ok(item) = Stored::encode(item)
        {
            sink.item(of(item));
        }
    }

    /// Asks a person.
    ///
    /// # Errors
    ///
    /// [`AskError::Nobody`] when the call cannot ask; otherwise what [`Ask::ask`] says.
    pub async fn question(&self, request: Request) -> Result<Stored, AskError> {
        match &self.ask {
            Some(ask) => ask.ask(request).await,
            None => Err(AskError::Nobody { reason: "the call was made outside a graph" }),
        }
    }

    /// Keeps `note` of the call, in the place of an earlier one: the handle of a job that a server has begun, how far a transfer
    /// is. It is safe when this returns, and whoever makes the same call again, in whatever process, finds it as
    /// [`noted`](Call::noted). A call that must not be repeated and of which there is a note is never in doubt: it is made again
    /// and goes on from its note. Outside of a graph nothing is kept.
    ///
    /// ```
    /// use hanok_core::{BoxError, Call};
    ///
    /// /// Begins a long job of a server, or goes on waiting for the one that an earlier run has begun.
    /// async fn job(call: Call) -> Result<String, BoxError> {
    ///     let handle = match call.noted::<String>()? {
    ///         Some(handle) => handle,
    ///         None => {
    ///             let handle = begin().await?;
    ///             call.note(&handle).await?;
    ///             handle
    ///         }
    ///     };
    ///     wait_for(&handle).await
    /// }
    /// # async fn begin() -> Result<String, BoxError> { Ok("job-1".to_owned()) }
    /// # async fn wait_for(handle: &str) -> Result<String, BoxError> { Ok(handle.to_owned()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`NoteError`] when it cannot be encoded or stored. Nothing was kept then: end what the note is of, if that is possible.
    pub async fn note<T: Serialize + ?Sized>(&self, note: &T) -> Result<(), NoteError> {
        let Some(run) = &self.ask else { return Ok(()) };
        let failed =
            |source: StoredError| NoteError { key: self.key.clone(), source: source.into() };
        let note = Stored::encode(note).map_err(failed)?;
        run.note(&self.key, note).await
    }

    /// The newest [note](Call::note) of the call, if there is one.
    ///
    /// # Errors
    ///
    /// [`NoteError`] when it has another shape than `T`.
    pub fn noted<T: DeserializeOwned>(&self) -> Result<Option<T>, NoteError> {
        let noted = self.ask.as_ref().and_then(|run| run.noted(&self.key));
        let failed =
            |source: StoredError| NoteError { key: self.key.clone(), source: source.into() };
        noted.map(|note| note.decode().map_err(failed)).transpose()
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("key", &self.key)
            .field("deadline", &self.deadline)
            .field("cancelled", &self.cancellation.is_cancelled())
            .finish_non_exhaustive()
    }
}
