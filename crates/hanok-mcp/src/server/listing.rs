//! What a server listed, and for how long that is believed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
    time::Duration,
};

use crate::{
    catalogue::{Entry, ToolDefinition},
    config::{ConfigFault, ServerConfig},
    connection::{Identity, Listed, Live},
};

/// The longest time for which a list is believed.
const POLL: Duration = Duration::from_secs(300);

/// The shortest time for which a list is believed, whatever its server says: it is no list for each call.
const SHORTEST: Duration = Duration::from_secs(5);

/// The tools that a server listed over one connection.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) tools: BTreeMap<String, Entry>,
    /// The names of the configuration that no tool of the server has.
    pub(super) unlisted: Vec<ConfigFault>,
    connection: Weak<Live>,
    request: ListRequest,
    lasts: Duration,
}

/// When a list was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListRequest {
    /// By the clock.
    pub(super) time: Duration,
    /// After so many reasons to ask again.
    pub(super) doubts: u64,
}

impl Listing {
    /// The list that came over `live`, as far as the operator takes its tools.
    pub(super) fn new(
        config: &ServerConfig,
        identity: &Identity,
        listed: &Listed,
        live: &Arc<Live>,
        request: ListRequest,
    ) -> Self {
        let taken = listed.tools.iter().filter(|tool| config.takes(&tool.name));
        let named = taken.map(|tool| {
            let definition = ToolDefinition::of(config.name(), tool);
            (tool.name.to_string(), Entry::new(definition, identity.clone()))
        });
        let names: BTreeSet<&str> = listed.tools.iter().map(|tool| &*tool.name).collect();
        let lasts = listed.ttl.map_or(POLL, |ttl| ttl.clamp(SHORTEST, POLL));
        Self {
            tools: named.collect(),
            unlisted: unlisted(config, &names),
            connection: Arc::downgrade(live),
            request,
            lasts,
        }
    }

    /// True while the list is believed: it came over `live`, not too long before `now`, and there was no reason to ask again.
    pub(super) fn is_fresh(&self, live: &Arc<Live>, now: ListRequest) -> bool {
        self.connection.ptr_eq(&Arc::downgrade(live))
            && self.request.doubts == now.doubts
            && now.time.saturating_sub(self.request.time) < self.lasts
    }
}

/// A warning for each tool that the operator names and that is not among the `names` that the server listed.
fn unlisted(config: &ServerConfig, names: &BTreeSet<&str>) -> Vec<ConfigFault> {
    let unlisted = config.named_tools().filter(|(_, name)| !names.contains(name));
    let warning = |(field, name): (&str, &str)| ConfigFault {
        place: format!("mcpServers.{}.{field}", config.name()),
        what: format!("the server lists no tool `{}`", name.escape_debug()),
    };
    unlisted.map(warning).collect()
}
