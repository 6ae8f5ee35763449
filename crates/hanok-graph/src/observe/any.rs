//! States and updates whose type does not matter: in memory, as JSON, or in their stored form.

use std::{any::Any, fmt, sync::Arc};

use hanok_core::{BoxError, Changes, Fields, StoredError};
use hanok_state::{InvalidJson, NoJson, State, StateUpdate};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error as _};
use serde_json::Value;

use crate::graph::definition::Definition;

/// A state of any type, in memory or in its stored form.
#[derive(Clone)]
pub struct AnyState(Arc<dyn ErasedState>);

trait ErasedState: Any + Send + Sync {
    fn fields(&self) -> Result<Fields, StoredError>;
    fn json(&self) -> Result<Value, NoJson>;
    fn any(&self) -> &(dyn Any + Send + Sync);
}

/// A state in memory. Fields that are not shown have their initial value, and no JSON.
struct Shared<S> {
    state: Arc<S>,
    hidden: Vec<String>,
}

/// A state in its stored form, and what knows its type.
struct StoredState(Fields, Option<Arc<dyn ReadsStored>>);

impl ErasedState for StoredState {
    fn fields(&self) -> Result<Fields, StoredError> {
        Ok(self.0.clone())
    }

    fn json(&self) -> Result<Value, NoJson> {
        // What is of another shape has the JSON of its stored form.
        let typed = self.1.as_ref().and_then(|of| of.state(&self.0).ok());
        typed.map_or_else(|| serde_json::to_value(&self.0).map_err(NoJson::of), Ok)
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

impl<S: State> ErasedState for Shared<S> {
    fn fields(&self) -> Result<Fields, StoredError> {
        self.state.to_fields()
    }

    fn json(&self) -> Result<Value, NoJson> {
        let mut json = self.state.to_json()?;
        if let (Some(object), false) = (json.as_object_mut(), self.hidden.is_empty()) {
            object.retain(|name, _| !self.hidden.contains(name));
        }
        Ok(json)
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        &*self.state
    }
}

impl AnyState {
    pub(crate) fn new<S: State>(state: &Arc<S>) -> Self {
        Self(Arc::new(Shared { state: state.clone(), hidden: Vec::new() }))
    }

    /// A state as `graph` shows it: its JSON has no field that is not shown.
    pub(crate) fn shown<S: State, C: Send + Sync + 'static>(
        state: S,
        graph: &Arc<Definition<S, C>>,
    ) -> Self {
        let names = graph.initial.schema().fields.iter().map(|field| &*field.name);
        let hidden = names.filter(|name| !graph.shows(name)).map(str::to_owned).collect();
        Self(Arc::new(Shared { state: graph.shown(&Arc::new(state)), hidden }))
    }

    /// A state in its stored form; its JSON is that of the type that `of` knows.
    pub(crate) fn stored(fields: Fields, of: Option<Arc<dyn ReadsStored>>) -> Self {
        Self(Arc::new(StoredState(fields, of)))
    }

    /// The number of bytes of a state in its stored form; 0 for one in memory.
    pub(crate) fn size(&self) -> usize {
        self.0.any().downcast_ref().map_or(0, |StoredState(fields, _)| fields.size())
    }

    /// The state, if it is an `S` in memory and not a stored form.
    pub fn downcast_ref<S: State>(&self) -> Option<&S> {
        self.0.any().downcast_ref()
    }

    /// The state as an `S`, in memory or read from its stored form.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let mut events = thread.modes([Mode::Values]).stream(Input::New(Count::update()), ());
    /// while let Some(event) = events.next().await {
    ///     if let EventKind::Values(state) = event.kind {
    ///         println!("n is {}", state.get::<Count>()?.n);
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    pub fn get<S: State>(&self) -> Result<S, StoredError> {
        match self.downcast_ref::<S>() {
            Some(state) => Ok(state.clone()),
            None => S::default().load(&mut self.to_fields()?),
        }
    }

    /// The state as JSON, each field by its own `Serialize`.
    ///
    /// # Errors
    ///
    /// [`NoJson`] when a field has none.
    pub fn to_json(&self) -> Result<Value, NoJson> {
        self.0.json()
    }

    /// The stored form of the state.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a field's `Serialize` fails.
    pub fn to_fields(&self) -> Result<Fields, StoredError> {
        self.0.fields()
    }
}

/// As [`to_json`](AnyState::to_json).
impl Serialize for AnyState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl fmt::Debug for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_fields() {
            Ok(fields) => write!(f, "{fields}"),
            Err(error) => write!(f, "({error})"),
        }
    }
}

/// Reads what is stored of states and updates of one type.
pub(crate) trait ReadsStored: Send + Sync {
    fn state(&self, fields: &Fields) -> Result<Value, BoxError>;

    fn update(&self, changes: &Changes) -> Result<Value, BoxError>;
}

/// The type of a graph's states, by its initial one.
pub(crate) struct StateType<S>(pub(crate) Arc<S>);

impl<S: State> ReadsStored for StateType<S> {
    fn state(&self, fields: &Fields) -> Result<Value, BoxError> {
        Ok(self.0.load(&mut fields.clone())?.to_json()?)
    }

    fn update(&self, changes: &Changes) -> Result<Value, BoxError> {
        let mut update = S::Update::from_changes(changes)?;
        self.0.bind(&"".into(), &mut update)?;
        Ok(update.to_json()?)
    }
}

/// An update of any type: in memory, as a client's JSON, or in its stored form.
///
/// ```
/// use hanok_graph::AnyUpdate;
/// # use {hanok_graph::State, hanok_state::StateUpdate};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// let update = AnyUpdate::from_json(serde_json::json!({"n": 7}));
/// assert_eq!(update.read(&Count::default())?.to_json()?, serde_json::json!({"n": {"set": 7}}));
/// let invalid = AnyUpdate::from_json(serde_json::json!({"n": "seven"})).read(&Count::default()).unwrap_err();
/// assert!(invalid.to_string().starts_with("`/n`: "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AnyUpdate(Arc<dyn ErasedUpdate>);

trait ErasedUpdate: Any + Send + Sync {
    fn changes(&self) -> Result<Changes, StoredError>;
    fn json(&self) -> Result<Value, NoJson>;
    fn any(&self) -> &(dyn Any + Send + Sync);
}

struct Update<U>(U);

/// An update in its stored form, and what knows its type.
struct StoredUpdate(Changes, Option<Arc<dyn ReadsStored>>);

impl ErasedUpdate for StoredUpdate {
    fn changes(&self) -> Result<Changes, StoredError> {
        Ok(self.0.clone())
    }

    fn json(&self) -> Result<Value, NoJson> {
        let typed = self.1.as_ref().and_then(|of| of.update(&self.0).ok());
        typed.map_or_else(|| serde_json::to_value(&self.0).map_err(NoJson::of), Ok)
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

/// An update as a client writes it, whose rules only its state knows.
impl ErasedUpdate for Value {
    fn changes(&self) -> Result<Changes, StoredError> {
        let reason = "an update from JSON is not read yet".to_owned();
        Err(StoredError::Encode { reason })
    }

    fn json(&self) -> Result<Value, NoJson> {
        Ok(self.clone())
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

impl<U: StateUpdate> ErasedUpdate for Update<U> {
    fn changes(&self) -> Result<Changes, StoredError> {
        self.0.to_changes()
    }

    fn json(&self) -> Result<Value, NoJson> {
        self.0.to_json()
    }

    fn any(&self) -> &(dyn Any + Send + Sync) {
        &self.0
    }
}

impl AnyUpdate {
    /// An update in memory.
    pub fn new<U: StateUpdate>(update: U) -> Self {
        Self(Arc::new(Update(update)))
    }

    /// An update as a client writes it: an object of field to what is written to it, which is read by the rules of the state's
    /// fields ([`StateUpdate::from_json`]) when it is used.
    pub fn from_json(json: Value) -> Self {
        Self(Arc::new(json))
    }

    /// An update in its stored form; its JSON is that of the type that `of` knows.
    pub(crate) fn stored(changes: Changes, of: Option<Arc<dyn ReadsStored>>) -> Self {
        Self(Arc::new(StoredUpdate(changes, of)))
    }

    /// The update of a state, whose initial one is `initial`. From JSON no private field is written.
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] with all faults of a client's JSON; also when it is an update of another type.
    pub fn read<S: State>(self, initial: &S) -> Result<S::Update, InvalidJson> {
        let Some(json) = self.0.any().downcast_ref::<Value>() else {
            return self.get::<S::Update>().map_err(InvalidJson::of);
        };
        let private = initial.schema().fields.iter().filter(|field| field.private);
        let written = private.filter(|field| json.get(&*field.name).is_some());
        let faults: Vec<_> = written
            .flat_map(|field| {
                InvalidJson::of("private: no client writes it").within(&field.name).faults
            })
            .collect();
        match (initial.read_update(json.clone()), faults.is_empty()) {
            (Ok(update), true) => Ok(update),
            (Ok(_), false) => Err(InvalidJson::new(faults)),
            (Err(mut invalid), _) => {
                invalid.faults.extend(faults);
                Err(invalid)
            }
        }
    }

    /// The update, if it is a `U` in memory and not a stored form.
    pub fn downcast_ref<U: StateUpdate>(&self) -> Option<&U> {
        self.0.any().downcast_ref()
    }

    /// The update as a `U`, in memory or read from its stored form.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    pub fn get<U: StateUpdate>(&self) -> Result<U, StoredError> {
        match self.downcast_ref::<U>() {
            Some(update) => Ok(update.clone()),
            None => U::from_changes(&self.to_changes()?),
        }
    }

    /// The update as JSON: a map of field to what happens to it, in the form of [`hanok_core::Changes`], each value by its own
    /// `Serialize`; a client's JSON as it is.
    ///
    /// # Errors
    ///
    /// [`NoJson`] when a value has none.
    pub fn to_json(&self) -> Result<Value, NoJson> {
        self.0.json()
    }

    /// The stored form of the update.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a value's `Serialize` fails.
    pub fn to_changes(&self) -> Result<Changes, StoredError> {
        self.0.changes()
    }
}

/// As [`to_json`](AnyUpdate::to_json).
impl Serialize for AnyUpdate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// As [`from_json`](AnyUpdate::from_json).
impl<'de> Deserialize<'de> for AnyUpdate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from_json)
    }
}

/// An update that writes nothing.
impl Default for AnyUpdate {
    fn default() -> Self {
        Self::from_json(Value::Object(Default::default()))
    }
}

impl fmt::Debug for AnyUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(json) = self.0.any().downcast_ref::<Value>() {
            return f.debug_tuple("AnyUpdate").field(json).finish();
        }
        match self.to_changes() {
            Ok(changes) => f.debug_tuple("AnyUpdate").field(&changes).finish(),
            Err(error) => write!(f, "({error})"),
        }
    }
}
