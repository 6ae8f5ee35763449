//! What a configuration may say, and what is refused of it.

use std::time::Duration;

use hanok_core::Effect;
use hanok_mcp::{ConfigError, McpConfig, ToolApproval};

fn parse(text: &str) -> Result<McpConfig, ConfigError> {
    let variables = |name: &str| match name {
        "TOKEN" => Some("secret-token".to_owned()),
        _ => None,
    };
    McpConfig::reader().variables(variables).parse(text)
}

/// The faults of a server with these fields, one a line.
fn faults(fields: &str) -> String {
    let Err(ConfigError::Faulty { faults, .. }) =
        parse(&format!(r#"{{"mcpServers":{{"s":{fields}}}}}"#))
    else {
        return String::new();
    };
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_other_programs_write_is_read() {
    let config = parse(
        r#"{"theme": "dark", "mcpServers": {
            "files": {"command": "npx", "args": ["-y", "@scope/files@1.0.0", "/data"], "env": {"KEY": "${TOKEN}"},
                      "cwd": "/tmp", "type": "stdio", "disabled": true, "timeout": 90, "alwaysAllow": []},
            "wiki": {"type": "http", "url": "https://wiki.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"},
                     "required": true, "startup_timeout": 2.5, "trust": "annotations", "disabled_tools": ["drop"],
                     "tools": {"find": {"effect": "pure", "approval": "allow", "pinned": true, "aliases": ["찾기"]}}}
        }}"#,
    )
    .unwrap();
    let servers: Vec<_> = config.servers().collect();
    let [files, wiki] = servers[..] else { panic!("{servers:?}") };
    assert!(files.is_disabled() && !files.is_required());
    assert_eq!(
        (files.startup_timeout(), files.tool_timeout()),
        (Duration::from_secs(30), Duration::from_secs(90))
    );
    assert!(wiki.is_required());
    assert_eq!(wiki.startup_timeout(), Duration::from_millis(2500));
    let find = wiki.tool("find");
    assert_eq!(
        (find.effect, find.approval, find.pinned),
        (Some(Effect::Pure), Some(ToolApproval::Allow), true)
    );
    assert_eq!(wiki.tool("other").effect, None);
    let warnings: Vec<_> = config.warnings().iter().map(|warning| warning.place.as_str()).collect();
    assert_eq!(warnings, ["mcpServers.files.alwaysAllow"]);
    // P55: what was filled in is shown nowhere.
    assert!(!format!("{config:?}").contains("secret-token"));
}

#[test]
fn all_faults_are_found_at_once_each_with_its_place() {
    for (fields, want) in [
        ("7", "mcpServers.s: a number stands where an object should"),
        ("{}", "mcpServers.s.command: a server has a `command` or a `url`, and this has neither"),
        (
            r#"{"command": "a", "url": "https://b"}"#,
            "mcpServers.s.url: a server has a `command` or a `url`, not both",
        ),
        (
            r#"{"command": "a", "args": ["${NONE}", 7], "env": {"K": "${ALSO}"}, "headers": {}, "timeout": 30000}"#,
            "mcpServers.s.headers: a server with a `command` has none\n\
             mcpServers.s.args[1]: a number stands where a text should\n\
             mcpServers.s.args[0]: the variable `NONE` is not set\n\
             mcpServers.s.env.K: the variable `ALSO` is not set\n\
             mcpServers.s.timeout: that is more than an hour: it is in seconds, and a longer one is `tool_timeout`",
        ),
        (
            r#"{"url": "ftp://a", "type": "sse"}"#,
            "mcpServers.s.type: the transport of 2024-11-05 is not spoken; write the address for streamable HTTP and `http`\n\
             mcpServers.s.url: an address begins with https:// or http://",
        ),
        (
            r#"{"url": "http://example.com", "headers": {"A": "b"}}"#,
            "mcpServers.s.url: headers and tokens would be sent in the clear; use https://",
        ),
        (r#"{"url": "http://127.0.0.1:8000/mcp", "headers": {"A": "b"}}"#, ""),
        (
            r#"{"url": "https://me:pw@example.com"}"#,
            "mcpServers.s.url: a name or password stands in `headers`, not in the address",
        ),
        (
            r#"{"command": "a", "tools": {"t": {"effect": "none", "aproval": "ask"}}}"#,
            "mcpServers.s.tools.t.aproval: there is no such field; there are `effect`, `approval`, `pinned`, `aliases`\n\
             mcpServers.s.tools.t.effect: `none` is none of `pure`, `idempotent`, `at_most_once`",
        ),
        (
            r#"{"command": "sh", "args": ["-c", "curl x | sh"]}"#,
            "mcpServers.s.args: `sh -c` is a program on a command line; start a program, or allow this server by name",
        ),
        (
            r#"{"command": "server --root"}"#,
            "mcpServers.s.command: a command is a program alone; its arguments stand in `args`",
        ),
    ] {
        assert_eq!(faults(fields), want, "{fields}");
    }
}

#[cfg(feature = "oauth")]
#[test]
fn a_sign_in_has_settings_of_its_own() {
    for (fields, want) in [
        (r#"{"url": "https://a", "oauth": true}"#, ""),
        (
            r#"{"url": "http://127.0.0.1:8000/mcp", "oauth": {"scopes": ["read"], "permit": ["10.0.0.0/8:443"]}}"#,
            "",
        ),
        (
            r#"{"url": "http://a.example", "oauth": true}"#,
            "mcpServers.s.url: headers and tokens would be sent in the clear; use https://",
        ),
        (
            r#"{"command": "a", "oauth": true}"#,
            "mcpServers.s.oauth: a server with a `command` has none",
        ),
        (
            r#"{"url": "https://a", "oauth": {"client_secret": "${TOKEN}", "scope": "read", "permit": ["here"]}}"#,
            "mcpServers.s.oauth.scope: there is no such field; there are `client_id`, `client_secret`, `client_metadata_url`, `scopes`, `permit`\n\
             mcpServers.s.oauth.client_secret: a secret belongs to a `client_id`\n\
             mcpServers.s.oauth.permit[0]: `here` is no range of addresses; write `127.0.0.1:8080`, `10.0.0.0/8` or `[fd00::/8]:9200`",
        ),
    ] {
        assert_eq!(faults(fields), want, "{fields}");
    }
    let config = parse(
        r#"{"mcpServers": {"s": {"url": "https://a", "oauth": {"client_id": "c", "client_secret": "${TOKEN}"}}}}"#,
    );
    assert!(!format!("{:?}", config.unwrap()).contains("secret-token"));
}

#[cfg(not(feature = "oauth"))]
#[test]
fn without_the_feature_nobody_is_asked_to_sign_in() {
    let want = "mcpServers.s.oauth: nobody can sign in by this program; build it with hanok-mcp's feature `oauth`";
    assert_eq!(faults(r#"{"url": "https://a", "oauth": true}"#), want);
}

#[test]
fn a_name_of_a_server_is_short_and_has_no_slash() {
    for (name, fits) in
        [("내 서버", true), ("a/b", false), ("", false), (&"x".repeat(65), false), ("a\\nb", false)]
    {
        let text = format!(r#"{{"mcpServers": {{"{name}": {{"command": "a"}}}}}}"#);
        assert_eq!(parse(&text).is_ok(), fits, "{name}");
    }
    let error = parse(r#"{"mcpServers": {"a/b": {"command": "a"}}}"#).unwrap_err().to_string();
    assert!(
        error.ends_with("\n- mcpServers.a/b: a name of a server has 1 to 64 bytes and no `/`"),
        "{error}"
    );
}

#[test]
fn what_is_no_configuration_says_where() {
    for (text, want) in [
        ("{", "line 1, column 1: this is no JSON (EOF while parsing an object at line 1 column 1)"),
        ("{}", "the whole: there is no `mcpServers`: an object of servers by name"),
        (r#"{"mcpServers": {"a": {}, "a": {}}}"#, "the whole: `a` stands twice in one object"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert_eq!(error, format!("the configuration cannot be used\n- {want}"));
    }
}

/// P44: what is named as a configuration is read as far as one may be long, and a mark of its encoding says nothing.
#[test]
fn only_a_regular_file_of_a_configuration_s_size_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}").unwrap();
    assert_eq!(McpConfig::read(&file).unwrap().servers().count(), 1);
    std::fs::write(&file, " ".repeat(4 * 1024 * 1024 + 1)).unwrap();
    let error = McpConfig::read(&file).unwrap_err().to_string();
    assert!(
        error.ends_with("- the whole: this is larger or deeper than any configuration"),
        "{error}"
    );
    for no_file in [folder.path().to_owned(), "/dev/zero".into(), folder.path().join("none")] {
        let error = McpConfig::read(no_file).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }), "{error:?}");
    }
}

#[test]
fn a_package_without_a_version_and_a_loader_are_warned_about() {
    let config = parse(
        r#"{"mcpServers": {"s": {"command": "npx", "args": ["-y", "server"], "env": {"NODE_OPTIONS": "-r x"}}}}"#,
    );
    let config = config.unwrap();
    let places: Vec<_> = config.warnings().iter().map(|warning| warning.place.as_str()).collect();
    assert_eq!(places, ["mcpServers.s.args", "mcpServers.s.env.NODE_OPTIONS"]);
}
