//! The keywords that a question states, by rules.

use hanok_figures::{Amount, AmountUnit, Figure, Number, figures};

use super::amounts::{Label, Moneys};
use super::keywords::{AmountRange, AreaRange, Keywords};
use super::words::{LONGEST, between, has, head, head_bytes, starts, tail};
use super::{facts, places};
use crate::area::{StatedArea, square_metres};
use crate::data::deal::Deal;
use crate::data::loans::Purpose;
use crate::money::{StatedRate, pair};

/// The most figures that are read of one question.
const MOST_FIGURES: usize = 500;

/// A smaller number without a unit may be one of 만원.
const MOST_BARE: i64 = 100_000;

/// Words of a change of rent.
const CHANGES: [&str; 16] = [
    "올려",
    "올리",
    "올린",
    "올라",
    "올랐",
    "인상",
    "증액",
    "오른",
    "내려",
    "내리",
    "낮춰",
    "인하",
    "감액",
    "깎",
    "갱신",
    "재계약",
];

/// Words that a change of rent is about.
const RENTED: [&str; 12] = [
    "전세",
    "월세",
    "보증금",
    "임대료",
    "집주인",
    "세입자",
    "임대인",
    "임차인",
    "차임",
    "전월세",
    "재계약",
    "갱신",
];

/// Words of a loan.
const LENT: [&str; 10] =
    ["대출", "융자", "빌리", "빌려", "빌릴", "상환", "이자", "금리", "원리금", "주담대"];

/// Words that say of a percentage that it is no rate of a loan.
const NO_RATE: [&str; 10] =
    ["LTV", "DTI", "DSR", "ltv", "dti", "dsr", "전세가율", "수익률", "공실", "취득세"];

impl Keywords {
    /// What `question` states. What is not clear is left out; of a question longer than 20,000 bytes the rest is not read.
    ///
    /// ```
    /// use real_estate::data::deal::Deal;
    /// use real_estate::question::Keywords;
    ///
    /// let keywords = Keywords::stated("강남구에서 5억 이하 전세를 찾아 줘. 방은 3개, 25평 이상");
    /// assert_eq!(keywords.districts, ["강남구"]);
    /// assert_eq!(keywords.deal, Some(Deal::Jeonse));
    /// assert_eq!(keywords.deposit.and_then(|deposit| deposit.most), Some(500_000_000));
    /// assert_eq!(keywords.rooms, Some(3));
    /// ```
    #[must_use]
    pub fn stated(question: &str) -> Self {
        let text = head_bytes(question, LONGEST);
        let amounts: Vec<Amount> =
            figures(text).take(MOST_FIGURES).filter_map(Figure::into_amount).collect();
        let mut keywords = Self {
            districts: places::districts(text),
            deal: facts::deal(text),
            area: area(text, &amounts),
            rooms: facts::rooms(text, &amounts),
            kind: facts::kind(text),
            months: facts::months(text, &amounts),
            method: facts::method(text),
            age: facts::age(text, &amounts),
            first_home: facts::first_home(text),
            no_home: facts::no_home(text),
            married: facts::married(text),
            newlywed: facts::newlywed(text),
            newborn: facts::newborn(text),
            household_head: facts::household_head(text),
            children: facts::children(text, &amounts),
            wants_document: facts::wants_document(text),
            ..Self::default()
        };
        keywords.loan_purpose = purpose(text, keywords.deal);
        keywords.rate = rate(text, &amounts);
        keywords.money(text, &amounts);
        keywords
    }

    /// Reads the amounts of money.
    fn money(&mut self, text: &str, amounts: &[Amount]) {
        let moneys = Moneys::of(text, amounts);
        let exact = |label| moneys.labelled(label).and_then(AmountRange::amount);
        self.price = moneys.labelled(Label::Price);
        self.monthly_rent = moneys.labelled(Label::Rent);
        self.deposit = moneys.labelled(Label::Deposit);
        self.loan_amount = exact(Label::Loan);
        self.income = exact(Label::Income);
        self.assets = exact(Label::Assets);
        self.lend_unit(text, amounts);
        if let Some(rest) = moneys.unlabelled() {
            self.unlabelled(text, rest);
        }
        let is_change =
            has(text, &CHANGES) && has(text, &RENTED) && !has(text, &["집값", "매매가", "금리"]);
        if !is_change {
            return;
        }
        if let Ok((before, after)) = pair(text)
            && moneys.may_change(before, after)
        {
            (self.increase_from, self.increase_to) = (Some(before), Some(after));
            (self.deposit, self.monthly_rent) = (None, None);
        } else if let Some(percent) = increase_percent(text, amounts) {
            // Of a deposit and a rent nobody says which rises.
            let before = match (self.deposit, self.monthly_rent) {
                (Some(one), None) | (None, Some(one)) => one.exact(),
                _ => None,
            };
            let after = before.and_then(|before| raised(before, &percent));
            if after.is_some() {
                (self.increase_from, self.increase_to) = (before, after);
            }
        }
    }

    /// Reads a deposit or a rent without a unit as 만원, where the other has one: the 3천 of `보증금 3천에 월세 60만원`.
    fn lend_unit(&mut self, text: &str, amounts: &[Amount]) {
        match (self.deposit, self.monthly_rent) {
            (None, Some(_)) => self.deposit = bare(text, amounts, "보증금"),
            (Some(_), None) => self.monthly_rent = bare(text, amounts, "월세"),
            _ => {}
        }
    }

    /// Takes an amount without a label for what the question is about.
    fn unlabelled(&mut self, text: &str, amount: AmountRange) {
        let is_loan = self.loan_amount.is_none() && has(text, &LENT) && self.rate.is_some();
        match self.deal {
            _ if is_loan => self.loan_amount = amount.amount(),
            Some(Deal::Sale) if self.price.is_none() => self.price = Some(amount),
            Some(Deal::Jeonse) if self.deposit.is_none() => self.deposit = Some(amount),
            Some(Deal::MonthlyRent) if self.deposit.is_some() && self.monthly_rent.is_none() => {
                self.monthly_rent = Some(amount);
            }
            None if self.loan_amount.is_none() && has(text, &LENT) => {
                self.loan_amount = amount.amount();
            }
            _ => {}
        }
    }
}

/// The number without a unit directly behind a label, in 만원.
fn bare(text: &str, amounts: &[Amount], label: &str) -> Option<AmountRange> {
    let is_bare = |amount: &&Amount| {
        let before = between(text, 0, amount.at.start).trim_end();
        let before = before.strip_suffix(['은', '는', '이', '가', ':']).unwrap_or(before);
        let behind = text.get(amount.at.end..).unwrap_or_default();
        let ends = behind.is_empty()
            || starts(behind, &["에 ", "에,", ",", " 월세", " 보증금", "이고", "이에", "인데"]);
        amount.unit == AmountUnit::Plain
            && before.trim_end().ends_with(label)
            && ends
            && !has(text.get(amount.at.clone()).unwrap_or_default(), &["만", "억", "조"])
    };
    let number = amounts.iter().find(is_bare)?.value.to_i128()?;
    let won = i64::try_from(number).ok().filter(|number| (1..MOST_BARE).contains(number))?;
    Some(AmountRange::one(won * 10_000))
}

/// What a loan is for, if the question is about one.
fn purpose(text: &str, deal: Option<Deal>) -> Option<Purpose> {
    let is_loan = has(text, &["대출", "융자", "자금", "주담대"]);
    match deal {
        _ if has(text, &["월세보증금 대출", "월세 보증금 대출", "월세보증금대출"]) => {
            Some(Purpose::RentDeposit)
        }
        _ if has(text, &["전세대출", "전세 대출", "전세자금", "버팀목"]) => {
            Some(Purpose::Jeonse)
        }
        _ if has(text, &["주담대", "주택담보", "구입자금", "구입 자금", "주택구입", "디딤돌"]) => {
            Some(Purpose::Sale)
        }
        Some(Deal::Sale) if is_loan => Some(Purpose::Sale),
        Some(Deal::Jeonse) if is_loan => Some(Purpose::Jeonse),
        Some(Deal::MonthlyRent) if is_loan => Some(Purpose::RentDeposit),
        _ => None,
    }
}

fn percents(amounts: &[Amount]) -> impl Iterator<Item = &Amount> {
    amounts.iter().filter(|amount| amount.unit == AmountUnit::Percent)
}

/// The rate of a loan: the percentage beside a word of a rate, else the only one of a question about a loan.
fn rate(text: &str, amounts: &[Amount]) -> Option<StatedRate> {
    let is_other = |amount: &&Amount| {
        let near = tail(between(text, 0, amount.at.start), 10);
        has(near, &NO_RATE) || is_increase(text, amount)
    };
    let rates: Vec<&Amount> = percents(amounts).filter(|amount| !is_other(amount)).collect();
    let is_labelled = |amount: &&&Amount| {
        let before = tail(between(text, 0, amount.at.start), 8);
        let behind = head(text.get(amount.at.end..).unwrap_or_default(), 6);
        has(before, &["금리", "이율", "이자", "연 ", "연"])
            || has(behind, &["금리", "이율", "이자"])
    };
    let labelled = rates.iter().find(is_labelled).copied();
    let only = match rates.as_slice() {
        [only] if has(text, &LENT) => Some(*only),
        _ => None,
    };
    let rate = labelled.or(only)?;
    Some(StatedRate::Text(rate.value.to_string()))
}

/// Whether a percentage is one by which something rises.
fn is_increase(text: &str, amount: &Amount) -> bool {
    let behind = head(text.get(amount.at.end..).unwrap_or_default(), 8);
    has(behind, &["올", "인상", "증액", "오른", "상승"])
}

/// The percentage by which a rent rises, if the question states one.
fn increase_percent(text: &str, amounts: &[Amount]) -> Option<Number> {
    let mut rises = percents(amounts).filter(|amount| is_increase(text, amount));
    let first = rises.next()?;
    rises.next().is_none().then(|| first.value.clone())
}

/// The amount after a rise, if it is whole won.
fn raised(before: i64, percent: &Number) -> Option<i64> {
    let hundred = Number::from(100);
    let share = percent.add(&hundred).ok()?.divide(&hundred).ok()?;
    let after = Number::from(before).multiply(&share).ok()?.to_i128()?;
    i64::try_from(after).ok().filter(|after| *after >= 0)
}

/// The area, with its bounds by the words behind it.
fn area(text: &str, amounts: &[Amount]) -> Option<AreaRange> {
    let areas: Vec<(&Amount, String)> = amounts
        .iter()
        .filter_map(|amount| Some((amount, square_metres(amount)?.to_string())))
        .collect();
    let stated = |text: &String| Some(StatedArea::Text(format!("{text}㎡")));
    match areas.as_slice() {
        [(amount, value)] => {
            let behind = text.get(amount.at.end..).unwrap_or_default().trim_start();
            let behind = behind.strip_prefix('형').unwrap_or(behind).trim_start();
            let (least, most) = match () {
                // `30평대`
                () if amount.unit == AmountUnit::Pyeong && starts(behind, &["대"]) => {
                    let end = amount.value.add(&Number::from(9)).ok();
                    let end =
                        end.and_then(|value| square_metres(&Amount { value, ..(*amount).clone() }));
                    (stated(value), end.as_ref().and_then(|end| stated(&end.to_string())))
                }
                () if starts(behind, &["이하", "미만", "까지", "이내"]) => {
                    (None, stated(value))
                }
                () if starts(behind, &["이상", "초과", "넘는", "부터"]) => {
                    (stated(value), None)
                }
                () => (stated(value), stated(value)),
            };
            Some(AreaRange { least, most })
        }
        [(first, least), (second, most)] => {
            let sign = between(text, first.at.end, second.at.start).trim();
            let is_range = ["에서", "~", "∼", "-", "부터", "이상"].contains(&sign);
            is_range.then(|| AreaRange { least: stated(least), most: stated(most) })
        }
        _ => None,
    }
}
