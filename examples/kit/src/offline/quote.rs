//! The part of a text that answers a question.
//!
//! It is quoted as an answer only where the passage has every word that the question asks with, and a number where one is asked for.
//! What has a good part of them is shown as the nearest. All else is not there.

use std::collections::BTreeSet;

use crate::offline::{
    passages::{self, Passage, Unit, passages},
    tables,
    words::{Held, Word, content, coverage, small, words},
};

/// What came of one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Finding {
    /// What answers it.
    Found(Quote),
    /// What may not answer it, and stands nearest to it, under what it stands.
    Near { under: String, quote: Quote },
    /// In the words of a tool or an agent: an answer, a failure, or that there is nothing.
    Said(String),
    /// Nothing is about it.
    Nothing { question: String },
    /// No tool is for this.
    NoTool,
    /// The question does not say what the tool needs.
    Missing { tool: String, parameter: String },
}

/// Lines of a text, and where they are from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Quote {
    pub(crate) lines: Vec<String>,
    pub(crate) source: Option<String>,
}

/// The most characters of an answer out of one text; a shorter text without headings is an answer as it is.
const MOST_CHARS: usize = 700;
const SHORT: usize = 400;

/// As long a passage without a list is told whole.
const SHORT_PASSAGE: usize = 260;

/// The share of a word, or of what texts say instead, that a passage has at least to have it.
const HAS: f32 = 0.55;

/// The share of the question that a passage has at least to be near: something stands nearest to every question.
const LEAST_NEAR: f32 = 0.3;

/// What a passage is worth by its place in a search's results, beside its words.
const PLACES: [f32; 2] = [0.15, 0.06];

/// The share of the best line's words from which another one answers as well.
const AS_WELL: f32 = 0.7;

/// Whether a text says of itself that nothing was found.
pub(crate) fn is_nothing(text: &str) -> bool {
    let first = text.trim().lines().next().unwrap_or_default().to_lowercase();
    let begins: String = first.chars().take(160).collect();
    tables::NOTHING.iter().any(|words| begins.contains(words))
}

/// What `text`, which a tool gave, has about `question`.
pub(crate) fn answer(question: &str, text: &str) -> Finding {
    let nothing = || Finding::Nothing { question: question.to_owned() };
    let text = text.trim();
    if is_nothing(text) {
        return Finding::Said(text.chars().take(SHORT).collect());
    }
    let passages = passages(text);
    let is_plain = passages.len() <= 1 && passages.iter().all(|it| it.heading.is_empty());
    if is_plain && text.chars().count() <= SHORT {
        let Some(mut quote) = whole(text, SHORT) else { return nothing() };
        // What has a source was looked up, and is of what was asked for where it has the words.
        let held = Held::of(text);
        let is_known = |word: &Word| held.share(word) > 0.0 || is_cue(&word.stem);
        // A clock says what time it is, and not what it will be in three hours.
        let is_clock = text.get(10..11) == Some("T") && text.get(..4).is_some_and(is_year);
        let is_of_now = !is_clock || !question.contains(|c: char| c.is_ascii_digit());
        let is_found = quote.source.is_none() || content(question).iter().all(is_known);
        only(&mut quote.lines, &content(question));
        return match is_of_now && is_found {
            true => Finding::Found(quote),
            false => Finding::Near { under: String::new(), quote },
        };
    }
    let asked = asked(question);
    let held: Vec<Held> = passages.iter().map(held).collect();
    let weights = weights(&asked, &held);
    let fit = |(at, (passage, held)): (usize, (&Passage, &Held))| {
        let units = passage.units.iter().map(|unit| weighted(&asked, &weights, &unit_of(unit)));
        let (best, heading) = (units.fold(0.0, f32::max), Held::of(&passage.heading));
        let place = PLACES.get(at).copied().unwrap_or_default();
        weighted(&asked, &weights, held)
            + 0.5 * (best + weighted(&asked, &weights, &heading))
            + place
    };
    let fits = passages.iter().zip(&held).enumerate().map(|it| (it.0, fit(it)));
    let best = fits.rev().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at);
    let Some((passage, held)) = best.and_then(|at| passages.get(at).zip(held.get(at))) else {
        return nothing();
    };
    let units = units(question);
    let has_number = units
        .as_ref()
        .is_none_or(|units| passage.units.iter().any(|unit| has_number(&unit.text, units)));
    // What is done with it, the last word says: verbs have too many ends to be compared.
    let said = question.trim_end_matches(|c: char| !c.is_alphanumeric());
    let verb = said.split_whitespace().next_back().unwrap_or_default();
    let asked_for: Vec<&Word> =
        asked.iter().filter(|word| !is_vague(word) && !word.is_earlier).collect();
    let is_needed = |word: &&&Word| asked_for.len() == 1 || word.text != verb;
    let has_all = asked_for.iter().filter(is_needed).all(|word| held.share(word) >= HAS);
    let under = passage.heading.rsplit('>').next().unwrap_or_default().trim().to_owned();
    let topic = Held::of(&under);
    let is_topic = asked_for.iter().any(|word| topic.has(&word.stem) >= HAS);
    let quote = Quote { lines: lines(question, &asked, passage), source: passage.source.clone() };
    // Under another heading, only what stands there word for word.
    let told = Held::of(&quote.lines.join(" "));
    let is_said = asked_for.len() > 1 && asked_for.iter().all(|it| told.has(&it.stem) >= HAS);
    let is_sure = has_all && has_number && (is_topic || is_said);
    if is_sure {
        return Finding::Found(quote);
    }
    // What was found by its meaning may have no word of the question.
    let first = text.lines().next().unwrap_or_default();
    let is_meant = tables::MEANT.iter().any(|words| first.contains(words));
    if weighted(&asked, &weights, held) < LEAST_NEAR && !is_meant || tables::is_outside(question) {
        return nothing();
    }
    Finding::Near { under, quote }
}

/// The words that say what is asked for. A unit that is asked for stands behind a number.
fn asked(question: &str) -> Vec<Word> {
    let behind = question.split_once("몇 ").map_or("", |(_, behind)| behind);
    let unit = behind.split_whitespace().next().unwrap_or_default();
    let unit = unit.trim_end_matches(|c: char| !c.is_alphanumeric());
    content(question).into_iter().filter(|word| word.text != unit).collect()
}

/// The first lines of a text, of at most about `most` characters.
pub(crate) fn whole(text: &str, most: usize) -> Option<Quote> {
    let source = text.lines().find_map(passages::source);
    let mut fits = begins_within(most);
    let told = text.lines().filter(|line| passages::source(line).is_none());
    let plain = |line: &str| {
        let bare = ["제목:", "내용:"].iter().find_map(|it| line.strip_prefix(it));
        bare.unwrap_or(line).trim().to_owned()
    };
    let lines: Vec<String> = told.take_while(|line| fits(line)).map(plain).collect();
    (!lines.is_empty()).then_some(Quote { lines, source })
}

/// Whether a text begins within so many characters, those before it counted.
fn begins_within(mut room: usize) -> impl FnMut(&str) -> bool {
    move |text| {
        let rest = room.saturating_sub(text.chars().count());
        std::mem::replace(&mut room, rest) > 0
    }
}

/// Leaves of the items of a list those that have all the words of the question that any of them has: of five rooms that on the fifth floor.
fn only(lines: &mut Vec<String>, asked: &[Word]) {
    let is_item = |line: &&String| line.starts_with("- ");
    let held = |line: &String| Held::of(line);
    let items: Vec<Held> = lines.iter().filter(is_item).map(held).collect();
    let asked = asked.iter().filter(|word| items.iter().any(|it| it.has(&word.stem) >= 1.0));
    let asked: Vec<&Word> = asked.collect();
    let has_all = |held: &Held| asked.iter().all(|word| held.has(&word.stem) >= 1.0);
    if items.iter().any(has_all) {
        lines.retain(|line| !is_item(&line) || has_all(&Held::of(line)));
    }
}

fn is_year(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

/// Whether a word says of whom or of what something is looked up, and need not stand in what was found.
fn is_cue(stem: &str) -> bool {
    let lists = [&tables::CONTACT, &tables::MEMBERS, &tables::LEAVE, &tables::LEFT, &tables::ROOMS];
    let is_of = |cue: &&str| cue.contains(stem) || stem.contains(cue);
    stem.starts_with(|c: char| c.is_ascii_digit()) || lists.iter().any(|it| it.iter().any(is_of))
}

/// Whether a word stands for nearly anything, or only says that all of a subject is asked for.
fn is_vague(word: &Word) -> bool {
    [&tables::VAGUE, &tables::WHOLE].iter().any(|list| list.contains(&word.stem.as_str()))
}

fn is_of_whole(word: &Word) -> bool {
    tables::WHOLE.iter().any(|end| word.stem.ends_with(end))
}

/// What a passage and the name of its source say.
fn held(passage: &Passage) -> Held {
    let mut held = Held::of(&passage.heading);
    held.add(passage.source.as_deref().unwrap_or_default());
    passage.units.iter().for_each(|unit| held.add(&unit.text));
    held
}

fn unit_of(unit: &Unit) -> Held {
    Held::of(&unit.text)
}

/// What each word is worth: more the fewer passages have it, and more where the question is about it. `보수 기간은` is about both words.
fn weights(asked: &[Word], held: &[Held]) -> Vec<f32> {
    let weight = |(at, word): (usize, &Word)| {
        let has = held.iter().filter(|held| held.share(word) >= HAS).count();
        let before = at.checked_sub(1).and_then(|at| asked.get(at));
        let worth = match () {
            () if is_vague(word) || word.is_earlier => 0.4,
            () if before.is_some_and(|before| before.text == before.stem) => 1.0,
            () if word.text.ends_with(['은', '는']) => 1.5,
            () => 1.0,
        };
        (1.0 + small(held.len()) / (0.5 + small(has.max(1)))).ln() * worth
    };
    asked.iter().enumerate().map(weight).collect()
}

/// The share of the question that `held` has, each word by its weight.
fn weighted(asked: &[Word], weights: &[f32], held: &Held) -> f32 {
    let all: f32 = weights.iter().sum::<f32>().max(f32::EPSILON);
    asked.iter().zip(weights).map(|(word, weight)| held.share(word) * weight).sum::<f32>() / all
}

/// The units of the number that a question asks for, if it does: of `며칠` days, months and the like, of `몇 초` that word.
fn units(question: &str) -> Option<Vec<String>> {
    let lower = question.to_lowercase();
    let counted = lower.split_once("몇 ").and_then(|(_, behind)| words(behind).into_iter().next());
    if let Some(counted) = counted {
        let particle = tables::PARTICLES.iter().find_map(|end| counted.stem.strip_suffix(end));
        let unit = particle.filter(|unit| !unit.is_empty()).unwrap_or(&counted.stem);
        return Some(vec![unit.to_owned()]);
    }
    let mut numbers = tables::pairs(&tables::NUMBERS);
    let asks = |(asks, _): &(&str, &str)| asks.split('/').any(|ask| lower.contains(ask));
    numbers.find(asks).map(|(_, units)| units.split('/').map(str::to_owned).collect())
}

/// Whether a text has a number of one of these units.
fn has_number(text: &str, units: &[String]) -> bool {
    let is_digit =
        |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '만' | '천' | '억' | '백');
    let is_of = |behind: &str| units.iter().any(|unit| behind.trim_start().starts_with(unit));
    let mut numbers = text.char_indices().filter(|(_, c)| c.is_ascii_digit());
    let behind = |at: usize| text.get(at..).map(|rest| rest.trim_start_matches(is_digit));
    numbers.any(|(at, _)| behind(at).is_some_and(is_of))
        || tables::AMOUNTS.iter().any(|word| text.contains(word))
}

/// The sentences, items and rows of a passage that answer.
fn lines(question: &str, asked: &[Word], passage: &Passage) -> Vec<String> {
    let number = units(question);
    let (units, topic) = (&passage.units, Held::of(&passage.heading));
    let numbered = number.is_some();
    let is_numbered =
        |unit: &Unit| number.as_ref().is_some_and(|number| has_number(&unit.text, number));
    let has_numbered = units.iter().any(is_numbered);
    let score = |unit: &Unit| {
        let held = unit_of(unit);
        // What the heading says already counts little.
        let known = |word| if topic.share(word) >= HAS { 0.15 } else { 1.0 };
        let score: f32 = asked.iter().map(|word| held.share(word) * known(word)).sum();
        // Where a number is asked for, a line without one says little.
        match is_numbered(unit) {
            true if score > 0.0 => score + 0.25,
            false if has_numbered => score * 0.3,
            _ => score,
        }
    };
    let scores: Vec<f32> = units.iter().map(score).collect();
    let top = scores.iter().copied().fold(0.0, f32::max);
    let letters: usize = units.iter().map(|unit| unit.text.chars().count()).sum();
    let is_short = letters <= SHORT_PASSAGE && units.iter().all(|unit| !unit.is_item);
    let all = top < 0.3
        || is_short && !numbered
        || !numbered && (asked.len() <= 2 || asked.iter().any(is_of_whole));
    let mut chosen: Vec<bool> = scores.iter().map(|score| all || *score >= AS_WELL * top).collect();
    // An item brings the sentence that leads to its list, and that sentence all of the list, unless items of it are chosen.
    let (own, leads) = (chosen.clone(), leads(units));
    let is_own = |at: usize| own.get(at) == Some(&true);
    let led = || leads.iter().enumerate().filter_map(|(at, lead)| Some((at, (*lead)?)));
    let of_items: BTreeSet<usize> =
        led().filter(|(at, _)| is_own(*at)).map(|(_, lead)| lead).collect();
    for (at, lead) in led() {
        let is_led = is_own(lead) && !of_items.contains(&lead);
        for (at, is) in [(at, is_led), (lead, is_own(at))] {
            chosen.get_mut(at).into_iter().for_each(|chosen| *chosen |= is);
        }
    }
    let mut fits = begins_within(MOST_CHARS);
    let told = units.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(unit, _)| {
        let text: String = unit.text.chars().take(MOST_CHARS).collect();
        if unit.is_item { format!("- {text}") } else { text }
    });
    told.take_while(|line| fits(line)).collect()
}

/// For each item of a list, the place of the sentence that leads to it.
fn leads(units: &[Unit]) -> Vec<Option<usize>> {
    let (mut lead, mut is_behind) = (None, false);
    let leads = units.iter().enumerate().map(|(at, unit)| {
        if unit.is_item {
            is_behind = true;
            return lead;
        }
        if std::mem::take(&mut is_behind) {
            lead = None;
        }
        let text = &unit.text;
        if text.ends_with(':') || tables::LEADS.iter().any(|word| text.contains(word)) {
            lead = Some(at);
        }
        None
    });
    leads.collect()
}

/// What was said before about what `question` asks, all of it where nothing is named: the newest first. Statements come before questions.
pub(crate) fn remembered(question: &str, earlier: &[String]) -> Vec<String> {
    let asked = about(question);
    let told: Vec<&String> = earlier.iter().filter(|text| !is_question(text)).collect();
    let fits = |text: &String| coverage(&asked, &Held::of(text));
    let is_told = told.iter().any(|text| fits(text) > 0.0);
    // Who asks what was said has said nothing by that.
    let is_new = |text: &&String| !tables::is_about_said(text);
    let among = if is_told { told } else { earlier.iter().filter(is_new).collect() };
    let best = among.iter().map(|text| fits(text)).fold(0.0, f32::max);
    let mut found: Vec<String> = Vec::new();
    for text in among.into_iter().rev().filter(|text| fits(text) >= 0.8 * best) {
        if !found.contains(text) {
            found.push(text.clone());
        }
    }
    found
}

/// How much of what `question` asks was told before, from 0 to 1.
pub(crate) fn told(question: &str, earlier: &[String]) -> f32 {
    let asked = about(question);
    let told = earlier.iter().filter(|text| !is_question(text));
    told.map(|text| coverage(&asked, &Held::of(text))).fold(0.0, f32::max)
}

/// The words of a question that are not about the conversation itself.
fn about(question: &str) -> Vec<Word> {
    let known = || tables::SAID.iter().chain(tables::EARLIER.iter());
    let said = |word: &Word| !known().any(|known| word.text.contains(known.trim()));
    content(question).into_iter().filter(said).collect()
}

/// Whether a text asks or orders.
pub(crate) fn is_question(text: &str) -> bool {
    let asks = |word: &str| tables::ASKING_BEGINS.iter().any(|begin| word.starts_with(begin));
    let said = text.trim_end_matches(['.', '!']);
    text.contains(['?', '？'])
        || tables::ORDERS.iter().any(|end| said.ends_with(end))
        || text.split_whitespace().any(asks)
}
