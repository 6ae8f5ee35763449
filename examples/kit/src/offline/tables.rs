//! Small words of Korean and English, out of a data file. None of them is about anything in particular.

use std::sync::LazyLock;

use hanok_retrieval::Synonyms;

/// The lists, each under its name.
const WORDS: &str = include_str!("data/words.txt");

/// The items under `[name]`. A `_` in the file is a blank.
fn list(name: &str) -> Vec<&'static str> {
    let is_head =
        |line: &&str| line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) == Some(name);
    let lines = WORDS.lines().skip_while(|line| !is_head(line)).skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let items = lines.flat_map(|line| line.split(',')).map(str::trim);
    items.filter(|item| !item.is_empty()).map(blanks).collect()
}

/// `item` with its blanks; there are few, and each is made once.
fn blanks(item: &'static str) -> &'static str {
    if item.contains('_') { Box::leak(item.replace('_', " ").into_boxed_str()) } else { item }
}

/// The lists of the data file, which says there what they are.
macro_rules! lists {
    ($($name:ident)*) => {
        $(pub(crate) static $name: LazyLock<Vec<&str>> = LazyLock::new(|| list(stringify!($name)));)*
    };
}

lists! {
    PARTICLES NOUN_ENDS ENDINGS ASKING ASKING_BEGINS WHOLE NUMERALS AMOUNTS FOLLOWING EARLIER SAID KEPT ANSWERED OWN
    TOLD ORDERS GREETINGS NOTHING OF_TEAMS NEEDS AGAIN THANKS WHO_ARE_YOU FILLERS ASKS CHANGED OUTSIDE VAGUE MEANT KINDS
    CHANGING ASKS_CHANGE MORE LITTLE REQUESTS FOR_ARITHMETIC FOR_CLOCK FOR_PEOPLE FOR_DOCUMENTS FOR_TALK ROOMS WRITTEN
    CALCULATE NOW TIME HOUR WEEKDAY PLANS CONTACT MEMBERS LEAVE LEFT MINE FAMILIES LONG_FAMILIES NO_NAMES TITLES LABELS
    NUMBERS LEADS FROM TO PROVINCES DAYS WEEKDAYS FIRST_HALF SECOND_HALF
}

/// The items of a list that are `name=value`.
pub(crate) fn pairs(
    list: &'static [&'static str],
) -> impl Iterator<Item = (&'static str, &'static str)> {
    list.iter().filter_map(|item| item.split_once('='))
}

/// Whether `text` has a word of what no rule, guide or contract is asked about.
pub(crate) fn is_outside(text: &str) -> bool {
    let lower = text.to_lowercase();
    OUTSIDE.iter().any(|word| lower.contains(word))
}

/// Whether the question is about something that was said.
pub(crate) fn is_about_said(question: &str) -> bool {
    let lower = question.to_lowercase();
    SAID.iter().any(|word| lower.contains(word))
}

/// What people say, and what texts say instead.
static EVERYDAY: LazyLock<Synonyms> =
    LazyLock::new(|| include_str!("data/everyday.txt").parse().unwrap_or_default());

/// What people say, and what texts say instead: for searches in Korean rules, guides and contracts.
#[must_use]
pub fn everyday() -> &'static Synonyms {
    &EVERYDAY
}

/// What a summary begins its lists with.
pub(crate) const STATED: [&str; 2] = ["말한 것:", "Stated:"];
pub(crate) const ASKED: [&str; 2] = ["물어본 것:", "Asked:"];
