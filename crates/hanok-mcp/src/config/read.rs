//! Reads a configuration.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use hanok_state::Arguments;
use serde_json::Value;

use super::{
    McpConfig,
    error::{ConfigError, ConfigFault},
    fields::{Faults, Fields},
    server,
};
use crate::{depth::is_too_deep, file::open_regular};

/// The most bytes of a configuration.
const LONGEST: usize = 4 * 1024 * 1024;

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The settings of how a configuration is read.
#[derive(Clone)]
#[must_use]
pub struct McpConfigReader {
    variables: Arc<Variables>,
    inline_code: BTreeSet<String>,
}

impl Default for McpConfigReader {
    fn default() -> Self {
        Self { variables: Arc::new(|name| std::env::var(name).ok()), inline_code: BTreeSet::new() }
    }
}

impl McpConfigReader {
    /// Sets what fills in `${NAME}`. Default: the environment of this process.
    ///
    /// ```
    /// use hanok_mcp::McpConfig;
    ///
    /// let text = r#"{"mcpServers": {"wiki": {"url": "${WIKI}/mcp"}}}"#;
    /// let error = McpConfig::reader().variables(|_| None).parse(text).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the configuration cannot be used\n- mcpServers.wiki.url: the variable `WIKI` is not set"
    /// );
    /// ```
    pub fn variables(
        self,
        variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { variables: Arc::new(variables), ..self }
    }

    /// Lets the command line of `server` hold code for an interpreter, such as `sh -c …`. Default: that is refused for each.
    ///
    /// ```
    /// use hanok_mcp::McpConfig;
    ///
    /// let text = r#"{"mcpServers": {"notes": {"command": "sh", "args": ["-c", "exec notes"]}}}"#;
    /// assert!(McpConfig::reader().parse(text).is_err());
    /// assert!(McpConfig::reader().allow_inline_code("notes").parse(text).is_ok());
    /// ```
    pub fn allow_inline_code(mut self, server: impl Into<String>) -> Self {
        self.inline_code.insert(server.into());
        self
    }

    /// The configuration in the file at `path`, which is a regular one of at most 4 MiB.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Unreadable`] for a file that cannot be read or is no regular one, [`ConfigError::Faulty`] with all faults.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<McpConfig, ConfigError> {
        let path = path.as_ref();
        let text = text_of(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        match self.parsed(&text) {
            Ok(config) => Ok(McpConfig { path: Some(path.to_owned()), ..config }),
            Err(faults) => Err(ConfigError::Faulty { path: Some(path.to_owned()), faults }),
        }
    }

    /// The configuration that `text` is.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Faulty`] with all faults.
    pub fn parse(&self, text: &str) -> Result<McpConfig, ConfigError> {
        self.parsed(text).map_err(|faults| ConfigError::Faulty { path: None, faults })
    }

    fn parsed(&self, text: &str) -> Result<McpConfig, Vec<ConfigFault>> {
        let whole = |what: String| vec![ConfigFault { place: "the whole".to_owned(), what }];
        // Some editors begin a file with a mark of its encoding.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > LONGEST || is_too_deep(text.as_bytes()) {
            return Err(whole("this is larger or deeper than any configuration".to_owned()));
        }
        let value: Value = serde_json::from_str(text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            vec![ConfigFault { place, what: format!("this is no JSON ({error})") }]
        })?;
        if let Some(key) = Arguments::from(text).repeated_key() {
            return Err(whole(format!("`{}` stands twice in one object", key.escape_debug())));
        }
        let faults = Faults::default();
        let warnings = Faults::default();
        let mut servers = BTreeMap::new();
        match value.get("mcpServers") {
            // Programs keep their own settings beside the servers.
            Some(all) => {
                let all = Fields::of("mcpServers".to_owned(), all, &faults);
                for (all, name) in
                    all.iter().flat_map(|all| all.names().map(move |name| (all, name)))
                {
                    let reading = server::Reading {
                        variables: &*self.variables,
                        allows_code: self.inline_code.contains(name),
                        warnings: &warnings,
                    };
                    if let Some(fields) = all.object(name)
                        && let Some(server) = reading.server(name, &fields)
                    {
                        servers.insert(name.to_owned(), server);
                    }
                }
            }
            None => {
                faults.add("the whole", "there is no `mcpServers`: an object of servers by name")
            }
        }
        let faults = faults.into_all();
        match faults.is_empty() {
            true => Ok(McpConfig { path: None, servers, warnings: warnings.into_all() }),
            false => Err(faults),
        }
    }
}

/// The text of the file at `path`. Of one that is too long no more is read than shows that.
fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(LONGEST as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() > LONGEST {
        // Its end may have split a character.
        true => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        false => String::from_utf8(bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

impl fmt::Debug for McpConfigReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpConfigReader")
            .field("inline_code", &self.inline_code)
            .finish_non_exhaustive()
    }
}
