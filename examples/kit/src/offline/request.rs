//! What a request says: whose part this is, what is asked, and what came of it so far.

use hanok_model::{ChatRequest, ToolChoice, ToolSpec};
use hanok_parse::restore;
use hanok_state::{Message, Role};

use crate::offline::{
    dates::Now,
    listed::{self, Aliases, Listed},
    reply::Language,
    tables,
    words::{self, GOES_ON, clean},
};

/// Whom a prompt makes of its reader.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// It routes to agents.
    Supervisor(Vec<Listed>),
    /// It calls tools.
    Agent(Vec<Listed>),
    /// It has only the conversation.
    Alone,
}

/// What a request says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
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
    /// What the system prompt lists, each with what it is for.
    pub(crate) listed: Vec<Listed>,
    /// The words by which things are asked for, as the program knows them.
    pub(crate) aliases: Aliases,
    /// What teams found about the question, whole.
    pub(crate) results: Vec<String>,
    /// The day and the time, where the system prompt says them.
    pub(crate) now: Option<Now>,
}

impl Request {
    pub(crate) fn read(request: &ChatRequest, aliases: &Aliases) -> Self {
        let system = request.messages.iter().filter(|message| message.role() == Role::System);
        let system: String =
            system.map(|message| without_data(&message.text()).0 + "\n\n").collect();
        let known = |listed: Vec<Listed>| {
            listed.into_iter().map(|it| it.known(aliases)).collect::<Vec<_>>()
        };
        let listed = known(listed::listed(&system));
        let part = match asks_for(&system) {
            _ if !request.tools.is_empty() => Part::Agent(known(native_tools(request))),
            Some(true) => Part::Agent(listed.clone()),
            Some(false) => Part::Supervisor(listed.clone()),
            None => Part::Alone,
        };
        let mut read = Self {
            part,
            native: !request.tools.is_empty(),
            forced: matches!(request.tool_choice, ToolChoice::Tool(_) | ToolChoice::Required),
            language: Language::English,
            question: String::new(),
            has_task: false,
            earlier: Vec::new(),
            observations: Vec::new(),
            outputs: Vec::new(),
            data: String::new(),
            named: Vec::new(),
            listed,
            aliases: aliases.clone(),
            results: Vec::new(),
            now: Now::of(&system),
        };
        let mut task = None;
        let mut pieces: Vec<Piece> = Vec::new();
        // How many pieces there were at the last answer: they were for questions before it.
        let mut answered = 0;
        for message in &request.messages {
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
                    read.outputs.push((agent, text));
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
        read.language = Language::of(&[&read.question, task.as_deref().unwrap_or(""), &system]);
        read.has_task = task.is_some();
        pieces.into_iter().for_each(|piece| read.keep(piece));
        if read.question.is_empty() && task.is_none() {
            // What is to be judged may come as data alone.
            read.question = clean(&std::mem::take(&mut read.data));
        }
        read.question = task.unwrap_or_else(|| read.resolved());
        read
    }

    fn has_agent(&self, name: &str) -> bool {
        matches!(&self.part, Part::Supervisor(agents) if agents.iter().any(|agent| agent.name == name))
    }

    /// Data is what an agent gave where its name stands before it, or else what was found otherwise.
    fn keep(&mut self, Piece { before, inside }: Piece) {
        let mut lines = before.lines().rev().map(unnumbered);
        let name = lines.find(|line| !line.is_empty()).unwrap_or_default();
        if self.has_agent(name) {
            self.outputs.push((name.to_owned(), result(&inside).to_owned()));
            return;
        }
        let own = before.trim_end().lines().next_back().and_then(|line| line.strip_suffix(':'));
        if own.is_some_and(|own| tables::ANSWERED.contains(&own.trim())) {
            return;
        }
        self.named.extend(own.map(|own| (own.trim().to_owned(), inside.clone())));
        // What is kept of the conversation stands under headings of its own; all else was found.
        let (mut is_kept, mut told) = (false, Vec::new());
        for line in inside.lines() {
            let heading = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
            match heading {
                Some(heading) => {
                    is_kept = tables::KEPT.iter().any(|word| heading.contains(word));
                }
                None if is_kept => told.push(clean(line.trim_start_matches(['-', ' ']))),
                None => self.data.extend([line, "\n"]),
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
        let before = words::content(before).into_iter().filter(|word| !now.contains(word));
        let before: Vec<_> = before.map(|word| word.text).collect();
        match before.is_empty() {
            true => self.question.clone(),
            false => format!("{}{GOES_ON}{}", before.join(" "), self.question),
        }
    }
}

/// Whether a prompt asks for calls of tools, or for delegations, by the form that it shows.
fn asks_for(prompt: &str) -> Option<bool> {
    let labelled = |labels: &[&str]| {
        prompt.lines().any(|line| {
            let line = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            let rests = labels.iter().filter_map(|label| line.strip_prefix(label));
            rests.into_iter().any(|rest| rest.trim_start().starts_with([':', '：']))
        })
    };
    let delegates = labelled(&["delegate", "위임"]).then_some(false);
    labelled(&["action", "행동"]).then_some(true).or(delegates)
}

/// Whether a question is but a word of one: `서울은?`, `늦으면?`.
fn is_fragment(question: &str) -> bool {
    let said = question.trim_end_matches(['?', '？', ' ']);
    let is_short = !said.contains(' ') && said.chars().count() <= LONGEST_FRAGMENT;
    is_short && said.len() < question.len() && said.ends_with(['은', '는', '면'])
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
        parameters: listed::parameters(tool.schema(), tool.schema()),
    };
    let only = if let ToolChoice::Tool(name) = &request.tool_choice { Some(name) } else { None };
    let may_call = |tool: &&ToolSpec| only.is_none_or(|only| tool.name() == only);
    request.tools.iter().filter(may_call).map(listed).collect()
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

fn heard(message: &Message) -> Heard {
    let whole = message.text();
    let (text, pieces) = without_data(&whole);
    let text = text.trim();
    let observed = |text: &str| {
        let inside = pieces.iter().map(|piece| piece.inside.as_str());
        let all = std::iter::once(text.trim()).chain(inside).filter(|text| !text.is_empty());
        Heard::Observed(all.collect::<Vec<_>>().join("\n"))
    };
    match message.role() {
        Role::System if !pieces.is_empty() => Heard::Data(pieces),
        Role::System => Heard::Other,
        Role::Tool => observed(text),
        Role::Assistant => bracketed(&whole).map_or(Heard::Other, |(agent, said)| {
            Heard::Output(agent.to_owned(), said.trim().to_owned())
        }),
        Role::User => match labelled(text, &["Observation", "관찰"]) {
            Some(text) => observed(text),
            None if !pieces.is_empty() => Heard::Data(pieces),
            None => labelled(text, &["맡은 일", "작업", "Task"])
                .map_or_else(|| Heard::Asked(clean(text)), |task| Heard::Task(clean(task))),
        },
    }
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
    line.trim_start_matches(|c: char| !c.is_alphabetic())
        .trim_end_matches(|c: char| !c.is_alphanumeric())
}

/// What an agent gave, behind what it was asked.
fn result(inside: &str) -> &str {
    let starts = ["결과:", "result:", "Result:"].iter().filter_map(|label| {
        let at =
            if inside.starts_with(label) { 0 } else { inside.find(&format!("\n{label}"))? + 1 };
        Some(at + label.len())
    });
    starts.min().and_then(|at| inside.get(at..)).unwrap_or(inside).trim()
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
    let (mut from, mut rest) = (0, text);
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
