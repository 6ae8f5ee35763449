//! Reads the figures of texts and of JSON values.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use hanok_figures::{AmountUnit, Article, Number, evaluate};
use serde_json::{Map, Value as Json};

use crate::claim::{Claim, Day, Value, claims};
use crate::facts;
use crate::law::Law;
use crate::sources::{ArticleFact, Facts, Source};
use crate::unit::{self, DataUnit};

/// The keys under which the name of a law stands.
const LAWS: &[&str] = &["law", "law_name", "lawname", "statute", "법", "법령", "법령명", "법률"];

/// The keys beside a value under which its unit stands.
const UNITS: &[&str] = &["unit", "currency", "단위"];

/// The keys of the number of an article.
const ARTICLES: &[&str] = &["article", "article_no", "article_number", "조", "조문", "조번호"];

/// The keys of its branch: 2 of 제7조의2.
const BRANCHES: &[&str] = &["branch", "article_branch", "조가지번호", "가지번호"];

/// The keys of its paragraph.
const PARAGRAPHS: &[&str] = &["paragraph", "항", "항번호"];

/// Adds the figures of a text of `source`. An article whose law is not named in the text is one of `law`.
pub(crate) fn text(facts: &mut Facts, text: &str, source: &Source, law: Option<&Law>) {
    let claims = claims(text);
    if claims.is_empty() {
        return;
    }
    let source = facts.source(source.clone());
    for (at, claim) in claims.iter().enumerate() {
        let behind = || {
            let is_article = |claim: &&Claim| matches!(claim.value, Value::Article { .. });
            let next = claims.iter().skip(at + 1).take(64).find(is_article);
            let end = next.map_or(text.len(), |next| next.at.start);
            text.get(claim.at.end..end).unwrap_or_default()
        };
        match &claim.value {
            Value::Amount { value, unit, .. } => facts.amount(value, *unit, source),
            Value::Date(day) => facts.days.push((*day, source)),
            Value::Unread(piece) => {
                facts.unread.entry(piece.clone()).or_insert(source);
            }
            Value::Article { article, law: named } => {
                let law = named.clone().or_else(|| law.cloned());
                let (mut paragraphs, mut items) = parts(behind());
                paragraphs.extend(article.paragraph);
                items.extend(article.item);
                facts.article(article, ArticleFact { law, paragraphs, items, source });
            }
        }
    }
}

/// The paragraphs (①) and the items (`1.` at the beginning of a line) of the text of an article.
fn parts(text: &str) -> (HashSet<u32>, HashSet<u32>) {
    let circled = |c: char| ('①'..='⑳').contains(&c).then(|| u32::from(c) - u32::from('①') + 1);
    // The text of an article has some thousand characters at most.
    let end = text.char_indices().nth(PART).map_or(text.len(), |it| it.0);
    let text = text.get(..end).unwrap_or_default();
    let items = text.lines().filter_map(|line| line.trim_start().split_once('.')?.0.parse().ok());
    (text.chars().filter_map(circled).collect(), items.collect())
}

/// The characters in which the parts of an article are looked for.
const PART: usize = 16 * 1024;

/// A value of a tool's data that is still to be read.
struct Open<'a> {
    path: String,
    value: &'a Json,
    /// The key that it stands under, or that its array stands under.
    key: Option<&'a str>,
    unit: Option<DataUnit>,
    law: Option<Arc<Law>>,
}

/// Adds the figures of the data that the tool `name` gave.
pub(crate) fn json(facts: &mut Facts, units: &BTreeMap<String, DataUnit>, name: &str, data: &Json) {
    let root = Open { path: String::new(), value: data, key: None, unit: None, law: None };
    // Not by recursion: the depth is that of the data.
    let mut open = vec![root];
    while let Some(one) = open.pop() {
        let source = || Source::Tool { name: name.to_owned(), path: one.path.clone() };
        match one.value {
            Json::Null | Json::Bool(_) => {}
            Json::Number(number) => {
                number_of(facts, &number.to_string(), &one, source());
            }
            Json::String(written) => string(facts, written, &one, source()),
            Json::Array(items) => {
                for (at, value) in items.iter().enumerate().rev() {
                    let path = format!("{}/{at}", one.path);
                    let law = one.law.clone();
                    open.push(Open { path, value, key: one.key, unit: one.unit, law });
                }
            }
            Json::Object(fields) => object(facts, units, &one, fields, source, &mut open),
        }
    }
}

fn object<'a>(
    facts: &mut Facts,
    units: &BTreeMap<String, DataUnit>,
    one: &Open<'a>,
    fields: &'a Map<String, Json>,
    source: impl Fn() -> Source,
    open: &mut Vec<Open<'a>>,
) {
    let named = fields.iter().find(|(key, _)| LAWS.contains(&&*key.to_lowercase()));
    let named = named.and_then(|(_, name)| Law::new(name.as_str()?));
    let law = named.map(Arc::new).or_else(|| one.law.clone());
    if let Some(day) = day_of(fields) {
        let source = facts.source(source());
        facts.days.push((day, source));
    }
    if let Some(article) = article_of(fields) {
        let mut fact = ArticleFact {
            law: law.as_deref().cloned(),
            paragraphs: article.paragraph.into_iter().collect(),
            items: HashSet::new(),
            source: facts.source(source()),
        };
        for text in fields.values().filter_map(Json::as_str) {
            let (paragraphs, items) = parts(text);
            fact.paragraphs.extend(paragraphs);
            fact.items.extend(items);
        }
        facts.article(&article, fact);
    }
    let text_of = |key: &str| fields.get(key).and_then(Json::as_str).map(unit::of_text);
    let beside = UNITS.iter().find_map(|key| text_of(key));
    for (key, value) in fields.iter().rev() {
        let declared = units.get(key).copied();
        let own =
            declared.or_else(|| text_of(&format!("{key}_unit"))).or_else(|| unit::of_key(key));
        let path = format!("{}/{}", one.path, key.replace('~', "~0").replace('/', "~1"));
        let unit = own.or(beside).or(one.unit);
        open.push(Open { path, value, key: Some(key), unit, law: law.clone() });
    }
}

fn string(facts: &mut Facts, written: &str, one: &Open<'_>, source: Source) {
    let trimmed = written.trim();
    if let Some(day) = compact_day(trimmed, one.key) {
        let source = facts.source(source);
        facts.days.push((day, source));
        return;
    }
    // As a text it is a day rather than an amount, and may be both.
    if let Some(day) =
        compact_day(trimmed, Some("date")).filter(|day| is_near(day) && day.day.is_some())
    {
        let source = facts.source(source.clone());
        facts.days.push((day, source));
    }
    let plain = trimmed.replace(',', "");
    if plain.len() <= 100 && plain.parse::<Number>().is_ok() {
        number_of(facts, &plain, one, source);
        return;
    }
    text(facts, written, &source, one.law.as_deref());
}

/// Adds the number that `written` is, with the unit of its key.
fn number_of(facts: &mut Facts, written: &str, one: &Open<'_>, source: Source) {
    if let Some(day) = compact_day(written, one.key) {
        let source = facts.source(source);
        facts.days.push((day, source));
        return;
    }
    // JSON has exponents, which the text of a `Number` has not.
    let number = written.parse::<Number>().ok().or_else(|| evaluate(written).ok());
    let Some(number) = number else { return };
    let source = facts.source(source);
    // A binary fraction is off in its last digits: 0.1 + 0.2.
    let digits = written.chars().filter(char::is_ascii_digit).count();
    let whole = written.trim_start_matches('-').find('.');
    if let Some(whole) = whole.filter(|_| digits >= 15)
        && let Ok(places) = i64::try_from(whole)
        && let Ok(rounded) = number.round(12 - places, hanok_figures::Rounding::HalfEven)
    {
        facts.number(&rounded, one.unit, source);
    }
    facts.number(&number, one.unit, source);
}

/// The day or the month that `20260302`, `202603` and `2026-03` are; without hyphens only under a key of days.
fn compact_day(written: &str, key: Option<&str>) -> Option<Day> {
    let is_dated = || {
        let words = key.map(unit::words).unwrap_or_default();
        let dates = ["date", "ymd", "ym", "day", "month", "at", "일자", "날짜", "년월", "기준월"];
        words.iter().any(|word| dates.contains(&&**word) || word.ends_with('일'))
    };
    let digits: String = match written.len() {
        7 => written.replacen(['-', '.', '/'], "", 1),
        6 | 8 if is_dated() => written.to_owned(),
        _ => return None,
    };
    if !digits.chars().all(|c| c.is_ascii_digit()) || !matches!(digits.len(), 6 | 8) {
        return None;
    }
    let part = |from: usize, to: usize| digits.get(from..to)?.parse::<u16>().ok();
    let day = match digits.len() {
        8 => Some(small(part(6, 8)?, 31)?),
        _ => None,
    };
    let year = part(0, 4).filter(|year| (1000..=9999).contains(year))?;
    Some(Day { year: Some(year), month: small(part(4, 6)?, 12)?, day })
}

/// Whether it is a day of which contracts speak.
fn is_near(day: &Day) -> bool {
    day.year.is_some_and(|year| (1900..2100).contains(&year))
}

fn small(number: u16, most: u8) -> Option<u8> {
    u8::try_from(number).ok().filter(|number| (1..=most).contains(number))
}

/// The day that an object has in fields of its own: `dealYear`, `dealMonth`, `dealDay`.
fn day_of(fields: &Map<String, Json>) -> Option<Day> {
    let of = |name: &str, korean: &str| {
        let is_it = |key: &&String| {
            unit::words(key).last().is_some_and(|word| word == name || word == korean)
        };
        let (_, value) = fields.iter().find(|(key, _)| is_it(key))?;
        match value {
            Json::String(text) => text.trim().parse().ok(),
            value => value.as_u64().and_then(|number| u16::try_from(number).ok()),
        }
    };
    let year = of("year", "년").filter(|year| (1000..=9999).contains(year))?;
    let month = small(of("month", "월")?, 12)?;
    Some(Day { year: Some(year), month, day: of("day", "일").and_then(|day| small(day, 31)) })
}

/// The article that an object has as a number, or as `7-2`, `7의2` or `7조의2`.
fn article_of(fields: &Map<String, Json>) -> Option<Article> {
    let field = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key));
    let number = |value: &Json| match value {
        Json::String(text) => text.trim().parse().ok(),
        value => value.as_u64().and_then(|number| u32::try_from(number).ok()),
    };
    let written = match field(ARTICLES)? {
        Json::String(text) => text.trim().to_owned(),
        value => value.to_string(),
    };
    let bare = written.trim_start_matches('제');
    let (main, branch) = bare.split_once(['-', '의']).unwrap_or((bare, ""));
    // What says more is a text, which is read as one.
    let main = main.trim_end_matches('조').trim().parse().ok()?;
    let branch = match branch.trim() {
        "" => field(BRANCHES).and_then(number).filter(|branch| *branch > 0),
        branch => Some(branch.parse().ok()?),
    };
    let paragraph = field(PARAGRAPHS).and_then(number);
    Some(Article { number: main, branch, paragraph, item: None, at: 0..0 })
}

impl Facts {
    /// Adds an amount of a text.
    pub(crate) fn amount(&mut self, value: &Number, unit: AmountUnit, source: usize) {
        let unit = match unit {
            AmountUnit::Won => Some(DataUnit::Won),
            AmountUnit::Percent => Some(DataUnit::Percent),
            AmountUnit::Pyeong => Some(DataUnit::Pyeong),
            AmountUnit::SquareMetre => Some(DataUnit::SquareMetre),
            _ => None,
        };
        self.number(value, unit, source);
    }

    /// Adds a number with its unit, if that is known.
    pub(crate) fn number(&mut self, value: &Number, unit: Option<DataUnit>, source: usize) {
        // Again and again the same: once is enough.
        if !self.before.insert((unit, value.to_string())) {
            return;
        }
        let groups = facts::groups(value, unit);
        self.numbers.extend(groups.into_iter().map(|(group, value)| (group, value, source)));
    }
}
