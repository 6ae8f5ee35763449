//! Reads one server of a configuration.

use std::{cell::RefCell, collections::BTreeMap, path::PathBuf, time::Duration};

#[cfg(feature = "oauth")]
use hanok_core::Chain;
use hanok_core::{Effect, Secret};
use reqwest::Url;

#[cfg(feature = "oauth")]
use super::OAuthConfig;
use super::{
    HttpConfig, ServerConfig, StdioConfig, ToolApproval, ToolSettings, Transport,
    fields::{Faults, Fields},
    fill::fill,
    interpreter, unversioned,
};
use crate::{redact::Redact, secret::names_secret};

pub(super) const STARTUP: Duration = Duration::from_secs(30);
pub(super) const TOOL: Duration = Duration::from_secs(60);

/// Above this `timeout` is meant in milliseconds, as some programs have it.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The longest name of a server.
const LONGEST_NAME: usize = 64;

const OF_STDIO: [&str; 4] = ["command", "args", "env", "cwd"];
const OF_HTTP: [&str; 3] = ["url", "headers", "oauth"];
const OF_ALL: [&str; 10] = [
    "type",
    "disabled",
    "timeout",
    "required",
    "startup_timeout",
    "tool_timeout",
    "enabled_tools",
    "disabled_tools",
    "trust",
    "tools",
];

/// Fields of other programs that say nothing to this one.
const FOREIGN: [&str; 6] = ["alwaysAllow", "autoApprove", "description", "icon", "name", "gallery"];

/// Variables that change which code a program runs. None is given that is not listed.
const LOADERS: [&str; 10] = [
    "LD_",
    "DYLD_",
    "NODE_OPTIONS",
    "BASH_ENV",
    "ENV",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PERL5OPT",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
];

/// Variables that every program sees: what they hold is no secret, and paths are of no use without it.
const OF_EVERY_PROGRAM: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// The settings of how a server is read.
pub(super) struct Reading<'a> {
    pub(super) variables: &'a dyn Fn(&str) -> Option<String>,
    pub(super) allows_code: bool,
    pub(super) warnings: &'a Faults,
}

impl Reading<'_> {
    /// The server `name`, `None` when a fault leaves nothing of it.
    pub(super) fn server(&self, name: &str, fields: &Fields<'_>) -> Option<ServerConfig> {
        let values = RefCell::new(Vec::new());
        let variables = |name: &str| {
            let value = (self.variables)(name);
            if !OF_EVERY_PROGRAM.contains(&name) {
                values.borrow_mut().extend(value.clone());
            }
            value
        };
        let noting = Reading { variables: &variables, ..*self };
        let config = noting.server_without_secrets(name, fields)?;
        let mut secrets = values.take();
        match &config.transport {
            Transport::Stdio(stdio) => {
                let named = stdio.env.iter().filter(|variable| is_secret(variable.0));
                secrets.extend(named.map(|variable| variable.1.expose().clone()));
            }
            Transport::Stream(_) => {}
            Transport::Http(http) => {
                secrets.extend(http.headers.iter().map(|header| header.1.expose().clone()));
                #[cfg(feature = "oauth")]
                if let Some(secret) = http.oauth.as_ref().and_then(|it| it.client_secret.as_ref()) {
                    secrets.push(secret.expose().clone());
                }
            }
        }
        Some(ServerConfig { secrets: Redact::new(secrets), ..config })
    }

    fn server_without_secrets(&self, name: &str, fields: &Fields<'_>) -> Option<ServerConfig> {
        if let Some(what) = name_fault(name) {
            fields.fault("", what);
        }
        for name in fields.names().filter(|name| FOREIGN.contains(name)) {
            self.warnings.add(fields.at(name), "this says nothing here and is left out");
        }
        let known: Vec<_> =
            OF_STDIO.iter().chain(&OF_HTTP).chain(&OF_ALL).chain(&FOREIGN).copied().collect();
        fields.only(&known);
        let transport = self.transport(fields);
        let timeout = self.timeout(fields);
        let enabled = fields.texts("enabled_tools");
        let disabled = fields.texts("disabled_tools").unwrap_or_default();
        Some(ServerConfig {
            name: name.to_owned(),
            disabled: fields.flag("disabled"),
            required: fields.flag("required"),
            startup_timeout: fields.seconds("startup_timeout").unwrap_or(STARTUP),
            tool_timeout: timeout.unwrap_or(TOOL),
            enabled_tools: enabled.map(|all| all.into_iter().map(|it| it.1.to_owned()).collect()),
            disabled_tools: disabled.into_iter().map(|it| it.1.to_owned()).collect(),
            trusts_annotations: fields
                .choice("trust", &[("annotations", true), ("none", false)])
                .unwrap_or(false),
            tools: tools(fields),
            secrets: Redact::default(),
            transport: transport?,
        })
    }

    fn timeout(&self, fields: &Fields<'_>) -> Option<Duration> {
        let (own, common) = (fields.seconds("tool_timeout"), fields.seconds("timeout"));
        if own.is_none() && common.is_some_and(|common| common > LONGEST_TIMEOUT) {
            let what =
                "that is more than an hour: it is in seconds, and a longer one is `tool_timeout`";
            fields.fault("timeout", what);
        }
        own.or(common)
    }

    fn transport(&self, fields: &Fields<'_>) -> Option<Transport> {
        let kinds = [
            ("stdio", Some(false)),
            ("http", Some(true)),
            ("streamable-http", Some(true)),
            ("streamableHttp", Some(true)),
            ("streamable_http", Some(true)),
            ("sse", None),
        ];
        let kind = fields.choice("type", &kinds);
        if kind == Some(None) {
            let what = "the transport of 2024-11-05 is not spoken; write the address for streamable HTTP and `http`";
            fields.fault("type", what);
        }
        let is_http = match (fields.has("command"), fields.has("url")) {
            (true, false) => false,
            (false, true) => true,
            (true, true) => {
                fields.fault("url", "a server has a `command` or a `url`, not both");
                return None;
            }
            (false, false) => {
                fields
                    .fault("command", "a server has a `command` or a `url`, and this has neither");
                return None;
            }
        };
        if kind.flatten().is_some_and(|said_http| said_http != is_http) {
            let what = if is_http {
                "a `url` is of type `http`"
            } else {
                "a `command` is of type `stdio`"
            };
            fields.fault("type", what);
        }
        let foreign: &[&str] = if is_http { &OF_STDIO } else { &OF_HTTP };
        for name in foreign.iter().filter(|name| fields.has(name)) {
            let other = if is_http { "url" } else { "command" };
            fields.fault(name, format!("a server with a `{other}` has none"));
        }
        match is_http {
            true => self.http(fields).map(Transport::Http),
            false => self.stdio(fields).map(Transport::Stdio),
        }
    }

    fn stdio(&self, fields: &Fields<'_>) -> Option<StdioConfig> {
        let written_command = fields.text("command")?;
        let command = self.filled(fields, "command", written_command)?;
        let args = fields.texts("args").unwrap_or_default();
        let filled: Vec<_> = args
            .iter()
            .map(|(place, text)| self.filled_at(fields, place, text).unwrap_or_default())
            .collect();
        let words: Vec<_> = filled.iter().map(String::as_str).collect();
        let has_variable = filled.iter().zip(&args).filter(|(filled, arg)| *filled != arg.1);
        let redact = Redact::new(has_variable.map(|(filled, _)| filled.clone()));
        if command.trim().is_empty() || command.contains('\0') {
            fields.fault("command", "the name of a program stands here");
        }
        if let Some(at) = filled.iter().position(|argument| argument.contains('\0')) {
            fields.fault(&format!("args[{at}]"), "an argument holds no NUL");
        }
        if command.trim().contains(char::is_whitespace)
            && args.is_empty()
            && !command.contains(['/', '\\'])
        {
            fields.fault("command", "a command is a program alone; its arguments stand in `args`");
        }
        if let Some(code) = interpreter::inline_code(&command, &words).filter(|_| !self.allows_code)
        {
            let what = format!(
                "`{}` is a program on a command line; start a program, or allow this server by name",
                redact.text(&code).escape_debug()
            );
            fields.fault("args", what);
        }
        if let Some(package) = unversioned::package(&command, &words) {
            let what = format!(
                "`{}` is started in whatever version there is; name one, for tools are approved as they were seen",
                redact.text(package).escape_debug()
            );
            self.warnings.add(fields.at("args"), what);
        }
        let written = std::iter::once(written_command).chain(args.iter().map(|it| it.1));
        Some(StdioConfig {
            written: written.map(str::to_owned).collect(),
            args: filled.into_iter().map(Secret::new).collect(),
            env: self.env(fields),
            cwd: fields
                .text("cwd")
                .and_then(|cwd| self.filled(fields, "cwd", cwd))
                .map(PathBuf::from),
            command,
        })
    }

    fn env(&self, fields: &Fields<'_>) -> BTreeMap<String, Secret<String>> {
        let mut env = BTreeMap::new();
        for (name, (place, text)) in fields.named_texts("env") {
            if name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
                fields.fault("env", format!("`{}` cannot be a variable", name.escape_debug()));
            }
            let loads = LOADERS.iter().any(|loader| match loader.ends_with('_') {
                true => name.starts_with(loader),
                false => name == *loader,
            });
            if loads {
                let what = "this changes which code the program runs, and is given because it is written here";
                self.warnings.add(place.clone(), what);
            }
            let value = self.filled_at(fields, &place, text).unwrap_or_default();
            env.insert(name.to_owned(), Secret::new(value));
        }
        env
    }

    fn http(&self, fields: &Fields<'_>) -> Option<HttpConfig> {
        let written = fields.text("url")?;
        let url = self.filled(fields, "url", written)?;
        let mut headers = Vec::new();
        for (name, (place, text)) in fields.named_texts("headers") {
            let value = self.filled_at(fields, &place, text).unwrap_or_default();
            if http::HeaderName::try_from(name).is_err()
                || http::HeaderValue::try_from(&value).is_err()
            {
                fields.fault(
                    "headers",
                    format!("`{}` or its value is no header", name.escape_debug()),
                );
            }
            headers.push((name.to_owned(), Secret::new(value)));
        }
        match Url::parse(&url) {
            Err(error) => fields.fault("url", format!("this is no address ({error})")),
            Ok(url) => {
                if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
                    fields.fault("url", "an address begins with https:// or http://");
                }
                if !url.username().is_empty() || url.password().is_some() {
                    fields
                        .fault("url", "a name or password stands in `headers`, not in the address");
                }
                let has_secrets = !headers.is_empty() || fields.has("oauth");
                if url.scheme() == "http" && has_secrets && !is_this_machine(&url) {
                    let what = "headers and tokens would be sent in the clear; use https://";
                    fields.fault("url", what);
                }
            }
        }
        #[cfg(not(feature = "oauth"))]
        if fields.has("oauth") {
            fields.fault(
                "oauth",
                "nobody can sign in by this program; build it with hanok-mcp's feature `oauth`",
            );
        }
        Some(HttpConfig {
            url: Secret::new(url),
            headers,
            #[cfg(feature = "oauth")]
            oauth: self.oauth(fields),
        })
    }

    /// `true`, or an object of settings.
    #[cfg(feature = "oauth")]
    fn oauth(&self, fields: &Fields<'_>) -> Option<OAuthConfig> {
        if fields.is_flag("oauth") {
            return fields.flag("oauth").then(OAuthConfig::default);
        }
        let oauth = fields.object("oauth")?;
        oauth.only(&["client_id", "client_secret", "client_metadata_url", "scopes", "permit"]);
        let text = |name| oauth.text(name).and_then(|text| self.filled(&oauth, name, text));
        let texts = |name| {
            let texts = oauth.texts(name).unwrap_or_default();
            texts.into_iter().map(|(_, text)| text.to_owned()).collect::<Vec<_>>()
        };
        let config = OAuthConfig {
            client_id: text("client_id"),
            client_secret: text("client_secret").map(Secret::new),
            client_metadata_url: text("client_metadata_url"),
            scopes: texts("scopes"),
            permits: texts("permit"),
        };
        if config.client_secret.is_some() && config.client_id.is_none() {
            oauth.fault("client_secret", "a secret belongs to a `client_id`");
        }
        for (at, address) in config.permits.iter().enumerate() {
            if let Err(error) = hanok_egress::Egress::builder().permit(address).build() {
                oauth.fault(&format!("permit[{at}]"), Chain(&error).to_string());
            }
        }
        Some(config)
    }

    fn filled(&self, fields: &Fields<'_>, name: &str, text: &str) -> Option<String> {
        self.filled_at(fields, &fields.at(name), text)
    }

    fn filled_at(&self, fields: &Fields<'_>, place: &str, text: &str) -> Option<String> {
        match fill(text, self.variables) {
            Ok(filled) => Some(filled),
            Err(sentences) => {
                let name = place.strip_prefix(&format!("{}.", fields.place)).unwrap_or(place);
                sentences.into_iter().for_each(|sentence| fields.fault(name, sentence));
                None
            }
        }
    }
}

/// True for the name of a variable whose value is a secret, by its name alone: `API_KEY`, `GITHUB_TOKEN`.
fn is_secret(name: &str) -> bool {
    let is_key = |word: &str| word.eq_ignore_ascii_case("key");
    names_secret(name) || name.split(['_', '-']).any(is_key)
}

/// What is wrong with `name` as one of a server.
pub(super) fn name_fault(name: &str) -> Option<String> {
    let is_faulty = name.is_empty()
        || name.len() > LONGEST_NAME
        || name.chars().any(|c| c.is_control() || c == '/');
    is_faulty.then(|| format!("a name of a server has 1 to {LONGEST_NAME} bytes and no `/`"))
}

/// True for an address of this machine, which no proxy and no network stands before.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

fn tools(fields: &Fields<'_>) -> BTreeMap<String, ToolSettings> {
    let mut tools = BTreeMap::new();
    let Some(all) = fields.object("tools") else { return tools };
    for name in all.names() {
        let Some(tool) = all.object(name) else { continue };
        tool.only(&["effect", "approval", "pinned", "aliases"]);
        let effects = [
            ("pure", Effect::Pure),
            ("idempotent", Effect::Idempotent),
            ("at_most_once", Effect::AtMostOnce),
        ];
        let approvals = [
            ("ask", ToolApproval::Ask),
            ("allow", ToolApproval::Allow),
            ("deny", ToolApproval::Deny),
        ];
        let aliases = tool.texts("aliases").unwrap_or_default();
        let settings = ToolSettings {
            effect: tool.choice("effect", &effects),
            approval: tool.choice("approval", &approvals),
            pinned: tool.flag("pinned"),
            aliases: aliases.into_iter().map(|alias| alias.1.to_owned()).collect(),
        };
        tools.insert(name.to_owned(), settings);
    }
    tools
}
