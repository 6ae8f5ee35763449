//! One message of a conversation.

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize};

use super::{
    content::{Content, Part},
    role::Role,
};
use crate::{arguments::Arguments, error::MessageFormatError, json::Json};

/// One message of a conversation. A clone costs a pointer.
///
/// Its serialised form, in JSON and in the log, is a map with `id`, `role` and `content` (a text, or a list of parts
/// `{"type":"text","text":…}`, `{"type":"image","url":…}`, `{"type":"other","json":…}`), and where they are not empty
/// `name`, `tool_calls` (`{"id","name","arguments"}`, the arguments as JSON text), `tool_call_id` and `metadata`.
///
/// ```
/// use hanok_state::{Message, Role};
///
/// let message = Message::user("회사 휴가 정책 알려줘").with_id("q1");
/// assert_eq!((message.role(), message.id()), (Role::User, Some("q1")));
/// assert_eq!(
///     serde_json::to_string(&message)?,
///     r#"{"id":"q1","role":"user","content":"회사 휴가 정책 알려줘"}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Message(Arc<Inner>);

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Inner::deserialize(deserializer).map(|inner| Self(Arc::new(inner)))
    }
}

/// The fields of a message. `id` is first: the fold of a log finds it in a few bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Inner {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Arc<str>>,
    role: Role,
    #[serde(default)]
    content: Content,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, Json>,
}

impl Message {
    /// Makes a message of `role`.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self(Arc::new(Inner {
            id: None,
            role,
            content: content.into(),
            name: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            metadata: BTreeMap::new(),
        }))
    }

    /// Makes a message with instructions of the program.
    pub fn system(content: impl Into<Content>) -> Self {
        Self::new(Role::System, content)
    }

    /// Makes a message of a person.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, content)
    }

    /// Makes a message of a model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// Makes the observation of the call `call_id`.
    ///
    /// ```
    /// use hanok_state::{Arguments, Message, ToolCall};
    ///
    /// let call = ToolCall {
    ///     id: "c1".to_owned(),
    ///     name: "search".to_owned(),
    ///     arguments: Arguments::new(r#"{"query":"연차"}"#),
    /// };
    /// let request = Message::assistant("").with_tool_calls([call]);
    /// let observation = Message::tool(&request.tool_calls()[0].id, "15일");
    /// assert_eq!(observation.tool_call_id(), Some("c1"));
    /// ```
    pub fn tool(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        let mut message = Self::new(Role::Tool, content);
        message.inner().tool_call_id = Some(call_id.into());
        message
    }

    /// The role of the speaker.
    pub fn role(&self) -> Role {
        self.0.role
    }

    /// The content of the message.
    pub fn content(&self) -> &Content {
        &self.0.content
    }

    /// The text of the message. Of several parts, the texts one after the other.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0.content {
            Content::Text(text) => Cow::Borrowed(text),
            Content::Parts(parts) => parts
                .iter()
                .filter_map(|part| match part {
                    Part::Text { text } => Some(text.as_str()),
                    _ => None,
                })
                .collect(),
        }
    }

    /// The id of the message. In a conversation every message has one.
    pub fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    pub(crate) fn shared_id(&self) -> Option<Arc<str>> {
        self.0.id.clone()
    }

    /// The name of the speaker, such as an agent among several.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// The calls that the model requests.
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.0.tool_calls
    }

    /// The call that an observation answers.
    pub fn tool_call_id(&self) -> Option<&str> {
        self.0.tool_call_id.as_deref()
    }

    /// The notes of the program on the message. Models do not see them.
    pub fn metadata(&self) -> &BTreeMap<String, Json> {
        &self.0.metadata
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.set_id(id);
        self
    }

    pub(super) fn set_id(&mut self, id: impl Into<Arc<str>>) {
        self.inner().id = Some(id.into());
    }

    /// Replaces the content.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<Content>) -> Self {
        self.inner().content = content.into();
        self
    }

    /// Sets the name of the speaker.
    ///
    /// ```
    /// use hanok_state::Message;
    ///
    /// let message = Message::assistant("제12조").with_name("law").with_metadata("tokens", 3);
    /// assert_eq!(message.name(), Some("law"));
    /// assert_eq!(message.metadata()["tokens"].0, 3);
    /// ```
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.inner().name = Some(name.into());
        self
    }

    /// Replaces the calls that the model requests.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.inner().tool_calls = calls.into_iter().collect();
        self
    }

    /// Marks the message as the observation of the call `call_id`.
    #[must_use]
    pub fn with_tool_call_id(mut self, call_id: impl Into<String>) -> Self {
        self.inner().tool_call_id = Some(call_id.into());
        self
    }

    /// Adds a note of the program under `key`.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.inner().metadata.insert(key.into(), value.into());
        self
    }

    pub(super) fn without_metadata(mut self, key: &str) -> Self {
        self.inner().metadata.remove(key);
        self
    }

    /// The fields of this message alone. They are copied first if another message shares them.
    fn inner(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A pair is the name of a role and a text.
///
/// ```
/// use hanok_state::{Message, Role};
///
/// let message = Message::try_from(("system", "존댓말로 답한다"))?;
/// assert_eq!(message.role(), Role::System);
/// assert_eq!(Message::from("안녕").role(), Role::User);
/// # Ok::<(), hanok_state::MessageFormatError>(())
/// ```
impl TryFrom<(&str, &str)> for Message {
    type Error = MessageFormatError;

    fn try_from(pair: (&str, &str)) -> Result<Self, MessageFormatError> {
        let (role, text) = pair;
        Ok(Self::new(role.parse()?, text))
    }
}

/// A text is a message of a person.
impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

/// A text is a message of a person.
impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

/// A tool call that a model requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id of the call within its conversation. The observation has it, too.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments of the call.
    #[serde(default)]
    pub arguments: Arguments,
}

impl ToolCall {
    /// The call `id` of the tool `name`.
    ///
    /// ```
    /// use hanok_state::ToolCall;
    /// use serde_json::json;
    ///
    /// let call = ToolCall::new("1", "search", json!({"city": "Seoul"}));
    /// assert_eq!(call, ToolCall::new("1", "search", r#"{"city":"Seoul"}"#));
    /// ```
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<Arguments>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}
