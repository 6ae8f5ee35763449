//! The part of a text that answers a question.

use crate::{
    amounts::{self, counted, is_answer},
    passages::{self, Kind, Passage, Unit, passages},
    reckon, tables,
    words::{Held, Word, content, coverage, small, words},
};

/// What a text has about a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// What answers it; of two passages that fit alike, both.
    Answer(Vec<Quote>),
    /// What does not answer it, and stands nearest to it, under what it stands.
    Near { under: String, hint: bool, quote: Quote },
    /// The text says itself that there is nothing.
    Said(String),
    /// The text is about something else.
    Nothing,
}

/// Lines of a text, and where they are from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quote {
    pub(crate) lines: Vec<String>,
    pub(crate) source: Option<String>,
}

impl Quote {
    /// A line of no source.
    pub(crate) fn of(line: String) -> Self {
        Self { lines: vec![line], source: None }
    }
}

/// The most characters of an answer out of one text.
const MOST_CHARS: usize = 700;

/// A shorter text is an answer as it is.
const SHORT: usize = 400;

/// A shorter passage is a title.
const TITLE: usize = 60;

/// The weighted share of the question that a passage has at least to be its answer, and one whose heading has a word of it. Measured
/// with the questions of the examples.
const SURE: f32 = 0.62;
const SURE_UNDER_HEADING: f32 = 0.5;

/// The share below which what stands nearest is no answer at all.
const HINT: f32 = 0.5;

/// The share that a passage has at least out of which something is calculated.
const REMOTE: f32 = 0.2;

/// What a word of the question before counts for.
const EARLIER: f32 = 0.5;

/// What a passage loses for a word of the question that another one has in its heading.
const OTHER_TOPIC: f32 = 0.4;

/// A passage that has less of the question is not near.
const LEAST_NEAR: f32 = 0.05;

/// What words count for that stand for anything: money, people.
const VAGUE: f32 = 0.4;

/// Two passages fit alike whose fits are no further apart.
const ALIKE: f32 = 0.16;

/// What a passage is worth by its place in a search's results, beside its words.
const PLACES: [f32; 2] = [0.15, 0.06];

/// Whether a text says of itself that nothing was found.
pub(crate) fn is_nothing(text: &str) -> bool {
    let first = text.trim().lines().next().unwrap_or_default().to_lowercase();
    let begins: String = first.chars().take(160).collect();
    tables::NOTHING.iter().any(|words| begins.contains(words))
}

/// What `text`, which a tool gave, has about `question`.
pub(crate) fn answer(question: &str, text: &str) -> Found {
    let text = text.trim();
    if is_nothing(text) {
        return Found::Said(text.chars().take(SHORT).collect());
    }
    let passages = passages(text);
    let asked = query_words(question, &passages);
    let searched = passages.len() > 1 || passages.iter().any(|passage| !passage.heading.is_empty());
    if !searched && text.chars().count() <= SHORT && !is_list(&passages) {
        let mut found = whole(text, SHORT);
        if let (Found::Answer(quotes), Some(day)) = (&mut found, reckon::day(question, text)) {
            quotes.iter_mut().take(1).for_each(|quote| quote.lines.insert(0, day.clone()));
        }
        return found;
    }
    let held: Vec<Held> = passages.iter().map(held).collect();
    let weights = weights(&asked, &passages);
    let topics: Vec<Held> = passages.iter().map(|it| Held::of(last(&it.heading))).collect();
    let off_topic = |held: &Held| {
        let named = |word: &&Word| {
            let own = Word { also: Vec::new(), ..Word::clone(word) };
            held.share(&own) == 0.0 && topics.iter().any(|topic| topic.share(&own) >= 0.9)
        };
        small(asked.iter().filter(|it| !it.is_earlier).filter(named).count()) * OTHER_TOPIC
    };
    let mut ranked: Vec<Ranked<'_>> = passages
        .iter()
        .zip(&held)
        .enumerate()
        .map(|(at, (passage, held))| {
            let place = PLACES.get(at).copied().unwrap_or_default();
            let fit = fit(question, &asked, &weights, passage, held) + place - off_topic(held);
            Ranked { fit, passage, covered: weighted(&asked, &weights, held) }
        })
        .collect();
    ranked.sort_by(|a, b| b.fit.total_cmp(&a.fit));
    let Some((best, others)) = ranked.split_first() else { return Found::Nothing };
    let quote = |passage: &Passage| {
        let (mut lines, best) = lines(question, &asked, passage);
        let around = around(passage);
        let follows = best.and_then(|line| reckon::follows(question, line, &around, text));
        lines.extend(reckon::sum(question, &lines).or(follows));
        Quote { lines, source: passage.source.clone() }
    };
    // What can be calculated is asked for.
    let reckons = |it: &&Ranked<'_>| {
        let (_, line) = lines(question, &asked, it.passage);
        line.is_some_and(|line| {
            reckon::follows(question, line, &around(it.passage), text).is_some()
        })
    };
    let is_near = |it: &&Ranked<'_>| it.covered >= REMOTE.max(best.covered * 0.6);
    // Another passage than the best one has to have what is counted.
    let counts = if reckon::has_count(question) { ranked.len() } else { 1 };
    if let Some(it) = ranked.iter().take(counts).filter(is_near).find(reckons) {
        return Found::Answer(vec![quote(it.passage)]);
    }
    let topic = Held::of(last(&best.passage.heading));
    let is_topic = asked.iter().any(|word| topic.share(word) >= 0.95);
    let sure = if is_topic { SURE_UNDER_HEADING } else { SURE };
    // Whoever asks for an amount is not answered without one.
    let lacks = amounts::is_asked(question) && !has_answer(question, best.passage);
    let sure = if lacks { f32::INFINITY } else { sure };
    if !searched || best.covered >= sure {
        let alike = |it: &&Ranked<'_>| it.covered >= sure && best.fit - it.fit < ALIKE;
        let others = others.first().filter(alike).filter(|_| searched);
        return Found::Answer(
            std::iter::once(best).chain(others).map(|it| quote(it.passage)).collect(),
        );
    }
    if best.covered <= LEAST_NEAR || tables::is_outside(question) {
        return Found::Nothing;
    }
    let (_, line) = lines(question, &asked, best.passage);
    let all = around(best.passage);
    let follows = line.and_then(|line| reckon::follows(question, line, &all, text));
    near(best.passage, best.covered >= HINT, follows)
}

/// The words that say what is asked for. A count of something need not stand in a text that says what one is.
fn query_words(question: &str, passages: &[Passage]) -> Vec<Word> {
    let texts: Vec<Held> = passages.iter().map(held).collect();
    let is_count = |word: &Word| word.text.starts_with(|c: char| c.is_ascii_digit());
    let is_day = reckon::day_of(question).is_some();
    let stands = |word: &Word| texts.iter().any(|held| held.share(word) > 0.0);
    let (counts, mut words): (Vec<Word>, Vec<Word>) =
        content(question).into_iter().partition(|word| is_count(word) && (is_day || !stands(word)));
    if words.is_empty() {
        words = counts;
    }
    words
}

/// A passage, how well it fits, and how much of the question it has.
struct Ranked<'p> {
    fit: f32,
    passage: &'p Passage,
    covered: f32,
}

/// All that a passage says.
fn around(passage: &Passage) -> String {
    passage.units.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// All of a passage that is no answer and the nearest there is.
fn near(passage: &Passage, hint: bool, follows: Option<String>) -> Found {
    let mut room = MOST_CHARS;
    let fits = |unit: &&Unit| {
        let begun = room > 0;
        room = room.saturating_sub(unit.text.chars().count());
        begun
    };
    let lines = passage.units.iter().take_while(fits).map(shown).chain(follows).collect();
    let quote = Quote { lines, source: passage.source.clone() };
    Found::Near { under: last(&passage.heading).trim().to_owned(), hint, quote }
}

/// Whether a text is one list, of which a question may want only some.
fn is_list(passages: &[Passage]) -> bool {
    let mut units = passages.iter().flat_map(|passage| &passage.units);
    units.clone().count() > 3 && units.all(|unit| unit.kind == Kind::Item)
}

/// The first lines of a text, of at most about `most` characters.
pub(crate) fn whole(text: &str, most: usize) -> Found {
    let named = |line: &&str| passages::source(line).is_some();
    let source = text.lines().find(named).and_then(passages::source);
    let mut room = most;
    let fits = |line: &&str| {
        let begun = room > 0;
        room = room.saturating_sub(line.chars().count());
        begun
    };
    let told = text.lines().filter(|line| !named(line)).take_while(fits);
    let plain = |line: &str| {
        ["제목:", "내용:"]
            .iter()
            .find_map(|it| line.strip_prefix(it))
            .unwrap_or(line)
            .trim()
            .to_owned()
    };
    let lines: Vec<String> = told.map(plain).collect();
    if lines.is_empty() { Found::Nothing } else { Found::Answer(vec![Quote { lines, source }]) }
}

/// The innermost of the headings.
fn last(heading: &str) -> &str {
    heading.rsplit('>').next().unwrap_or(heading)
}

/// What a passage and the name of its source say.
fn held(passage: &Passage) -> Held {
    let mut held = Held::of(&passage.heading);
    held.add(passage.source.as_deref().unwrap_or_default());
    passage.units.iter().for_each(|unit| held.add(&unit.text));
    held
}

/// What each word is worth: more the fewer sentences have it.
fn weights(asked: &[Word], passages: &[Passage]) -> Vec<f32> {
    let units: Vec<Held> = passages
        .iter()
        .flat_map(|passage| &passage.units)
        .map(|unit| Held::of(&unit.text))
        .collect();
    let weight = |word: &Word| {
        let has = units.iter().filter(|held| held.share(word) >= 0.5).count();
        // A longer word says more: 비밀번호 than 변경.
        let letters = if word.stem.contains(' ') { 3 } else { word.stem.chars().count() };
        let length = 1.0 + 0.25 * small(letters.clamp(2, 6) - 2);
        let is_vague = tables::VAGUE.contains(&word.stem.as_str());
        let length = if is_vague { length * VAGUE } else { length };
        let length = if word.is_earlier { length * EARLIER } else { length };
        (1.0 + small(units.len()) / (0.5 + small(has))).ln() * length
    };
    asked.iter().map(weight).collect()
}

/// The share of the question that `held` has, each word by its weight.
fn weighted(asked: &[Word], weights: &[f32], held: &Held) -> f32 {
    let all: f32 = weights.iter().sum::<f32>().max(f32::EPSILON);
    asked.iter().zip(weights).map(|(word, weight)| held.share(word) * weight).sum::<f32>() / all
}

/// How well a passage fits: its share of the question, that of its best sentence, and whether it has what is asked for.
fn fit(question: &str, asked: &[Word], weights: &[f32], passage: &Passage, held: &Held) -> f32 {
    let share = |held: &Held| weighted(asked, weights, held);
    let best = passage.units.iter().map(|unit| share(&Held::of(&unit.text))).fold(0.0, f32::max);
    let heading = share(&Held::of(&passage.heading));
    let amount = match has_answer(question, passage) {
        // Whoever asks for a number of lines wants nothing else.
        true if counted(question).is_some() => 0.5,
        true => 0.25,
        false if amounts::is_asked(question) => -0.15,
        false => 0.0,
    };
    // A title page says what a document is about, and nothing of it.
    let length: usize = passage.units.iter().map(|unit| unit.text.chars().count()).sum();
    let title = if length < TITLE { 0.3 } else { 0.0 };
    share(held) + 0.5 * best + 0.5 * heading + amount - title
}

/// Whether a passage has an amount of what is asked for.
fn has_answer(question: &str, passage: &Passage) -> bool {
    passage.units.iter().any(|unit| is_answer(question, &unit.text))
}

/// As long a passage without a list is told whole.
const SHORT_PASSAGE: usize = 260;
/// The sentences, items and rows of a passage that answer, and which of them does best.
fn lines<'p>(
    question: &str,
    asked: &[Word],
    passage: &'p Passage,
) -> (Vec<String>, Option<&'p str>) {
    let scores = scores(question, asked, passage);
    let best = scores.iter().copied().fold(0.0, f32::max);
    let letters: usize = passage.units.iter().map(|unit| unit.text.chars().count()).sum();
    let is_list = passage.units.iter().any(|unit| unit.kind != Kind::Sentence);
    // One sentence alone may have the amount that is asked for.
    let amounts = passage.units.iter().filter(|unit| is_answer(question, &unit.text)).count();
    let is_short = !is_list && letters <= SHORT_PASSAGE && amounts != 1;
    let mut chosen: Vec<bool> = if best < 0.3 || is_short || is_whole(question, asked) {
        vec![true; scores.len()]
    } else if reckon::adds(question) {
        scores.iter().map(|score| *score >= 0.99 * best).collect()
    } else {
        let units = scores.iter().zip(&passage.units);
        let least = |unit: &Unit| if unit.kind == Kind::Sentence { 0.7 } else { 0.8 };
        units.map(|(score, unit)| *score >= least(unit) * best).collect()
    };
    let texts: Vec<&str> = passage.units.iter().map(|unit| unit.text.as_str()).collect();
    if let Some(at) = reckon::within(question, &texts) {
        chosen = (0..texts.len()).map(|one| one == at).collect();
    }
    complete(&mut chosen, &passage.units);
    lead(&mut chosen, &passage.units);
    within(&scores, &mut chosen, &passage.units);
    let chosen = passage.units.iter().zip(&chosen).filter(|(_, chosen)| **chosen);
    let lines = chosen.map(|(unit, _)| shown(unit)).collect();
    let units = passage.units.iter().zip(&scores);
    let best = units.rev().max_by(|(_, a), (_, b)| a.total_cmp(b));
    (lines, best.map(|(unit, _)| unit.text.as_str()))
}

/// How well each unit answers: what the heading says already counts little.
fn scores(question: &str, asked: &[Word], passage: &Passage) -> Vec<f32> {
    let topic = Held::of(&passage.heading);
    let score = |unit: &Unit| {
        let held = Held::of(&unit.text);
        let words = asked.iter().map(|word| {
            let known = if topic.share(word) >= 0.5 { 0.15 } else { 1.0 };
            let known = if word.is_earlier { known * EARLIER } else { known };
            held.share(word) * known
        });
        let words = words.sum::<f32>();
        if words > 0.0 && is_answer(question, &unit.text) { words + 0.25 } else { words }
    };
    passage.units.iter().map(score).collect()
}

/// Whether all of a subject is asked for.
fn is_whole(question: &str, asked: &[Word]) -> bool {
    let whole =
        asked.iter().any(|word| tables::WHOLE.iter().any(|whole| word.stem.ends_with(whole)));
    !amounts::is_asked(question) && (whole || asked.len() <= 2)
}

/// A paragraph that leads to a list brings the list, an item brings the sentence that leads to it.
fn complete(chosen: &mut [bool], units: &[Unit]) {
    let before = chosen.to_vec();
    let is = |at: usize| before.get(at) == Some(&true);
    for (at, unit) in units.iter().enumerate() {
        let Some(next) = units.get(at + 1) else { continue };
        if unit.kind != Kind::Sentence || next.kind == Kind::Sentence {
            continue;
        }
        let of = |block: usize| {
            units.iter().enumerate().filter(move |(_, unit)| unit.block == block).map(|(at, _)| at)
        };
        if of(next.block).any(is) {
            mark(chosen, of(unit.block).find(|at| leads(units, *at)).unwrap_or(at));
        } else if of(unit.block).any(is) {
            of(next.block).for_each(|item| mark(chosen, item));
        }
    }
}

/// An item of a list within a clause brings the clause that leads to it.
fn lead(chosen: &mut [bool], units: &[Unit]) {
    for at in 0..units.len() {
        if chosen.get(at) != Some(&true) || !units.get(at).is_some_and(|unit| unit.is_deep) {
            continue;
        }
        let is_lead = |it: &usize| {
            units.get(*it).is_some_and(|unit| LEADS.iter().any(|words| unit.text.contains(words)))
        };
        (0..at).rev().find(is_lead).into_iter().for_each(|it| mark(chosen, it));
    }
}

/// What a clause has that leads to items.
const LEADS: [&str; 3] = ["다음 각 호", "다음 각호", "다음과 같"];

/// Whether a sentence announces what follows it.
fn leads(units: &[Unit], at: usize) -> bool {
    let words = ["다음", "아래", "following", "below"];
    units.get(at).is_some_and(|unit| {
        unit.text.ends_with(':') || words.iter().any(|word| unit.text.contains(word))
    })
}

fn mark(chosen: &mut [bool], at: usize) {
    if let Some(chosen) = chosen.get_mut(at) {
        *chosen = true;
    }
}

/// Leaves out what fits least until the answer is short enough.
fn within(scores: &[f32], chosen: &mut [bool], units: &[Unit]) {
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|a, b| {
        let score = |at: &usize| scores.get(*at).copied().unwrap_or_default();
        score(b).total_cmp(&score(a)).then(a.cmp(b))
    });
    let mut room = MOST_CHARS;
    for at in order {
        let length = units.get(at).map_or(0, |unit| unit.text.chars().count());
        let Some(kept) = chosen.get_mut(at).filter(|kept| **kept) else { continue };
        *kept = length <= room || room == MOST_CHARS;
        if *kept {
            room = room.saturating_sub(length);
        }
    }
}

fn shown(unit: &Unit) -> String {
    let text: String = unit.text.chars().take(MOST_CHARS).collect();
    if unit.kind == Kind::Sentence { text } else { format!("- {text}") }
}

/// What was said before about what `question` asks, all of it where nothing is named. What was told comes before what was
/// asked.
pub(crate) fn remembered(question: &str, earlier: &[String]) -> Vec<String> {
    let asked = about(question);
    let told: Vec<&String> = earlier.iter().filter(|text| !is_question(text)).collect();
    let fits = |text: &String| coverage(&asked, &Held::of(text));
    let is_told = told.iter().any(|text| fits(text) > 0.0);
    let among: Vec<&String> = if is_told { told } else { earlier.iter().collect() };
    let best = among.iter().map(|text| fits(text)).fold(0.0, f32::max);
    let mut found: Vec<String> = Vec::new();
    for text in among.into_iter().filter(|text| fits(text) >= 0.8 * best) {
        if !found.contains(text) {
            found.push(text.clone());
        }
    }
    // Of what was told of the same, the newest counts.
    let newest = found.last().and_then(|text| subject(text));
    let (last, older) = (found.len().saturating_sub(1), found.clone());
    for (at, text) in found.iter_mut().enumerate() {
        let same = newest.is_some() && subject(text) == newest;
        match (same && older.len() > 1, at == last) {
            (true, true) => text.push_str(" (가장 최근)"),
            (true, false) => text.push_str(" (전에 하신 말씀)"),
            _ => {}
        }
    }
    found.reverse();
    found
}

/// What somebody tells of: 이름 of `사실 내 이름은 …`.
fn subject(text: &str) -> Option<String> {
    let words = words(text).into_iter().map(|word| word.text.to_lowercase());
    let mut words = words.filter(|word| {
        !tables::FILLERS.contains(&word.as_str()) && !tables::OWN.contains(&word.as_str())
    });
    let marked = words.find(|word| word.ends_with(['은', '는', '이', '가']) || word.is_ascii())?;
    Some(marked.trim_end_matches(['은', '는', '이', '가']).to_owned())
}

/// How much of what `question` asks was told before, from 0 to 1.
pub(crate) fn told(question: &str, earlier: &[String]) -> f32 {
    let asked = about(question);
    let told = earlier.iter().filter(|text| !is_question(text));
    told.map(|text| coverage(&asked, &Held::of(text))).fold(0.0, f32::max)
}

/// The words of a question that are not about the conversation itself.
fn about(question: &str) -> Vec<Word> {
    let said = |word: &Word| {
        !tables::SAID
            .iter()
            .chain(tables::EARLIER.iter())
            .any(|known| word.text.contains(known.trim()))
    };
    content(question).into_iter().filter(said).collect()
}

/// Whether a text asks or orders.
pub(crate) fn is_question(text: &str) -> bool {
    let asks = |word: &Word| tables::ASKING_BEGINS.iter().any(|begin| word.text.starts_with(begin));
    let orders = text.trim_end_matches(['.', '!']);
    let orders = tables::ORDERS.iter().any(|end| orders.ends_with(end));
    orders || text.contains(['?', '？']) || words(text).iter().any(asks)
}
