//! The tools and the questions.

use hanok_agent::IndexedTool;
use hanok_model::ToolSpec;
use serde_json::{Map, Value, json};

const TOOLS: &str = include_str!("tools.tsv");
const QUERIES: &str = include_str!("queries.tsv");
const LATER: &str = include_str!("later.tsv");

/// The kinds of servers whose tools do nearly the same.
const KINDS: [(&str, &[&str]); 10] = [
    ("mail", &["gmail", "outlook"]),
    ("calendars", &["gcal", "mscal"]),
    ("issues", &["jira", "github", "linear"]),
    ("files", &["gdrive", "dropbox"]),
    ("chats", &["slack", "teams"]),
    ("pages", &["notion", "confluence"]),
    ("customers", &["salesforce", "hubspot"]),
    ("payments", &["stripe", "tosspay"]),
    ("databases", &["postgres", "mysql"]),
    ("monitoring", &["datadog", "grafana"]),
];

/// A question, and the tools that count as right.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) right: Vec<String>,
    /// True for one that names its tool, by its name or an alias.
    pub(crate) is_exact: bool,
    pub(crate) is_korean: bool,
}

impl Question {
    pub(crate) fn is_right(&self, tool: &str) -> bool {
        self.right.iter().any(|right| right == tool)
    }
}

/// The server of a tool.
pub(crate) fn server(tool: &str) -> &str {
    tool.split_once("__").map_or("", |(server, _)| server)
}

/// The kind of a server.
pub(crate) fn kind(server: &str) -> Option<&'static str> {
    KINDS.iter().find(|(_, servers)| servers.contains(&server)).map(|(kind, _)| *kind)
}

/// A line: server, name, parameters, description, aliases.
fn tool(line: &str) -> IndexedTool {
    let columns: Vec<_> = line.split('\t').collect();
    let [server, name, parameters, about, aliases] = columns[..] else { unreachable!("{line}") };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for parameter in parameters.split(',').filter(|it| !it.is_empty()) {
        let (name, kind) = parameter.split_once(':').unwrap();
        let of_kind = match kind.trim_end_matches('?') {
            "s" => "string",
            "i" => "integer",
            "b" => "boolean",
            other => unreachable!("{other} in {line}"),
        };
        properties.insert(
            name.to_owned(),
            json!({"type": of_kind, "description": name.replace('_', " ")}),
        );
        if !kind.ends_with('?') {
            required.push(name);
        }
    }
    let schema =
        json!({"type": "object", "properties": Value::Object(properties), "required": required});
    let spec = ToolSpec::new(format!("{server}__{name}"), about, schema).unwrap();
    IndexedTool::new(spec).aliases(aliases.split("; ").filter(|alias| !alias.is_empty()))
}

pub(crate) fn tools() -> Vec<IndexedTool> {
    TOOLS.lines().map(tool).collect()
}

/// The questions that the index was made with.
pub(crate) fn questions() -> Vec<Question> {
    read(QUERIES)
}

/// Questions for 40 tools drawn by lot, written when the index was done.
pub(crate) fn later() -> Vec<Question> {
    read(LATER)
}

fn read(lines: &str) -> Vec<Question> {
    let question = |line: &str| {
        let columns: Vec<_> = line.split('\t').collect();
        let [language, kind, right, text] = columns[..] else { unreachable!("{line}") };
        Question {
            text: text.to_owned(),
            right: right.split(',').map(str::to_owned).collect(),
            is_exact: kind == "exact",
            is_korean: language == "ko",
        }
    };
    lines.lines().map(question).collect()
}
