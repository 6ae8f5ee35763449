//! The traits of a state and of its update.

use std::{borrow::Cow, fmt, sync::Arc};

use hanok_core::{Changes, Fields, StoredError};
use serde_json::Value;

use crate::{
    error::ReduceError,
    json_error::{InvalidJson, NoJson},
    schema::Schema,
};

/// The state of a graph. Write `#[derive(State)]`. The [crate's documentation](crate) lists the attributes.
///
/// ```
/// use hanok_state::State;
///
/// #[derive(State, Clone, Default, Debug, PartialEq)]
/// struct Counter {
///     #[reduce(append)]
///     names: Vec<String>,
///     total: u32,
/// }
///
/// let mut counter = Counter::default();
/// let update = Counter::update().push_names("셋").total(3);
/// counter.reduce(vec![("count".into(), update)])?;
///
/// let mut fields = counter.to_fields()?;
/// assert_eq!(Counter::from_fields(&mut fields)?, counter);
/// # Ok::<(), hanok_core::BoxError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    note = "derive it: `#[derive(State, Clone, Default)]` on a struct with named fields"
)]
pub trait State: Clone + Default + Send + Sync + 'static {
    /// The update that a node returns: every field optional.
    type Update: StateUpdate<State = Self>;

    /// The fields of the type. [`State::schema`] has those of a value.
    const SCHEMA: &'static Schema;

    /// The fields of this value. Default: those of its type.
    fn schema(&self) -> &Schema {
        Self::SCHEMA
    }

    /// Makes an update that writes nothing yet.
    fn update() -> Self::Update {
        Self::Update::default()
    }

    /// Binds the update of `node` to this value. The engine calls it first of all, once for an update that a node returns
    /// and once for one that a log holds. Default: no change. An update whose fields are known only at run time gets the
    /// rules of its fields here.
    ///
    /// ```
    /// use hanok_state::{DynamicRule, DynamicSchema, DynamicUpdate, State, StateUpdate};
    ///
    /// let state = DynamicSchema::new("count").field("hits", DynamicRule::Sum).state()?;
    /// let mut update = DynamicUpdate::new().set("hits", 2);
    /// assert!(update.to_changes().is_err());
    ///
    /// state.bind(&"search".into(), &mut update)?;
    /// assert!(update.to_changes().is_ok());
    /// # Ok::<(), hanok_core::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when a field is unknown, or a write does not fit the rule of its field.
    fn bind(&self, node: &Arc<str>, update: &mut Self::Update) -> Result<(), ReduceError> {
        let _ = (node, update);
        Ok(())
    }

    /// Merges the writes of one super-step, in task order, and returns the changes that the user's reducers made of them.
    ///
    /// A log stores the returned changes of a field, and the writes of every field that they do not mention.
    ///
    /// ```
    /// use hanok_state::State;
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Best {
    ///     #[reduce(with = larger)]
    ///     score: u32,
    /// }
    ///
    /// fn larger(value: &u32, write: u32) -> u32 {
    ///     write.max(*value)
    /// }
    ///
    /// let mut best = Best::default();
    /// let writes = [7, 3].map(|score| ("judge".into(), Best::update().score(score)));
    /// let changes = best.reduce(writes.into())?;
    /// assert_eq!(best.score, 7);
    /// assert!(changes.get("score").is_some());
    /// # Ok::<(), hanok_state::ReduceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ReduceError`] when a field's writes cannot be merged. The state is then as it was.
    fn reduce(&mut self, writes: Vec<(Arc<str>, Self::Update)>) -> Result<Changes, ReduceError> {
        let mut writes = writes;
        let mut writes: Vec<_> = writes.iter_mut().map(|(node, update)| (&*node, update)).collect();
        self.merge_writes(&mut writes, true)
    }

    /// Merges as [`State::reduce`] does, and takes the writes out of the updates. The returned changes are empty unless they
    /// are `recorded`. They are for logs: to encode them took a third of the time of a wide state that nobody stores.
    ///
    /// # Errors
    ///
    /// As [`State::reduce`].
    fn merge_writes(
        &mut self,
        writes: &mut [(&Arc<str>, &mut Self::Update)],
        recorded: bool,
    ) -> Result<Changes, ReduceError>;

    /// Encodes the state.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field's `Serialize` fails.
    fn to_fields(&self) -> Result<Fields, StoredError>;

    /// Takes the fields of this type out of `fields`. A field that is not there has its default.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field was stored in another shape.
    fn from_fields(fields: &mut Fields) -> Result<Self, StoredError> {
        Self::default().load(fields)
    }

    /// Takes the fields of this value's schema out of `fields`. A field that is not there keeps the value that it has here.
    /// Within a nested state that is there, a field that is not there has the default of that type.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field was stored in another shape.
    fn load(&self, fields: &mut Fields) -> Result<Self, StoredError>;

    /// Reads an update of this state from JSON. Default: [`StateUpdate::from_json`]. A state whose fields are known only at run time
    /// reads them by its rules, and binds the update.
    ///
    /// ```
    /// use hanok_state::{DynamicRule, DynamicSchema, State, StateUpdate};
    /// use serde_json::json;
    ///
    /// let state = DynamicSchema::new("count").field("hits", DynamicRule::Sum).state()?;
    /// assert!(state.read_update(json!({"hits": 2}))?.to_changes().is_ok());
    ///
    /// let invalid = state.read_update(json!({"hits": "two", "hit": 1})).unwrap_err();
    /// assert_eq!(
    ///     invalid.to_string(),
    ///     "`/hits`: not a number, which `sum` needs; `/hit`: the state has no field `hit`; did you mean `hits`?"
    /// );
    /// # Ok::<(), hanok_core::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] with all faults.
    fn read_update(&self, json: Value) -> Result<Self::Update, InvalidJson> {
        Self::Update::from_json(json)
    }

    /// Writes the state as JSON: an object with the values of the fields, each by its `Serialize`. A nested state is an object of
    /// its own. Messages have LangChain's flat form, see [`Message::to_langchain_flat`](crate::Message::to_langchain_flat).
    /// Transient fields are left out.
    ///
    /// [`StateUpdate::from_json`] reads it as the update that makes this state of an empty one, except for `operations`, whose
    /// writes are other than their value, and `with`, where it is up to the function. `null` in a map removes its key there.
    ///
    /// ```
    /// use hanok_state::{Json, State};
    /// use serde_json::json;
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Notes {
    ///     note: Json,
    ///     #[reduce(append)]
    ///     lines: Vec<String>,
    /// }
    ///
    /// let notes = Notes { note: json!({"a": 1}).into(), lines: vec!["b".into()] };
    /// assert_eq!(notes.to_json()?, json!({"note": {"a": 1}, "lines": ["b"]}));
    /// # Ok::<(), hanok_state::NoJson>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NoJson`] when a field has no JSON.
    fn to_json(&self) -> Result<Value, NoJson>;

    /// Resets every field whose name `keep` denies to its value in `initial`. A nested state is one field.
    ///
    /// ```
    /// use hanok_state::State;
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Draft {
    ///     title: String,
    ///     scratch: String,
    /// }
    ///
    /// let mut draft = Draft { title: "휴가".into(), scratch: "…".into() };
    /// draft.retain(&|field| field == "title", &Draft::default());
    /// assert_eq!((draft.title.as_str(), draft.scratch.as_str()), ("휴가", ""));
    /// ```
    fn retain(&mut self, keep: &dyn Fn(&str) -> bool, initial: &Self);
}

/// The update that a node returns: some fields of a state, each with the write to it.
pub trait StateUpdate: Default + Clone + fmt::Debug + Send + Sync + 'static {
    /// The state it updates.
    type State: State<Update = Self>;

    /// Tells that nothing is written.
    fn is_empty(&self) -> bool;

    /// The names of the fields that are written, in the order they are declared.
    fn written(&self) -> Vec<Cow<'_, str>>;

    /// Joins two updates of one node in one super-step, as each method of an update does that is called twice. An overwrite
    /// stays, whatever is written after it.
    ///
    /// ```
    /// # use hanok_state::{State, StateUpdate};
    /// #[derive(State, Clone, Default)]
    /// struct Notes {
    ///     #[reduce(append)]
    ///     lines: Vec<u8>,
    /// }
    ///
    /// let both = Notes::update().push_lines(1).and(Notes::update().push_lines(2));
    /// let mut notes = Notes::default();
    /// notes.reduce(vec![("write".into(), both)])?;
    /// assert_eq!(notes.lines, [1, 2]);
    /// # Ok::<(), hanok_state::ReduceError>(())
    /// ```
    #[must_use]
    fn and(self, after: Self) -> Self;

    /// Joins the updates of two super-steps: this, and then `after`. A later write changes the value of an overwrite.
    ///
    /// ```
    /// # use hanok_state::{State, StateUpdate};
    /// #[derive(State, Clone, Default)]
    /// struct Notes {
    ///     #[reduce(append)]
    ///     lines: Vec<u8>,
    /// }
    ///
    /// let both = Notes::update().overwrite_lines(vec![9]).then(Notes::update().push_lines(2))?;
    /// let mut notes = Notes { lines: vec![1] };
    /// notes.reduce(vec![("write".into(), both)])?;
    /// assert_eq!(notes.lines, [9, 2]);
    /// # Ok::<(), hanok_state::ReduceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ReduceError`], which names no node, when `after` does not fit the value of an overwrite.
    fn then(self, after: Self) -> Result<Self, ReduceError>;

    /// Gives an id to every message that has none. The engine calls it once, before the update is stored.
    ///
    /// ```
    /// # use hanok_state::{Message, Messages, State, StateUpdate};
    /// #[derive(State, Clone, Default)]
    /// struct Chat {
    ///     messages: Messages,
    /// }
    ///
    /// let mut update = Chat::update().message(Message::user("안녕"));
    /// update.complete(&mut || "m-1".to_owned());
    ///
    /// let mut chat = Chat::default();
    /// chat.reduce(vec![("ask".into(), update)])?;
    /// assert!(chat.messages.get("m-1").is_some());
    /// # Ok::<(), hanok_state::ReduceError>(())
    /// ```
    fn complete(&mut self, ids: &mut dyn FnMut() -> String);

    /// Encodes the update.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a value's `Serialize` fails.
    fn to_changes(&self) -> Result<Changes, StoredError>;

    /// Reads the changes of [`StateUpdate::to_changes`].
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field was stored in another shape.
    fn from_changes(changes: &Changes) -> Result<Self, StoredError>;

    /// Reads an update from JSON of people: an object with fields by name, each with a write to it. The
    /// [crate's documentation](crate#json) lists what each rule reads. A field that is not there is not written.
    ///
    /// ```
    /// use hanok_state::{Messages, State, StateUpdate};
    /// use serde_json::json;
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Chat {
    ///     messages: Messages,
    ///     limit: u32,
    /// }
    ///
    /// let mut chat = Chat::default();
    /// let update = ChatUpdate::from_json(json!({"messages": [["system", "be brief"], "hi"], "limit": 3}))?;
    /// chat.reduce(vec![("input".into(), update)])?;
    /// assert_eq!((chat.messages.len(), chat.limit), (2, 3));
    ///
    /// let invalid = ChatUpdate::from_json(json!({"messages": [{"role": "wizard"}], "limit": "3"})).unwrap_err();
    /// let pointers: Vec<_> = invalid.faults.iter().map(|fault| fault.pointer.as_str()).collect();
    /// assert_eq!(pointers, ["/messages/0", "/limit"]);
    /// # Ok::<(), hanok_core::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] with all faults.
    fn from_json(json: Value) -> Result<Self, InvalidJson>;

    /// Writes the update as JSON, in the shape of [`Changes`] with the changes of a field in one object:
    /// `{"n": {"set": 1}, "items": {"append": [2]}}`. The values are written by their `Serialize`. It is for clients, and
    /// [`StateUpdate::from_json`] reads another shape.
    ///
    /// ```
    /// use hanok_state::{State, StateUpdate};
    /// use serde_json::json;
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Notes {
    ///     total: u32,
    ///     #[reduce(append)]
    ///     lines: Vec<u32>,
    /// }
    ///
    /// let update = Notes::update().total(1).push_lines(2);
    /// assert_eq!(update.to_json()?, json!({"total": {"set": 1}, "lines": {"append": [2]}}));
    /// # Ok::<(), hanok_state::NoJson>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NoJson`] when a write has no JSON.
    fn to_json(&self) -> Result<Value, NoJson>;
}
