//! The part of a text that answers a question.

use crate::offline::{
    amounts::{self, counted, is_answer},
    intent::{self, Intent},
    passages::{self, Kind, Passage, Unit, passages},
    reckon, tables,
    words::{Held, Word, content, coverage, small, words},
};

/// What a text has about a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// What answers it.
    Answer(Vec<Quote>),
    /// What does not answer it, and stands nearest to it, under what it stands.
    Near { under: String, quote: Quote },
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

/// The weighted share of the question that a passage has at least to be its answer: one whose heading has a word of it whole, one
/// whose heading has some of it, and one of whose sentences has it alone. Measured by the examples' questions, with their texts and without.
const SURE_OF_TOPIC: f32 = 0.54;
const SURE_UNDER_HEADING: f32 = 0.62;
const SURE_ALONE: f32 = 0.85;

/// How far ahead of the next one an answer is, and one under a heading that has nothing of the question.
const AHEAD: f32 = 0.16;
const AHEAD_ALONE: f32 = 0.5;

/// The share of the question from which a heading has some of it.
const SOME: f32 = 0.15;

/// The share that a passage has at least out of which something is calculated.
const REMOTE: f32 = 0.2;

/// What a word of the question before counts for.
const EARLIER: f32 = 0.5;

/// A passage that has less of the question is not near: something stands nearest to every question.
const LEAST_NEAR: f32 = 0.12;

/// What words count for that stand for anything: money, people.
const VAGUE: f32 = 0.4;

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
        let day = reckon::day(question, text);
        let is_beside = day.is_none() && is_beside(question, text);
        return match whole(text, SHORT) {
            Found::Answer(mut quotes) if is_beside => {
                let near = |quote| Found::Near { under: String::new(), quote };
                quotes.pop().map_or(Found::Nothing, near)
            }
            Found::Answer(mut quotes) => {
                let first = quotes.iter_mut().take(1);
                first.for_each(|it| it.lines.splice(0..0, day.clone()).for_each(drop));
                Found::Answer(quotes)
            }
            found => found,
        };
    }
    let held: Vec<Held> = passages.iter().map(held).collect();
    let weights = weights(&asked, &passages);
    let mut ranked: Vec<Ranked<'_>> = passages
        .iter()
        .zip(&held)
        .enumerate()
        .map(|(at, (passage, held))| {
            let place = PLACES.get(at).copied().unwrap_or_default();
            let fit = fit(question, &asked, &weights, passage, held) + place;
            Ranked { fit, passage, held, covered: weighted(&asked, &weights, held) }
        })
        .collect();
    ranked.sort_by(|a, b| b.fit.total_cmp(&a.fit));
    // Who names another one's heading asks for that: 재택근무는 언제 신청해?
    let named = heading_asked_for(&asked, &ranked);
    named.and_then(|at| ranked.get_mut(..=at)).into_iter().for_each(|to| to.rotate_right(1));
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
        let (lines, line) = lines(question, &asked, it.passage);
        let follows = |line| reckon::follows(question, line, &around(it.passage), text);
        reckon::sum(question, &lines).or(line.and_then(follows)).is_some()
    };
    let is_near = |it: &&Ranked<'_>| it.covered >= REMOTE.max(best.covered * 0.6);
    // Another passage than the best one has to have what is counted.
    let counts = if reckon::has_count(question) { ranked.len() } else { 1 };
    if let Some(it) = ranked.iter().take(counts).filter(is_near).find(reckons) {
        return Found::Answer(vec![quote(it.passage)]);
    }
    let ahead = others.first().map_or(f32::INFINITY, |other| best.fit - other.fit);
    let ahead = named.map_or(ahead, |_| AHEAD);
    let is_answer = match searched {
        true => is_sure(question, &asked, &weights, best, ahead),
        false => !is_beside(question, text),
    };
    if is_answer {
        return Found::Answer(vec![quote(best.passage)]);
    }
    // What was found by its meaning may have no word of the question.
    let is_meant =
        tables::MEANT.iter().any(|words| text.lines().next().is_some_and(|it| it.contains(words)));
    if (best.covered <= LEAST_NEAR && !is_meant) || tables::is_outside(question) {
        return Found::Nothing;
    }
    let (_, line) = lines(question, &asked, best.passage);
    let all = around(best.passage);
    let follows = line.and_then(|line| reckon::follows(question, line, &all, text));
    near(best.passage, follows)
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

/// Whether what a tool gave is not what `question` asks for: it has other numbers, or a directory's entries do not say that of anybody.
fn is_beside(question: &str, text: &str) -> bool {
    let (intent, held) = (Intent::of(question), Held::of(text));
    let of_entries = |kind| intent.weight(kind) > intent.weight(intent::Kind::Documents);
    let is_directory = [intent::Kind::People, intent::Kind::Rooms].into_iter().any(of_entries);
    let is_known = |word: &Word| held.share(word) > 0.0 || intent::is_cue(&word.stem);
    reckon::is_beside(question, text)
        || is_directory
            && text.lines().any(|line| passages::source(line).is_some())
            && !content(question).iter().all(is_known)
}

/// Whether a passage that is so far `ahead` is the answer, and not only near.
fn is_sure(question: &str, asked: &[Word], weights: &[f32], it: &Ranked<'_>, ahead: f32) -> bool {
    let (units, all, held) = (&it.passage.units, around(it.passage), it.held);
    // Whoever asks for an amount is not answered without one, and who counts something not by what counts something else.
    let lacks = amounts::is_asked(question) && !has_answer(question, it.passage);
    if lacks || reckon::counts_otherwise(question, &all) || reckon::is_uncalculated(question, &all)
    {
        return false;
    }
    let topic = Held::of(last(&it.passage.heading));
    let is_topic = |word: &Word| topic.share(word) >= 0.95;
    // What a question is about stands in its answer, and which of them: 프린터 비밀번호.
    let lacking = |word: &Word| !word.is_earlier && held.share(word) == 0.0;
    let is_about = |word: &Word| word.text.ends_with(['은', '는']) && lacking(word);
    let is_other = |pair: &[Word]| {
        let [which, what] = pair else { return false };
        let is_vague = tables::VAGUE.contains(&which.stem.as_str());
        !is_vague && which.text == which.stem && lacking(which) && is_topic(what)
    };
    if asked.iter().any(is_about) || asked.windows(2).any(is_other) {
        return false;
    }
    // An item says what it says under the sentence that leads to it.
    let lead =
        units.iter().enumerate().find(|(at, it)| it.kind == Kind::Sentence && leads(units, *at));
    let has_all = |unit: &Unit| {
        let mut held = Held::of(&unit.text);
        lead.filter(|_| unit.kind != Kind::Sentence).iter().for_each(|(_, it)| held.add(&it.text));
        weighted(asked, weights, &held) >= SURE_ALONE
    };
    match weighted(asked, weights, &topic) {
        share if share >= SURE_ALONE => true,
        _ if ahead < AHEAD => false,
        _ if asked.iter().any(is_topic) => it.covered >= SURE_OF_TOPIC,
        share if share >= SOME => it.covered >= SURE_UNDER_HEADING,
        _ => ahead >= AHEAD_ALONE && units.iter().any(has_all),
    }
}

/// The place of a passage under a heading that the question names, where the first has nothing of that.
fn heading_asked_for(asked: &[Word], ranked: &[Ranked<'_>]) -> Option<usize> {
    let first = ranked.first()?.held;
    let is_new = |word: &&Word| !word.is_earlier && first.share(word) < 0.5;
    let has = |it: &Ranked<'_>, word| Held::of(last(&it.passage.heading)).share(word) >= 0.95;
    asked.iter().filter(is_new).find_map(|word| ranked.iter().position(|it| has(it, word)))
}

/// A passage, how well it fits, and how much of the question it has.
struct Ranked<'p> {
    fit: f32,
    passage: &'p Passage,
    held: &'p Held,
    covered: f32,
}

/// All that a passage says.
fn around(passage: &Passage) -> String {
    passage.units.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// All of a passage that is no answer and the nearest there is.
fn near(passage: &Passage, follows: Option<String>) -> Found {
    let mut fits = begins_within(MOST_CHARS);
    let units = passage.units.iter().take_while(|unit| fits(&unit.text));
    let lines = units.map(shown).chain(follows).collect();
    let under = last(&passage.heading).trim().to_owned();
    Found::Near { under, quote: Quote { lines, source: passage.source.clone() } }
}

/// Whether a text is one list, of which a question may want only some.
fn is_list(passages: &[Passage]) -> bool {
    let mut units = passages.iter().flat_map(|passage| &passage.units);
    units.clone().count() > 3 && units.all(|unit| unit.kind == Kind::Item)
}

/// The first lines of a text, of at most about `most` characters.
pub(crate) fn whole(text: &str, most: usize) -> Found {
    let source = text.lines().find_map(passages::source);
    let mut fits = begins_within(most);
    let told = text.lines().filter(|line| passages::source(line).is_none());
    let plain = |line: &str| {
        let bare = ["제목:", "내용:"].iter().find_map(|it| line.strip_prefix(it));
        bare.unwrap_or(line).trim().to_owned()
    };
    let lines: Vec<String> = told.take_while(|line| fits(line)).map(plain).collect();
    if lines.is_empty() { Found::Nothing } else { Found::Answer(vec![Quote { lines, source }]) }
}

/// Whether a text begins within so many characters, those before it counted.
fn begins_within(mut room: usize) -> impl FnMut(&str) -> bool {
    move |text| {
        let rest = room.saturating_sub(text.chars().count());
        std::mem::replace(&mut room, rest) > 0
    }
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
    share(held) + 0.5 * best + 0.5 * heading + amount
}

/// Whether a passage has an amount of what is asked for.
fn has_answer(question: &str, passage: &Passage) -> bool {
    passage.units.iter().any(|unit| is_answer(question, &unit.text))
}

/// Two lines of a passage answer alike from this share of the better one on.
const TIED: f32 = 0.99;

/// As long a passage without a list is told whole.
const SHORT_PASSAGE: usize = 260;
/// The sentences, items and rows of a passage that answer, and which of them does best.
fn lines<'p>(
    question: &str,
    asked: &[Word],
    passage: &'p Passage,
) -> (Vec<String>, Option<&'p str>) {
    let scores = scores(question, asked, passage);
    let top = scores.iter().copied().fold(0.0, f32::max);
    let letters: usize = passage.units.iter().map(|unit| unit.text.chars().count()).sum();
    let is_list = passage.units.iter().any(|unit| unit.kind != Kind::Sentence);
    // One sentence alone may have the amount that is asked for.
    let amounts = passage.units.iter().filter(|unit| is_answer(question, &unit.text)).count();
    let is_short = !is_list && letters <= SHORT_PASSAGE && amounts != 1;
    let mut chosen: Vec<bool> = if top < 0.3 || is_short || is_whole(question, asked) {
        vec![true; scores.len()]
    } else if reckon::adds(question) {
        scores.iter().map(|score| *score >= TIED * top).collect()
    } else {
        let units = scores.iter().zip(&passage.units);
        let least = |unit: &Unit| if unit.kind == Kind::Sentence { 0.7 } else { 0.8 };
        units.map(|(score, unit)| *score >= least(unit) * top).collect()
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
    let best = units.clone().rev().max_by(|(_, a), (_, b)| a.total_cmp(b));
    // Of two that are alike and say different amounts none is meant.
    let is_other = |(unit, score): (&Unit, &f32)| {
        let (amount, other) =
            (best.and_then(|(it, _)| reckon::money(&it.text)), reckon::money(&unit.text));
        *score >= TIED * top && amount.is_some() && other.is_some() && amount != other
    };
    let best = best.filter(|_| !units.clone().any(is_other));
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

/// What was said before about what `question` asks, all of it where nothing is named. Statements come before questions.
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
