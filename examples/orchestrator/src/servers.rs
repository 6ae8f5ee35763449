//! The tools of the servers, and the index in which they are looked for.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hanok_agent::{IndexedTool, Risk, ToolIndex, ToolQuery, ToolRegistry, without_secrets};
use hanok_checkpoint::SharedStore;
use hanok_core::{BoxError, Call, Clock, Effect, Labels, Timestamp};
use hanok_learning::ToolRef;
use hanok_mcp::{McpClient, ToolApproval, ToolDefinition, ToolId};
use hanok_model::{SharedEmbedder, SharedTool, ToolSpec};
use hanok_state::Json;
use serde_json::Value;

/// How the tools that have changed are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Detection {
    /// Whether they are looked for before each step.
    pub automatic: bool,
    /// The time between two looks.
    pub interval: Duration,
}

/// The tools of all servers.
#[derive(Debug, Clone)]
pub struct Servers {
    client: McpClient,
    index: ToolIndex,
    detection: Detection,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// The time at which the servers were asked last.
    refreshed: Timestamp,
    /// The tools that the index fits.
    fits: Option<String>,
}

/// A tool that can be called.
#[derive(Debug, Clone)]
pub struct Offered {
    /// The tool.
    pub tool: SharedTool,
    /// Its name, with its server.
    pub id: ToolId,
    /// The hash of its definition.
    pub definition: String,
    /// What it may do to the world.
    pub risk: Risk,
    /// The operator's word on its calls.
    pub approval: Option<ToolApproval>,
    /// True where the operator has it always offered.
    pub pinned: bool,
}

impl Offered {
    /// What a model is shown.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        hanok_model::Tool::spec(&self.tool)
    }

    /// Its name for the memories.
    #[must_use]
    pub fn of(&self) -> ToolRef {
        ToolRef::of_server(self.id.server(), self.id.tool())
    }
}

/// The tools at one moment, by their names for models.
#[derive(Debug, Clone, Default)]
pub struct Offer(BTreeMap<String, Offered>);

impl Offer {
    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Offered> {
        self.0.get(name)
    }

    /// The tool of this name, as the memories name it. The name alone does not say its server: one that is not offered is of none.
    #[must_use]
    pub fn of(&self, name: &str) -> ToolRef {
        self.get(name).map_or_else(|| ToolRef::own(name), Offered::of)
    }

    /// The arguments of a call of the tool of this name without what its schema marks as secret, and whether there was any.
    #[must_use]
    pub fn shown(&self, name: &str, arguments: &Value) -> (Json, bool) {
        let shown = self.get(name).map(|tool| without_secrets(arguments, tool.spec().schema()));
        let shown = shown.unwrap_or_else(|| arguments.clone());
        let has_secrets = shown != *arguments;
        (Json(shown), has_secrets)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &Offered)> {
        self.0.iter()
    }

    /// Those to call.
    pub fn tools(&self) -> impl Iterator<Item = SharedTool> {
        self.0.values().map(|offered| offered.tool.clone())
    }

    /// Those to call, checked.
    ///
    /// # Errors
    ///
    /// Two tools of one name, which the client offers none of.
    pub fn registry(&self) -> Result<ToolRegistry, BoxError> {
        Ok(ToolRegistry::new(self.tools())?)
    }
}

impl Servers {
    /// The tools of `client`, looked for in `store`, by meaning too where there is an embedder. `config` is the file that names the
    /// servers: those of another one, or of other names, have an index of their own.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn new(
        client: McpClient,
        store: SharedStore,
        embedder: Option<SharedEmbedder>,
        detection: Detection,
        config: &Path,
        now: Timestamp,
    ) -> Result<Self, BoxError> {
        let index = ToolIndex::new(store, &labels(&client, config)?)?;
        let index = match embedder {
            Some(embedder) => index.embedder(embedder, Call::detached()),
            None => index,
        };
        // The client has asked them when it connected.
        let state = Arc::new(Mutex::new(State { refreshed: now, fits: None }));
        let servers = Self { client, index, detection, state };
        servers.fit(now).await?;
        Ok(servers)
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> &McpClient {
        &self.client
    }

    /// The index of the tools.
    #[must_use]
    pub fn index(&self) -> &ToolIndex {
        &self.index
    }

    /// Asks the servers again when it is time, and makes the index fit.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn look(&self, now: Timestamp) -> Result<(), BoxError> {
        let due = now.since(self.state().refreshed) >= self.detection.interval;
        if self.detection.automatic && due {
            return self.look_again(now).await;
        }
        self.fit(now).await
    }

    /// Asks the servers again at once: a call that failed may have failed because its tool is another by now.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn look_again(&self, now: Timestamp) -> Result<(), BoxError> {
        self.client.refresh().await;
        self.state().refreshed = now;
        self.fit(now).await
    }

    /// Makes the index fit what the client offers now: the servers are not asked.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn fit(&self, now: Timestamp) -> Result<(), BoxError> {
        let (offer, hash) = (self.offer(), self.client.snapshot().hash().to_string());
        let names: Vec<_> = offer.0.keys().map(String::as_str).collect();
        let fits = format!("{hash} {}", names.join(" "));
        if self.state().fits.as_ref() != Some(&fits) {
            let settings = self.client.definitions();
            let settings =
                settings.into_iter().map(|(definition, of)| (model_name(&definition), of));
            let settings: BTreeMap<_, _> = settings.collect();
            let indexed = |(name, offered): (&String, &Offered)| {
                let tool = IndexedTool::new(offered.spec().clone());
                match settings.get(name) {
                    Some(of) if of.pinned => tool.aliases(of.aliases.clone()).pinned(),
                    Some(of) => tool.aliases(of.aliases.clone()),
                    None => tool,
                }
            };
            let tools: Vec<_> = offer.iter().map(indexed).collect();
            self.index.update(&tools, now).await?;
        }
        self.state().fits = Some(fits);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tools that can be called now.
    #[must_use]
    pub fn offer(&self) -> Offer {
        let hashes: BTreeMap<String, (ToolId, String)> = self
            .client
            .snapshot()
            .tools()
            .map(|(definition, hash)| {
                (model_name(definition), (definition.id().clone(), hash.to_string()))
            })
            .collect();
        let settings: BTreeMap<_, _> = self
            .client
            .definitions()
            .into_iter()
            .map(|(definition, of)| (model_name(&definition), (definition, of)))
            .collect();
        let offered = self.client.tools().into_iter().filter_map(|tool| {
            let name = hanok_model::Tool::spec(&tool).name().to_owned();
            let (id, definition) = hashes.get(&name)?.clone();
            let (described, of) = settings.get(&name)?;
            let risk = risk(hanok_model::Tool::effect(&tool), described);
            let (approval, pinned) = (of.approval, of.pinned);
            Some((name, Offered { tool, id, definition, risk, approval, pinned }))
        });
        Offer(offered.collect())
    }
}

/// The place of the index in the store: an update removes what its own servers do not have.
fn labels(client: &McpClient, config: &Path) -> Result<Labels, BoxError> {
    let mut hasher = blake3::Hasher::new();
    let names = client.status().into_iter().map(|status| status.server);
    for part in names.chain([config.display().to_string()]) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let of = hasher.finalize().to_hex().to_string();
    Ok(Labels::new(["catalogue", of.as_str()])?)
}

/// The name of a tool for models.
fn model_name(definition: &ToolDefinition) -> String {
    definition.id().model_name()
}

/// What a tool may do: by the effect that the operator lets count. One that says of itself that it destroys is believed, and what
/// writes leaves the server, unless it says that it does not.
fn risk(effect: Effect, definition: &ToolDefinition) -> Risk {
    let hints = definition.annotations();
    match Risk::from(effect) {
        _ if hints.destructive_hint == Some(true) => Risk::Destructive,
        Risk::Write if hints.open_world_hint != Some(false) => Risk::External,
        by_effect => by_effect,
    }
}

/// The most bytes of a text by which tools are looked for.
const LONGEST_QUERY: usize = 64 * 1024;

/// The question for tools that fit `text`, by its beginning where it is too long for a search.
pub(crate) fn tool_query(text: &str) -> ToolQuery {
    ToolQuery::new(text.get(..text.floor_char_boundary(LONGEST_QUERY)).unwrap_or_default())
}

/// The time that it is.
#[must_use]
pub fn now() -> Timestamp {
    hanok_core::SystemClock.now()
}

#[cfg(test)]
mod tests {
    use hanok_model::FnTool;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_for_tools_is_cut_between_two_characters() {
        assert_eq!(tool_query("우유 사기").text(), "우유 사기");
        let (short, long) = ("a".repeat(LONGEST_QUERY), "가".repeat(LONGEST_QUERY));
        assert_eq!(tool_query(&short).text(), short);
        assert_eq!(tool_query(&long).text().len(), LONGEST_QUERY - LONGEST_QUERY % 3);
    }

    /// P46 in part: what a tool's schema marks as secret is in no result, and in no memory.
    #[test]
    fn what_is_secret_is_not_shown() {
        let pin = json!({"type": "string", "writeOnly": true});
        let schema = json!({"properties": {"to": {"type": "string"}, "pin": pin}});
        let spec = ToolSpec::new("bank__pay", "Pays", schema).unwrap();
        let tool = FnTool::untyped(spec, |_, _| async { Ok("paid".into()) });
        let offered = Offered {
            tool: SharedTool::new(tool),
            id: ToolId::new("bank", "pay"),
            definition: String::new(),
            risk: Risk::External,
            approval: None,
            pinned: false,
        };
        let offer = Offer(BTreeMap::from([("bank__pay".to_owned(), offered)]));
        for (arguments, want) in [
            (json!({"to": "kim", "pin": "4711"}), (json!({"to": "kim", "pin": "[secret]"}), true)),
            (json!({"to": "kim"}), (json!({"to": "kim"}), false)),
        ] {
            let (shown, has_secrets) = offer.shown("bank__pay", &arguments);
            assert_eq!((shown.0, has_secrets), want);
        }
    }
}
