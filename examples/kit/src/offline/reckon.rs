//! What follows from the numbers that were found: a rate times a count, a share of an amount, the days between two dates.

use hanok_figures::{AmountUnit, Count, Figure, Number, Rounding, evaluate, figures, grouped};
use jiff::{ToSpan, Unit, civil::Date};

use crate::offline::{amounts::counted, tables};

/// What follows for `question` from `line`, which answers it, in the text `around` it and in `all` that was found.
pub(crate) fn follows(question: &str, line: &str, around: &str, all: &str) -> Option<String> {
    if let Some(days) = days(question, line) {
        return Some(days);
    }
    let lower = question.to_lowercase();
    if !tables::SUMS.iter().any(|word| lower.contains(word)) {
        return None;
    }
    // Whoever says what one costs does not ask for that.
    let own = money(question).is_some();
    let line = if own { question } else { line };
    let rate = rate(question, line, all)?;
    if counted(&lower).is_some_and(|unit| !unit.starts_with(rate.unit)) {
        return None;
    }
    let asked = counts(question);
    let counted = asked.iter().find_map(|count| {
        if is_one(count) && !matches!(count.unit, "년") {
            return None;
        }
        let of = times(count, line, question);
        let times = of.or_else(|| times(count, around, question).filter(|_| !own))?;
        let free = beyond(count, line);
        let times = free.map_or(times.clone(), |free| format!("({times} - {free})"));
        Some((count, times))
    });
    // What is counted besides changes the sum: 두 명이 2박. The days of nights do not: 2박 3일.
    let is_used = |count: &Count| {
        let of_nights = |(used, _): &(&Count, String)| {
            used.is_as_many_as(count)
                || matches!((used.unit, count.unit), ("박", "일") | ("일", "박"))
        };
        // Two of one unit are not one each.
        let is_alone =
            own || asked.iter().all(|it| it.unit != count.unit || it.is_as_many_as(count));
        let stands = || counts(line).iter().any(|it| it.is_as_many_as(count));
        count.is_bound
            || counted.as_ref().is_some_and(of_nights)
            || (is_alone && (is_one(count) || stands()))
    };
    if !asked.iter().all(is_used) {
        return None;
    }
    let expression = match (counted, rate.is_share) {
        (Some((_, times)), _) => format!("{} * {times}", rate.expression),
        // A share of an amount is one; an amount alone says itself.
        (None, true) => rate.expression.clone(),
        (None, false) => return None,
    };
    let exact = evaluate(&expression).ok()?;
    let value = exact.round(0, Rounding::TowardZero).ok()?;
    let about = if exact == value { "=" } else { "≈" };
    let written = grouped(&format!("{expression} {about} {value}{}", rate.unit));
    Some(format!("계산: {}{}", rate.of, written.replace(" * ", " × ").replace(" / ", " ÷ ")))
}

/// Whether a question counts something, or names a day.
pub(crate) fn has_count(question: &str) -> bool {
    !counts(question).is_empty() || day_of(question).is_some()
}

/// Whether a question adds things up.
pub(crate) fn adds(question: &str) -> bool {
    tables::ADDS.iter().any(|word| question.contains(word))
}

/// Whether a question has something calculated, and `text` has no calculation.
pub(crate) fn is_uncalculated(question: &str, text: &str) -> bool {
    let calculates =
        adds(question) || tables::CALCULATES.iter().any(|word| question.contains(word));
    calculates && ![" = ", " ≈ "].iter().any(|sign| text.contains(sign))
}

/// The sum of the amounts that `lines` have one each of, where the question adds them up.
pub(crate) fn sum(question: &str, lines: &[String]) -> Option<String> {
    let amounts: Vec<_> = lines.iter().filter_map(|line| money(line)).collect();
    let (_, unit) = amounts.first().filter(|_| adds(question) && amounts.len() > 1)?;
    let sum = amounts.iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>().join(" + ");
    let value = evaluate(&sum).ok()?;
    Some(grouped(&format!("계산: {sum} = {value}{unit}")))
}

/// An amount for each of something.
struct Rate {
    expression: String,
    /// What it is a share of, as it is written before the calculation.
    of: String,
    unit: &'static str,
    is_share: bool,
}

/// The amount in `line` that a question for a sum is about: money, or a share of money that `all` has.
fn rate(question: &str, line: &str, all: &str) -> Option<Rate> {
    if let Some((term, share)) = share(question, line) {
        let base = base(&term, all)?;
        let expression = format!("{base} * {share}");
        return Some(Rate { expression, of: format!("{term} "), unit: "원", is_share: true });
    }
    let (value, unit) = money(line)?;
    Some(Rate { expression: value, of: String::new(), unit, is_share: false })
}

/// The only money in `line`.
pub(crate) fn money(line: &str) -> Option<(String, &'static str)> {
    let amounts = figures(line).filter_map(Figure::into_amount);
    let mut money = amounts.filter_map(|amount| {
        let behind = line.get(amount.at.end..)?.trim_start();
        let unit = match amount.unit {
            AmountUnit::Won => "원",
            AmountUnit::Plain if behind.starts_with("달러") => "달러",
            _ => return None,
        };
        Some((amount.value.to_string(), unit))
    });
    let first = money.next()?;
    // The same amount may stand twice: 일억팔천만 원(180,000,000원).
    money.all(|other| other == first).then_some(first)
}

/// `용역대금의 1,000분의 1.5`, `보증금의 5퍼센트`: of what, and how much of it.
fn share(question: &str, line: &str) -> Option<(String, String)> {
    line.match_indices("의 ").find_map(|(at, _)| {
        let term = line.get(..at)?.split_whitespace().next_back()?;
        let behind = line.get(at + "의 ".len()..)?;
        let (number, rest) = number(behind)?;
        let share = if let Some(rest) = rest.strip_prefix("분의 ") {
            let (of, _) = self::number(rest)?;
            format!("{of} / {number}")
        } else if ["퍼센트", "%", "프로"].iter().any(|it| rest.starts_with(it)) {
            format!("{number}%")
        } else {
            return None;
        };
        // `차임이나 보증금의`: the one that is asked about.
        let before = line.get(..at)?.split_whitespace().rev().nth(1).unwrap_or_default();
        let other = before.strip_suffix("이나").filter(|it| question.contains(it));
        Some((other.unwrap_or(term).to_owned(), share))
    })
}

/// The money that `all` says `term` is: `용역대금은 금 … 180,000,000원`.
fn base(term: &str, all: &str) -> Option<String> {
    let says = |line: &&str| {
        ["은 ", "는 "].iter().any(|particle| line.contains(&format!("{term}{particle}")))
    };
    let clauses = all.lines().flat_map(|line| line.split(". ")).filter(says);
    clauses.into_iter().find_map(|clause| {
        let at = clause.find(term)?;
        money(clause.get(at..)?).map(|(value, _)| value)
    })
}

fn counts(text: &str) -> Vec<Count> {
    hanok_figures::counts(text).collect()
}

fn is_one(count: &Count) -> bool {
    count.number == Number::from(1)
}

/// How often the amount of `text` counts for `count`: where that says that it is for each of the same.
fn times(count: &Count, text: &str, question: &str) -> Option<String> {
    // A day is a night to those who sleep.
    let sleeps = |word: &str| {
        ["자면", "자고", "자는", "잘", "묵", "머무"].iter().any(|it| word.starts_with(it))
    };
    let sleeps = question.split_whitespace().any(sleeps);
    let each = counts(text).into_iter().find(|each| {
        let is_each = match (each.unit, count.unit) {
            ("박", "일") => sleeps,
            (each, count) => each == count || (each, count) == ("월", "년"),
        };
        is_one(each) && !each.is_bound && is_each
    });
    match each {
        Some(each) if each.unit == "월" && count.unit == "년" => {
            Some(format!("{} * 12", count.number))
        }
        Some(_) => Some(count.number.to_string()),
        // What is done several times is paid as often.
        None if count.unit == "번" => Some(count.number.to_string()),
        None => None,
    }
}

/// How many of them are free: `10인일 이하이면 …, 넘으면 넘는 부분에`.
fn beyond(count: &Count, line: &str) -> Option<String> {
    let free = counts(line).into_iter().find(|it| it.unit == count.unit && !is_one(it))?;
    line.contains("넘는 부분").then(|| free.number.to_string())
}

/// The number that `text` begins with, and what stands behind it.
fn number(text: &str) -> Option<(String, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.')));
    let (digits, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    let digits = digits.trim_end_matches(['.', ',']).replace(',', "");
    (digits.starts_with(|c: char| c.is_ascii_digit())).then_some((digits, rest.trim_start()))
}

/// Whether `question` has a count or an amount that `text` has not, nor several bounds for it.
pub(crate) fn counts_otherwise(question: &str, text: &str) -> bool {
    let (known, texts) = (counts(text), text.lines().collect::<Vec<_>>());
    let is_new = |count: &Count| !known.iter().any(|it| it.is_as_many_as(count));
    let amounts = |text: &str| -> Vec<_> {
        let amounts = figures(text).filter_map(Figure::into_amount);
        amounts.filter(|it| it.unit != AmountUnit::Plain).map(|it| (it.value, it.unit)).collect()
    };
    let amount = || amounts(question).iter().any(|it| !amounts(text).contains(it));
    (counts(question).iter().any(is_new) || amount()) && within(question, &texts).is_none()
}

/// Whether a tool's `text` is not what `question` asks for: a clock's is about now, a list's about another number of the same.
pub(crate) fn is_beside(question: &str, text: &str) -> bool {
    let known = counts(text);
    let is_clock = text.split_once('T').is_some_and(|(day, _)| day.parse::<Date>().is_ok());
    let is_other = |it: &Count| {
        let mut same = known.iter().filter(|known| known.unit == it.unit).peekable();
        same.peek().is_some() && !same.any(|known| known.is_as_many_as(it))
    };
    let is_numbered = question.contains(|c: char| c.is_ascii_digit());
    (is_clock && is_numbered)
        || is_uncalculated(question, text)
        || counts(question).iter().any(is_other)
}

/// The days from one date of `line` to the other, or to one that the question names.
fn days(question: &str, line: &str) -> Option<String> {
    if !tables::HOW_LONG.iter().any(|word| question.contains(word)) {
        return None;
    }
    let dates: Vec<Date> = figures(line).filter_map(date).collect();
    match (dates.as_slice(), day_of(question)) {
        ([due], Some((month, day))) => {
            let asked = Date::new(due.year(), month, day).ok()?;
            let (from, to) = if asked < *due { (asked, *due) } else { (*due, asked) };
            Some(format!("계산: {from}부터 {to}까지 {}일", days_between(from, to)))
        }
        ([from, to], None) if from < to => {
            // The last day counts as well.
            let end = to.tomorrow().ok()?;
            let span = from.until((Unit::Month, end)).ok()?;
            let months = span.get_months();
            let rest = match span.get_days() {
                0 => String::new(),
                days => format!(" {days}일"),
            };
            let days = days_between(*from, end);
            Some(format!("계산: {from}부터 {to}까지 {days}일({months}개월{rest})"))
        }
        _ => None,
    }
}

/// Which of `texts` has the bound that the count of `question` is within: `1년 미만 …`, `3년 이상 …`. There have to be several.
pub(crate) fn within(question: &str, texts: &[&str]) -> Option<usize> {
    let asked = counts(question).into_iter().find(|count| count.unit == "년")?;
    let number = |count: &Count| count.number.to_string().parse::<f32>().ok();
    let asked = number(&asked)?;
    let bound = |text: &&str| {
        let bounds = ["이상", "초과", "미만", "이하"];
        let kind = bounds.iter().position(|word| text.contains(word))?;
        let bound =
            counts(text).into_iter().find(|count| count.unit == "년").and_then(|it| number(&it))?;
        let holds = match kind {
            0 => asked >= bound,
            1 => asked > bound,
            2 => asked < bound,
            _ => asked <= bound,
        };
        Some((holds, bound))
    };
    let bounds: Vec<Option<(bool, f32)>> = texts.iter().map(bound).collect();
    if bounds.iter().flatten().count() < 2 {
        return None;
    }
    let held = bounds
        .iter()
        .enumerate()
        .filter_map(|(at, bound)| bound.filter(|it| it.0).map(|it| (at, it.1)));
    held.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at)
}

fn date(figure: Figure) -> Option<Date> {
    let Figure::Date(date) = figure else { return None };
    let year = i16::try_from(date.year).ok()?;
    Date::new(year, i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?).ok()
}

/// What a clock's `text`, which begins with today, says of the day that `question` names: its weekday, or how far it is.
pub(crate) fn day(question: &str, text: &str) -> Option<String> {
    let today: Date = text.split_once('T')?.0.parse().ok()?;
    let lower = question.to_lowercase();
    let mut away = tables::FROM_TODAY.iter().filter_map(|item| item.split_once(':'));
    let away = away.find(|(word, _)| lower.contains(word)).and_then(|(_, days)| days.parse().ok());
    let named = day_of(question).map(|(month, day)| Date::new(today.year(), month, day));
    let day = match (&named, away) {
        (Some(day), _) => *day.as_ref().ok()?,
        (None, Some(days)) => today.checked_add(i32::days(days)).ok()?,
        (None, None) => return None,
    };
    let written = format!("{}년 {}월 {}일", day.year(), day.month(), day.day());
    let asks_left = ["남", "며칠", "몇 일", "몇일", "how many", "how long"];
    if named.is_some() && !lower.contains("요일") && asks_left.iter().any(|it| lower.contains(it))
    {
        let left = days_between(today, day);
        let said = if left < 0 { "지났습니다" } else { "남았습니다" };
        return Some(format!("{written}은 {}일 {said}.", left.abs()));
    }
    let weekday = usize::try_from(day.weekday().to_sunday_zero_offset()).ok()?;
    Some(format!("{written}은 {}입니다.", tables::WEEKDAYS.get(weekday)?))
}

fn days_between(from: Date, to: Date) -> i32 {
    from.until(to).map(|span| span.get_days()).unwrap_or_default()
}

/// `11월 9일` of a question.
pub(crate) fn day_of(question: &str) -> Option<(i8, i8)> {
    let (before, behind) = question.split_once('월')?;
    let month = before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    let (day, rest) = number(behind.trim_start())?;
    let day = day.parse().ok()?;
    (rest.starts_with('일') && (1..=12).contains(&month) && (1..=31).contains(&day))
        .then_some((month, day))
}

#[cfg(test)]
mod tests {
    use super::follows;

    #[test]
    fn a_clock_tells_of_other_days() {
        let now = "2026-11-27T15:07:27+09:00, 금요일 (Friday), Asia/Seoul";
        for (question, want) in [
            ("3월 14일은 무슨 요일이야?", Some("2026년 3월 14일은 토요일입니다.")),
            ("12월 25일까지 며칠 남았어?", Some("2026년 12월 25일은 28일 남았습니다.")),
            ("내일은 무슨 요일이야?", Some("2026년 11월 28일은 토요일입니다.")),
            ("글피가 며칠이야?", Some("2026년 11월 30일은 월요일입니다.")),
            ("오늘 며칠이야?", None),
        ] {
            assert_eq!(super::day(question, now).as_deref(), want, "{question}");
        }
    }

    #[test]
    fn what_follows_from_numbers_is_calculated() {
        let pay = "제11조(용역대금) 용역대금은 금 일억팔천만 원(180,000,000원)으로 한다.\n차임은 매월 350,000원으로 하고";
        let lines = include_str!("reckon.tsv").lines().filter(|it| !it.starts_with('#'));
        for fields in lines.map(|line| line.split('\t').collect::<Vec<_>>()) {
            let [question, line, want] = fields.as_slice() else { panic!("{fields:?}") };
            let said = follows(question, line, line, pay).unwrap_or_else(|| "계산: -".to_owned());
            assert_eq!(said, format!("계산: {want}"), "{question}");
        }
    }
}
