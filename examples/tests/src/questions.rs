//! Questions as people ask them, each with what its answer has to say and must not say, asked of an example's own graph.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{collections::BTreeMap, fmt};

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Chain, Tenant, ThreadKey};
use hanok_graph::{App, Graph, Outcome, Thread};
use hanok_testkit::sampled;

use kit::{MeaningOptions, Talk, messages};

/// What an answer says that has nothing, or that refuses.
const NOTHING: [&str; 7] = [
    "찾지 못",
    "마치지 못",
    "없습니다",
    "관한 질문에만",
    "알 수 없",
    "othing was found",
    "꺼져 있",
];

/// What an answer says of what only stands near.
const NEAREST: [&str; 2] = ["가장 가까운", "The nearest is"];

/// The meaning that a search is to go by, where `HANOK_TEST_ENCODER` names the folder of an encoder's files.
#[must_use]
pub fn meaning() -> MeaningOptions {
    MeaningOptions { encoder: std::env::var_os("HANOK_TEST_ENCODER").map(Into::into) }
}

/// What kind of question it is. One whose kind ends with `+` goes on in the conversation of the line above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It has words of the text.
    Words,
    /// It is in everyday words, or in English, and has none of the text.
    Everyday,
    /// A date, a sum or a limit that the text does not say, and follows from it.
    Sum,
    /// It goes on from the one before, or begins such a pair.
    Follow,
    /// Somebody tells something, or asks for what they told.
    Statement,
    /// Nothing has an answer to it.
    Scope,
    /// A greeting, thanks, or what can be asked.
    Greet,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its kind.
    pub kind: Kind,
    /// Which of an example's samples it is about, where it has several.
    pub sample: Option<&'static str>,
    /// The question.
    pub text: &'static str,
    /// Of each the answer says one.
    must: Vec<Vec<&'static str>>,
    /// None of these.
    never: Vec<&'static str>,
    /// Whether it goes on in the conversation of the one before.
    follows: bool,
}

/// What came of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Answered rightly, or properly refused.
    Right,
    /// Said to have no answer, and what is named as nearest has it.
    Nearest,
    /// Said to have no answer, though there is one.
    Missed,
    /// Something else, said as if it were the answer.
    Wrong,
}

impl Question {
    /// The questions of `lines`: kind, question, what it has to say (`;` and, `|` or), what it must not. With `samples`, the
    /// sample stands behind the kind.
    ///
    /// # Panics
    ///
    /// A line is of another form.
    #[must_use]
    pub fn all(lines: &'static str, samples: bool) -> Vec<Self> {
        lines
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|it| Self::read(it, samples))
            .collect()
    }

    fn read(line: &'static str, samples: bool) -> Self {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_else(|| panic!("a field is missing: {line}"));
        let kind = next();
        let sample = samples.then(&mut next);
        let (text, must, never) = (next(), next(), next());
        let list = |text: &'static str, by: char| {
            text.split(by).filter(|it| *it != "-").collect::<Vec<_>>()
        };
        Self {
            kind: Kind::named(kind.trim_end_matches('+')),
            sample,
            text,
            must: list(must, ';').into_iter().map(|one| list(one, '|')).collect(),
            never: list(never, ';'),
            follows: kind.ends_with('+'),
        }
    }

    /// What came of it, by its answer.
    #[must_use]
    pub fn verdict(&self, answer: &str) -> Verdict {
        let says = |word: &&str| answer.contains(*word);
        let right =
            self.must.iter().all(|one| one.iter().any(says)) && !self.never.iter().any(says);
        let nearest = NEAREST.iter().any(says);
        let hedges = NOTHING.iter().any(says) || nearest;
        match (right, hedges) {
            (true, _) if nearest && self.kind != Kind::Scope => Verdict::Nearest,
            (true, _) => Verdict::Right,
            (false, true) => Verdict::Missed,
            (false, false) => Verdict::Wrong,
        }
    }
}

impl Kind {
    fn named(name: &str) -> Self {
        match name {
            "words" => Self::Words,
            "everyday" => Self::Everyday,
            "sum" => Self::Sum,
            "follow" => Self::Follow,
            "statement" => Self::Statement,
            "scope" => Self::Scope,
            "greet" => Self::Greet,
            other => panic!("no kind: {other}"),
        }
    }
}

/// An example that can be asked.
#[derive(Debug)]
pub struct House<T: Talk> {
    talk: T,
    app: App<T::State>,
}

impl<T: Talk> House<T> {
    /// The conversation of `talk`, whose graph is `graph`.
    pub fn new(talk: T, graph: &Graph<T::State>) -> Self {
        Self { talk, app: graph.checkpointer(InMemoryCheckpointer::new()) }
    }

    fn thread(&self, number: usize) -> Thread<T::State> {
        let key = ThreadKey::new(Tenant::default(), &format!("question-{number}"));
        self.app.thread(key.unwrap())
    }
}

/// What came of all questions.
#[derive(Debug, Default)]
pub struct Report {
    counts: BTreeMap<Kind, BTreeMap<Verdict, usize>>,
    /// The questions that were not answered rightly, each with its answer.
    pub others: Vec<(Verdict, Question, String)>,
}

impl Report {
    /// How many questions were asked.
    #[must_use]
    pub fn all(&self) -> usize {
        self.counts.values().flat_map(BTreeMap::values).sum()
    }

    /// How many came to `verdict`.
    #[must_use]
    pub fn of(&self, verdict: Verdict) -> usize {
        self.counts.values().filter_map(|counts| counts.get(&verdict)).sum()
    }

    /// The share that was answered rightly, as the nearest too, or properly refused, in hundredths.
    #[must_use]
    pub fn share(&self) -> usize {
        (self.of(Verdict::Right) + self.of(Verdict::Nearest)) * 100 / self.all().max(1)
    }

    /// Prints what was not answered rightly.
    pub fn print_others(&self) {
        for (verdict, question, answer) in &self.others {
            let sample = question.sample.map(|sample| format!(" ({sample})")).unwrap_or_default();
            let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
            println!("{verdict:?} [{:?}]{sample} {}\n    {answer}", question.kind, question.text);
        }
    }

    /// Fails where more than one of twenty was answered wrongly with confidence, and one more. How many are answered is no goal: the
    /// model of rules may say that it has found nothing.
    ///
    /// # Panics
    ///
    /// It is so.
    pub fn is_careful(&self) {
        let wrong = self.of(Verdict::Wrong);
        assert!(wrong <= 1 + self.all() / 20, "{wrong} of {} wrong with confidence", self.all());
    }
}

/// The table by kind.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| kind | asked | right or refused | right as the nearest | said to have none | wrong with confidence |"
        )?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- |")?;
        let verdicts = [Verdict::Right, Verdict::Nearest, Verdict::Missed, Verdict::Wrong];
        for (kind, counts) in &self.counts {
            write!(f, "| {kind:?} | {} |", counts.values().sum::<usize>())?;
            for verdict in verdicts {
                write!(f, " {} |", counts.get(&verdict).copied().unwrap_or_default())?;
            }
            writeln!(f)?;
        }
        write!(f, "| all | {} |", self.all())?;
        verdicts.iter().try_for_each(|verdict| write!(f, " {} |", self.of(*verdict)))?;
        write!(f, "\n{}% right, refused or right as the nearest", self.share())
    }
}

/// Asks every question of `questions` of the house that `house` has for its sample; each conversation is a thread of its own.
///
/// # Panics
///
/// A turn waits for a person.
pub async fn ask<'h, T: Talk + 'h>(
    questions: impl IntoIterator<Item = Question>,
    house: impl Fn(Option<&str>) -> &'h House<T>,
) -> Report {
    let mut report = Report::default();
    let mut thread: Option<Thread<T::State>> = None;
    for (number, question) in questions.into_iter().enumerate() {
        let house = house(question.sample);
        let on = match thread.take().filter(|_| question.follows) {
            Some(thread) => thread,
            None => house.thread(number),
        };
        let answer = match on.invoke(house.talk.ask(question.text), ()).await {
            Ok(Outcome::Done(state)) => {
                let answer = house.talk.ended(&state).answer;
                answer.unwrap_or_else(|| messages::NO_ANSWER.to_owned())
            }
            Ok(_) => panic!("{} waits for a person", question.text),
            Err(error) => {
                let cause = messages::cause(&error).unwrap_or_default();
                format!("{cause} ({})", Chain(&error))
            }
        };
        let verdict = question.verdict(&answer);
        *report.counts.entry(question.kind).or_default().entry(verdict).or_default() += 1;
        if verdict != Verdict::Right {
            report.others.push((verdict, question, answer));
        }
        thread = Some(on);
    }
    report
}

/// Those of `all` that are asked this time: a sample of the conversations, each whole.
#[must_use]
pub fn taken(all: &[Question]) -> Vec<Question> {
    let conversations = all.chunk_by(|_, next| next.follows);
    sampled(conversations).concat()
}

/// About `count` of those that go on from none, evenly taken, for a slow model.
#[must_use]
pub fn sample(questions: Vec<Question>, count: usize) -> Vec<Question> {
    let alone: Vec<Question> = questions.into_iter().filter(|it| !it.follows).collect();
    let step = alone.len().div_ceil(count.max(1)).max(1);
    alone.into_iter().step_by(step).collect()
}
