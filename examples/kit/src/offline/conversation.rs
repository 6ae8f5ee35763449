//! What a request says: whose part this is, what is asked, and what came of it so far.

use hanok_model::{ChatRequest, ToolChoice, ToolSpec};
use hanok_parse::restore;
use hanok_state::{Message, Role};

use crate::offline::{
    dates::Now,
    pick::Wanted,
    prompt::{self, Aliases, Listed, Part},
    tables,
    words::{self, GOES_ON, clean},
};

/// The language of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Korean,
    English,
}

impl Language {
    /// What is said in Korean, or in English.
    pub(crate) fn either<'t>(self, korean: &'t str, english: &'t str) -> &'t str {
        if self == Self::Korean { korean } else { english }
    }
}

/// What a request says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conversation {
    pub(crate) part: Part,
    /// Whether tools are called natively.
    pub(crate) native: bool,
    /// Whether the request wants a call, whatever is known already.
    pub(crate) forced: bool,
    pub(crate) language: Language,
    /// What is asked now, cleaned. A task of a supervisor comes before the user's own words.
    pub(crate) question: String,
    /// Whether a supervisor gave a task.
    pub(crate) has_task: bool,
    /// What people said before, oldest first, and what is kept of what they said before that.
    pub(crate) earlier: Vec<String>,
    /// What tools gave since the question, in order.
    pub(crate) observations: Vec<String>,
    /// What agents answered since the question, in order.
    pub(crate) outputs: Vec<(String, String)>,
    /// Other text that was put between marks as data.
    pub(crate) data: String,
    /// The same in its pieces, of those that stand under a name of their own.
    pub(crate) named: Vec<(String, String)>,
    /// The calls that are proposed for the question, outside of data.
    pub(crate) proposed: Vec<Wanted>,
    /// What the system prompt lists, each with what it is for.
    pub(crate) listed: Vec<Listed>,
    /// The words by which things are asked for, as the program knows them.
    pub(crate) aliases: Aliases,
    /// What teams found about the question, whole.
    pub(crate) results: Vec<String>,
    /// The day and the time, where the system prompt says them.
    pub(crate) now: Option<Now>,
}

/// A message by what it is for.
enum Heard {
    Asked(String),
    Task(String),
    Observed(String),
    Data(Vec<Piece>),
    Output(String, String),
    Other,
}

impl Conversation {
    pub(crate) fn read(request: &ChatRequest, aliases: &Aliases) -> Self {
        let system: String = request
            .messages
            .iter()
            .filter(|message| message.role() == Role::System)
            .map(|message| without_data(&message.text()).0 + "\n\n")
            .collect();
        let native = !request.tools.is_empty();
        let part = if native { Part::Agent(native_tools(request)) } else { prompt::read(&system) };
        let known = |listed: Vec<Listed>| {
            listed.into_iter().map(|listed| listed.known(aliases)).collect::<Vec<_>>()
        };
        let part = match part {
            Part::Supervisor(agents) => Part::Supervisor(known(agents)),
            Part::Agent(tools) => Part::Agent(known(tools)),
            Part::Alone => Part::Alone,
        };

        let mut read = Self {
            part,
            native,
            forced: matches!(request.tool_choice, ToolChoice::Tool(_) | ToolChoice::Required),
            language: Language::English,
            question: String::new(),
            has_task: false,
            earlier: Vec::new(),
            observations: Vec::new(),
            outputs: Vec::new(),
            data: String::new(),
            named: Vec::new(),
            proposed: Vec::new(),
            listed: known(prompt::listed(&system)),
            aliases: aliases.clone(),
            results: Vec::new(),
            now: Now::of(&system),
        };
        let mut task = None;
        let mut pieces: Vec<Piece> = Vec::new();
        // How many pieces there were at the last answer: they were for questions before it.
        let mut answered = 0;
        for message in &request.messages {
            if native && message.role() == Role::User {
                read.propose(&without_data(&message.text()).0);
            }
            match heard(message) {
                Heard::Asked(text) => {
                    let old: Vec<_> = pieces.drain(..answered).filter(Piece::is_memory).collect();
                    pieces.splice(0..0, old);
                    answered = 0;
                    read.earlier.push(std::mem::replace(&mut read.question, text));
                    read.observations.clear();
                    read.outputs.clear();
                    task = None;
                }
                Heard::Task(text) => task = Some(text),
                Heard::Observed(text) => read.observations.push(text),
                Heard::Output(agent, text) if read.has_agent(&agent) => {
                    read.outputs.push((agent, text))
                }
                Heard::Data(given) if is_of_teams(message) => {
                    read.results = given.into_iter().map(|piece| piece.inside).collect();
                }
                Heard::Data(given) => pieces.extend(given),
                Heard::Output(..) | Heard::Other => {}
            }
            if message.role() == Role::Assistant {
                answered = pieces.len();
            }
        }
        read.earlier.retain(|text| !text.is_empty());
        read.language = language(&[&read.question, task.as_deref().unwrap_or(""), &system]);
        read.has_task = task.is_some();
        read.keep(pieces);
        if read.question.is_empty() && task.is_none() {
            // What is to be judged may come as data alone.
            read.question = clean(&std::mem::take(&mut read.data));
        }
        match task {
            Some(task) => read.question = task,
            None => read.question = read.resolved(),
        }
        read
    }

    /// Keeps the calls that `text` proposes, a line each: `- 제안: name {…}`.
    fn propose(&mut self, text: &str) {
        let Part::Agent(tools) = &self.part else { return };
        let proposed = text.lines().filter_map(|line| {
            let line = line.trim_start_matches(['-', '*', ' ']);
            let call = labelled(line, &["제안", "Suggested"])?.trim();
            let (name, arguments) = call.split_at_checked(call.find('{')?)?;
            let tool = tools.iter().find(|tool| tool.name == name.trim())?.name.clone();
            let arguments = serde_json::from_str(arguments).ok()?;
            Some(Wanted { tool, arguments })
        });
        self.proposed.extend(proposed);
    }

    fn has_agent(&self, name: &str) -> bool {
        matches!(&self.part, Part::Supervisor(agents) if agents.iter().any(|agent| agent.name == name))
    }

    /// Data is what an agent gave where its name stands before it, or else what was found otherwise.
    fn keep(&mut self, pieces: Vec<Piece>) {
        for Piece { before, inside } in pieces {
            let name = before
                .lines()
                .rev()
                .map(unnumbered)
                .find(|line| !line.is_empty())
                .unwrap_or_default();
            if self.has_agent(name) {
                self.outputs.push((name.to_owned(), result(&inside).to_owned()));
            } else {
                let own =
                    before.trim_end().lines().next_back().and_then(|line| line.strip_suffix(':'));
                if own.is_some_and(|own| tables::ANSWERED.contains(&own.trim())) {
                    continue;
                }
                self.named.extend(own.map(|own| (own.trim().to_owned(), inside.clone())));
                self.keep_data(&inside);
            }
        }
    }

    /// What is kept of the conversation stands under headings of its own; all else was found.
    fn keep_data(&mut self, inside: &str) {
        let (mut kept, mut told) = (false, Vec::new());
        for line in inside.lines() {
            if let Some(heading) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                kept = tables::KEPT.iter().any(|word| heading.contains(word));
                continue;
            }
            match kept {
                true => told.push(clean(line.trim_start_matches(['-', ' ']))),
                false => {
                    self.data.push_str(line);
                    self.data.push('\n');
                }
            }
        }
        told.retain(|line| !line.is_empty() && !self.earlier.contains(line));
        self.earlier.splice(0..0, told);
    }

    /// The question, with the subject of the one before where it goes on from that.
    fn resolved(&self) -> String {
        let lower = self.question.to_lowercase();
        let follows =
            tables::FOLLOWING.iter().any(|begin| lower.starts_with(begin)) || is_fragment(&lower);
        let Some(before) = self.earlier.last().filter(|_| follows) else {
            return self.question.clone();
        };
        let now = words::content(&self.question);
        let missing: Vec<_> = words::content(before)
            .into_iter()
            .filter(|word| !now.contains(word))
            .map(|word| word.text)
            .collect();
        if missing.is_empty() {
            return self.question.clone();
        }
        format!("{}{GOES_ON}{}", missing.join(" "), self.question)
    }
}

/// Whether a question is but a word of one: `서울은?`, `늦으면?`.
fn is_fragment(question: &str) -> bool {
    let said = question.trim_end_matches(['?', '？', ' ']);
    let is_short = !said.contains(' ') && said.chars().count() <= LONGEST_FRAGMENT;
    is_short
        && said.len() < question.len()
        && ["은", "는", "면"].iter().any(|end| said.ends_with(end))
}

/// A longer word is a question of its own.
const LONGEST_FRAGMENT: usize = 6;

/// Whether a message holds what teams found.
fn is_of_teams(message: &Message) -> bool {
    let text = message.text();
    tables::OF_TEAMS.iter().any(|heading| text.starts_with(heading))
}

fn native_tools(request: &ChatRequest) -> Vec<Listed> {
    let listed = |tool: &ToolSpec| Listed {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        aliases: tool.aliases().to_vec(),
        parameters: prompt::of_schema(tool.schema()),
    };
    let only = if let ToolChoice::Tool(name) = &request.tool_choice { Some(name) } else { None };
    let may_call = |tool: &&ToolSpec| only.is_none_or(|only| tool.name() == only);
    request.tools.iter().filter(may_call).map(listed).collect()
}

fn heard(message: &Message) -> Heard {
    let whole = message.text();
    let (text, pieces) = without_data(&whole);
    let text = text.trim();
    match message.role() {
        Role::System if !pieces.is_empty() => Heard::Data(pieces),
        Role::System => Heard::Other,
        Role::Tool => Heard::Observed(observed(text, &pieces)),
        Role::Assistant => match bracketed(&whole) {
            Some((agent, said)) => Heard::Output(agent.to_owned(), said.trim().to_owned()),
            None => Heard::Other,
        },
        Role::User => {
            if let Some(text) = labelled(text, &["Observation", "관찰"]) {
                return Heard::Observed(observed(text.trim(), &pieces));
            }
            if !pieces.is_empty() {
                return Heard::Data(pieces);
            }
            match labelled(text, &["맡은 일", "작업", "Task"]) {
                Some(task) => Heard::Task(clean(task)),
                None => Heard::Asked(clean(text)),
            }
        }
    }
}

fn observed(text: &str, pieces: &[Piece]) -> String {
    let inside = pieces.iter().map(|piece| piece.inside.as_str());
    let all: Vec<&str> =
        std::iter::once(text).chain(inside).filter(|text| !text.is_empty()).collect();
    all.join("\n")
}

fn labelled<'a>(text: &'a str, labels: &[&str]) -> Option<&'a str> {
    labels.iter().find_map(|label| text.strip_prefix(label)?.trim_start().strip_prefix(':'))
}

/// `[agent] text`, which may also stand between marks.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (name, said) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let fits = !name.is_empty() && name.chars().count() <= 64 && !name.contains(['\n', '[']);
    fits.then_some((name, said))
}

/// A list's line without its number and its marks.
fn unnumbered(line: &str) -> &str {
    let mark = |c: char| !c.is_alphabetic();
    line.trim_start_matches(mark).trim_end_matches(|c: char| !c.is_alphanumeric())
}

/// What an agent gave, behind what it was asked.
fn result(inside: &str) -> &str {
    let labels = ["결과:", "result:", "Result:"];
    let at = labels.iter().filter_map(|label| {
        let at =
            if inside.starts_with(label) { 0 } else { inside.find(&format!("\n{label}"))? + 1 };
        Some(at + label.len())
    });
    let given = at.min().and_then(|at| inside.get(at..));
    given.unwrap_or(inside).trim()
}

/// A message has few pieces of data; what looks like the beginning of more is text.
const MOST_MARKS: usize = 64;

/// A piece of data in a message, and the text before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    before: String,
    inside: String,
}

impl Piece {
    /// Whether it is kept of the conversation, and so of every question in it.
    fn is_memory(&self) -> bool {
        let mut headings = self.inside.lines().filter(|line| line.starts_with('['));
        headings.any(|line| tables::KEPT.iter().any(|word| line.contains(word)))
    }
}

/// `text` without what stands between marks of data, and that.
pub(crate) fn without_data(text: &str) -> (String, Vec<Piece>) {
    let (mut outside, mut pieces) = (String::new(), Vec::new());
    let mut from = 0;
    let mut rest = text;
    for _ in 0..MOST_MARKS {
        let Some((before, mark)) = rest.split_once(OPEN) else { break };
        outside.push_str(before);
        match inside(mark) {
            Some((piece, after)) => {
                let before = outside.get(from..).unwrap_or_default().to_owned();
                // The words of others come with their marks broken, which a reader does not see.
                let inside = restore(piece.trim_matches('\n')).into_owned();
                pieces.push(Piece { before, inside });
                from = outside.len();
                rest = after;
            }
            // The rules of a prompt name the marks without a code.
            None => {
                outside.push_str(OPEN);
                rest = mark;
            }
        }
    }
    outside.push_str(rest);
    (outside, pieces)
}

const OPEN: &str = "<data-";

/// Of a text behind `<data-`, what stands before the end with the same code, and what stands behind that.
fn inside(mark: &str) -> Option<(&str, &str)> {
    let code =
        mark.split(|c: char| !c.is_ascii_alphanumeric()).next().filter(|code| code.len() >= 8)?;
    let inner = mark.get(code.len()..)?.strip_prefix('>')?;
    inner.split_once(format!("</data-{code}>").as_str())
}

/// Korean where the first text with letters has Hangul.
fn language(texts: &[&str]) -> Language {
    let with_letters = texts.iter().find(|text| text.chars().any(char::is_alphabetic));
    match with_letters {
        Some(text) if !text.chars().any(words::is_hangul) => Language::English,
        _ => Language::Korean,
    }
}
