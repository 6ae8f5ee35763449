//! What a question is about, in the few kinds that agents and tools are for.

use hanok_tools::time_zone_in;

use crate::offline::{
    arithmetic, cues,
    people::{self, Sure},
    reckon, tables,
    words::{Word, content},
};

/// What a question can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Numbers to calculate with.
    Arithmetic,
    /// The time or the date now.
    Clock,
    /// People, and how to reach them.
    People,
    /// Meeting rooms.
    Rooms,
    /// What is written somewhere.
    Documents,
}

pub(crate) const KINDS: [Kind; 5] =
    [Kind::Arithmetic, Kind::Clock, Kind::People, Kind::Rooms, Kind::Documents];

impl Kind {
    /// Words by which a description says that it is for this.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Arithmetic => &cues::FOR_ARITHMETIC,
            Self::Clock => &cues::FOR_CLOCK,
            Self::People => &cues::FOR_PEOPLE,
            Self::Rooms => &cues::ROOMS,
            Self::Documents => &cues::FOR_DOCUMENTS,
        }
    }

    /// What people call it.
    pub(crate) fn name(self, korean: bool) -> &'static str {
        let at = KINDS.iter().position(|kind| *kind == self).unwrap_or_default();
        let names = tables::KINDS.get(at).and_then(|names| names.split_once(':'));
        names.map_or("", |(one, other)| if korean { one } else { other })
    }

    /// How much a description is about this, from 0 to 1.
    pub(crate) fn in_text(self, description: &str) -> f32 {
        let text = description.to_lowercase();
        let found = self.words().iter().filter(|word| has(&text, word)).count();
        match found {
            0 => 0.0,
            1 => 0.8,
            _ => 1.0,
        }
    }
}

/// Whether `text` has `word`; a Latin one at the beginning of a word, a short one as a whole word.
pub(crate) fn has(text: &str, word: &str) -> bool {
    if !word.is_ascii() || word.contains(' ') {
        return text.contains(word);
    }
    let mut runs = text.split(|c: char| !c.is_ascii_alphanumeric());
    runs.any(|run| if word.len() <= 4 { run == word } else { run.starts_with(word) })
}

/// How strongly a question is about each kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Intent {
    arithmetic: f32,
    clock: f32,
    people: f32,
    rooms: f32,
    documents: f32,
}

impl Intent {
    pub(crate) fn of(question: &str) -> Self {
        let lower = question.to_lowercase();
        Self {
            arithmetic: arithmetic(question, &lower),
            clock: clock(question, &lower),
            people: people(question, &lower),
            rooms: if any(&lower, &cues::ROOMS) { 4.2 } else { 0.0 },
            // Where nothing speaks for another kind, it is written somewhere.
            documents: 2.0 + if any(&lower, &cues::WRITTEN) { 1.0 } else { 0.0 },
        }
    }

    pub(crate) fn weight(self, kind: Kind) -> f32 {
        match kind {
            Kind::Arithmetic => self.arithmetic,
            Kind::Clock => self.clock,
            Kind::People => self.people,
            Kind::Rooms => self.rooms,
            Kind::Documents => self.documents,
        }
    }
}

/// Whether a word of a question, without its endings, says of which kind that is, or is a number.
pub(crate) fn is_cue(stem: &str) -> bool {
    let lists =
        [&cues::ROOMS, &cues::CONTACT, &cues::BELONGS, &cues::MEMBERS, &cues::LEAVE, &cues::LEFT];
    let is = |cue: &&str| cue.contains(stem) || stem.contains(cue);
    stem.starts_with(|c: char| c.is_ascii_digit()) || lists.iter().any(|list| list.iter().any(is))
}

fn any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| has(text, word))
}

fn arithmetic(question: &str, lower: &str) -> f32 {
    match arithmetic::expression(question) {
        Some(_) => 6.0,
        None if any(lower, &cues::CALCULATE) => 2.5,
        None => 0.0,
    }
}

/// The hour in general is written somewhere; the hour now is not.
fn clock(question: &str, lower: &str) -> f32 {
    let words = content(question).len();
    let plain = words <= 4 && !any(lower, &cues::PLANS);
    let asks_hour = any(lower, &cues::HOUR) || lower.contains("시간") && words <= 2;
    if time_zone_in(question).is_some() && asks_hour {
        return 5.0;
    }
    // How far a day is, and which one of the week.
    if reckon::day_of(question).is_some() && any(lower, &cues::OF_DAY) && words <= 4 {
        return 5.0;
    }
    match any(lower, &cues::NOW) {
        true if plain && any(lower, &cues::TIME) => 5.0,
        false if plain && any(lower, &cues::WEEKDAY) => 3.0,
        false if words == 0 && any(lower, &cues::HOUR) => 5.0,
        _ => 0.0,
    }
}

/// What is asked of a person's own, or of how to reach them.
fn people(question: &str, lower: &str) -> f32 {
    let leave = any(lower, &cues::LEAVE);
    let balance = leave && any(lower, &cues::LEFT);
    let contact = any(lower, &cues::CONTACT);
    let personal = contact || balance || any(lower, &cues::BELONGS);
    let name = match people::named(question).map(|named| named.sure) {
        Some(Sure::Titled) => 3.5,
        Some(_) if personal => 4.5,
        Some(Sure::Likely) if leave => 4.5,
        Some(Sure::Likely) if content(question).len() <= 2 && !any(lower, &cues::FACTS) => 2.6,
        _ => 0.0,
    };
    let padded = format!(" {lower}");
    let own = cues::MINE.iter().any(|word| padded.contains(word));
    let team = people::team(question).is_some() && any(lower, &cues::MEMBERS);
    let cues = [(contact, 2.2), (team, 4.0), (balance && own, 4.0), (balance, 0.5)];
    cues.iter().filter(|(is, _)| *is).fold(name, |most: f32, (_, weight)| most.max(*weight))
}

/// How well what `description` says fits the question.
pub(crate) fn fit(intent: Intent, question: &[Word], description: &str) -> f32 {
    let shared =
        crate::offline::words::coverage(question, &crate::offline::words::Held::of(description));
    let of = |kind: Kind| intent.weight(kind) * kind.in_text(description);
    let known = KINDS.iter().map(|kind| of(*kind)).fold(0.0, f32::max);
    let none = KINDS.iter().all(|kind| kind.in_text(description) == 0.0);
    // What is for something else again is known by its words alone.
    known + shared * if none { 5.0 } else { 1.0 }
}
