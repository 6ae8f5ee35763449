//! The arguments of the ten tools, out of the keywords of a question.

use serde_json::{Map, Value, json};

use super::keywords::{AmountRange, AreaRange, Keywords};
use super::missing::{Lacking, Missing};
use super::words::{LONGEST, head_bytes};
use crate::area::StatedArea;
use crate::data::deal::Deal;
use crate::documents::LeaseTerms;
use crate::money::{StatedRate, StatedWon};
use crate::person::Person;
use crate::tools::short;

/// The longest contract, in bytes.
const LONGEST_CONTRACT: usize = 200_000;

/// The longest text that is searched for in laws, in bytes.
const LONGEST_QUERY: usize = 2_000;

/// The most months of prices.
const MOST_MONTHS: u32 = 120;

/// The arguments of a tool for a question, which fit its schema.
///
/// `market_data` and `market_analysis` take one district: the first that is named. A contract is read from the question itself.
///
/// ```
/// use real_estate::question::{Keywords, arguments};
///
/// let question = "3억을 연 4%로 30년 빌리면 매달 얼마를 갚나요?";
/// let keywords = Keywords::stated(question);
/// let order = arguments("loan_simulator", &keywords, question)?;
/// assert_eq!(order, serde_json::json!({"amount": 300_000_000, "rate": "4", "months": 360}));
///
/// let missing = arguments("market_data", &keywords, question).unwrap_err();
/// assert_eq!(missing.to_string(), "다음을 알려 주시면 답할 수 있습니다: 서울의 어느 구인지(예: 강남구).");
/// # Ok::<(), real_estate::question::Missing>(())
/// ```
///
/// # Errors
///
/// [`Missing`] when the question does not state what the tool needs, or there is no such tool.
pub fn arguments(tool: &str, keywords: &Keywords, question: &str) -> Result<Value, Missing> {
    match tool {
        "market_data" => market_data(keywords),
        "real_estate_search" => real_estate_search(keywords),
        "loan_data" => Ok(loan_data(keywords)),
        "market_analysis" => market_analysis(keywords),
        "policy_matcher" => Ok(policy_matcher(keywords)),
        "legal_search" => legal_search(question),
        "contract_analysis" => contract_analysis(keywords, question),
        "roi_calculator" => roi_calculator(keywords),
        "loan_simulator" => loan_simulator(keywords),
        "lease_contract_generator" => Ok(lease_contract_generator(keywords, question)),
        other => Err(Missing::NoTool { tool: short(other) }),
    }
}

/// Arguments that are written one by one; what is missing is left out.
#[derive(Debug, Default)]
struct Order(Map<String, Value>);

impl Order {
    fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

fn lacking(what: Lacking) -> Missing {
    Missing::Lacking { lacking: vec![what] }
}

fn district(keywords: &Keywords) -> Result<String, Missing> {
    keywords.districts.first().cloned().ok_or_else(|| lacking(Lacking::District))
}

/// The amount of a range, if it is one.
fn one(range: Option<AmountRange>) -> Option<i64> {
    range.and_then(AmountRange::amount)
}

fn written(value: impl serde::Serialize) -> Option<Value> {
    serde_json::to_value(value).ok().filter(|value| !value.is_null())
}

fn market_data(keywords: &Keywords) -> Result<Value, Missing> {
    Ok(Order::default()
        .with("district", Some(district(keywords)?))
        .with("deal", written(keywords.deal))
        .with("months", keywords.months.map(|months| months.clamp(1, MOST_MONTHS)))
        .done())
}

/// The ends of a range of a search. One amount is what somebody can spend.
fn ends(range: Option<AmountRange>) -> (Option<i64>, Option<i64>) {
    let Some(range) = range else { return (None, None) };
    match (range.exact(), range.least, range.most) {
        (Some(amount), ..) => (None, Some(amount)),
        // Ends that are no range come from no rule.
        (None, Some(least), Some(most)) if least > most => (Some(most), Some(least)),
        (None, least, most) => (least, most),
    }
}

fn real_estate_search(keywords: &Keywords) -> Result<Value, Missing> {
    let (price, deposit) = (ends(keywords.price), ends(keywords.deposit));
    let rent = ends(keywords.monthly_rent);
    let area = keywords.area.clone().unwrap_or_default();
    // One area is about what somebody looks for: five square metres less or more.
    let near = |area: &Option<StatedArea>, by: i64| {
        let area = area.as_ref()?.square_metres().ok()?.add(&by.into()).ok()?;
        area.compare(&0.into()).is_gt().then(|| area.to_string())
    };
    let by = if area.least == area.most { 5 } else { 0 };
    let districts = Some(keywords.districts.clone()).filter(|names| !names.is_empty());
    let order = Order::default()
        .with("districts", districts)
        .with("deal", written(keywords.deal))
        .with("price_from", price.0)
        .with("price_to", price.1)
        .with("deposit_from", deposit.0)
        .with("deposit_to", deposit.1)
        .with("rent_from", rent.0)
        .with("rent_to", rent.1)
        .with("area_from", near(&area.least, -by))
        .with("area_to", near(&area.most, by))
        .with("rooms", keywords.rooms)
        // One room is a 원룸, and no wish for more.
        .with("rooms_to", keywords.rooms.filter(|rooms| *rooms == 1))
        .with("kind", written(keywords.kind));
    if order.0.is_empty() { Err(lacking(Lacking::Filter)) } else { Ok(order.done()) }
}

/// The person and the home, as far as they are stated.
fn person(keywords: &Keywords) -> Option<Value> {
    let won = |amount: Option<i64>| amount.map(StatedWon::Won);
    let is_area = |area: &&AreaRange| area.least.is_none() || area.least == area.most;
    let area = keywords.area.as_ref().filter(is_area).and_then(|area| area.most.clone());
    let person = Person {
        age: keywords.age,
        income: won(keywords.income),
        assets: won(keywords.assets),
        children: keywords.children,
        married: keywords.married,
        newlywed: keywords.newlywed,
        newborn: keywords.newborn,
        no_home: keywords.no_home,
        first_home: keywords.first_home,
        household_head: keywords.household_head,
        deposit: won(one(keywords.deposit)),
        monthly_rent: won(one(keywords.monthly_rent)),
        price: won(one(keywords.price)),
        area,
    };
    (person != Person::default()).then(|| written(person)).flatten()
}

fn loan_data(keywords: &Keywords) -> Value {
    Order::default()
        .with("purpose", written(keywords.loan_purpose))
        .with("amount", keywords.loan_amount)
        .with("person", person(keywords))
        .done()
}

fn market_analysis(keywords: &Keywords) -> Result<Value, Missing> {
    // The deposit of a 월세 without its rent is compared with nothing.
    let is_half = keywords.deal == Some(Deal::MonthlyRent) && keywords.monthly_rent.is_none();
    let deposit = one(keywords.deposit).or(keywords.increase_to).filter(|_| !is_half);
    Ok(Order::default()
        .with("district", Some(district(keywords)?))
        .with("price", one(keywords.price).filter(|price| *price > 0))
        .with("deposit", deposit)
        .with("monthly_rent", one(keywords.monthly_rent))
        .done())
}

fn policy_matcher(keywords: &Keywords) -> Value {
    Order::default().with("topic", written(keywords.deal)).with("person", person(keywords)).done()
}

fn legal_search(question: &str) -> Result<Value, Missing> {
    let query = head_bytes(question.trim(), LONGEST_QUERY).trim();
    if query.is_empty() {
        return Err(lacking(Lacking::Question));
    }
    Ok(json!({ "query": query }))
}

fn contract_analysis(keywords: &Keywords, question: &str) -> Result<Value, Missing> {
    let is_contract = question.lines().filter(|line| is_article(line)).count() >= 2;
    let contract = is_contract.then(|| head_bytes(question, LONGEST_CONTRACT).to_owned());
    let change = keywords.increase_from.zip(keywords.increase_to);
    if contract.is_none() && change.is_none() {
        return Err(lacking(Lacking::ContractOrChange));
    }
    Ok(Order::default()
        .with("contract", contract)
        .with("before", change.map(|change| change.0))
        .with("after", change.map(|change| change.1))
        .with("price", one(keywords.price))
        .done())
}

/// Whether a line is the head of an article: `제1조`.
fn is_article(line: &str) -> bool {
    let rest = line.trim_start_matches(['#', '*', ' ', '\t']).strip_prefix('제');
    let rest = rest.map(|rest| rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.is_some_and(|rest| rest.trim_start().starts_with('조'))
}

fn roi_calculator(keywords: &Keywords) -> Result<Value, Missing> {
    let price = one(keywords.price);
    let is_jeonse = keywords.deal == Some(Deal::Jeonse) && keywords.monthly_rent.is_none();
    let rent = one(keywords.monthly_rent).or(is_jeonse.then_some(0));
    let loan = keywords.loan_amount.filter(|loan| *loan > 0);
    let lack = [
        (price.is_none(), Lacking::Price),
        (rent.is_none(), Lacking::MonthlyRent),
        (loan.is_some() && keywords.rate.is_none(), Lacking::Rate),
    ];
    check(&lack)?;
    let rate = loan.and(keywords.rate.as_ref()).map(rate);
    Ok(Order::default()
        .with("price", price)
        .with("monthly_rent", rent)
        .with("deposit", one(keywords.deposit))
        .with("loan", loan)
        .with("loan_rate", rate)
        .done())
}

fn loan_simulator(keywords: &Keywords) -> Result<Value, Missing> {
    let lack = [
        (keywords.loan_amount.is_none(), Lacking::LoanAmount),
        (keywords.rate.is_none(), Lacking::Rate),
        (keywords.months.is_none(), Lacking::Term),
    ];
    check(&lack)?;
    let buyer = (keywords.first_home == Some(true)).then_some("first_home");
    Ok(Order::default()
        .with("amount", keywords.loan_amount)
        .with("rate", keywords.rate.as_ref().map(rate))
        .with("months", keywords.months)
        .with("method", written(keywords.method))
        .with("price", one(keywords.price).filter(|price| *price > 0))
        .with("income", keywords.income.filter(|income| *income > 0))
        .with("buyer", buyer)
        .done())
}

fn check(lack: &[(bool, Lacking)]) -> Result<(), Missing> {
    let lacking: Vec<Lacking> = lack.iter().filter(|pair| pair.0).map(|pair| pair.1).collect();
    if lacking.is_empty() { Ok(()) } else { Err(Missing::Lacking { lacking }) }
}

fn rate(rate: &StatedRate) -> Value {
    match rate {
        StatedRate::Whole(rate) => json!(rate),
        StatedRate::Text(rate) => json!(rate),
    }
}

/// The question itself, from which the tool reads terms, and those that only the keywords have.
fn lease_contract_generator(keywords: &Keywords, question: &str) -> Value {
    let words = head_bytes(question, LONGEST);
    let stated = LeaseTerms::stated(words);
    let rent = one(keywords.monthly_rent);
    let rent = rent.or((keywords.deal == Some(Deal::Jeonse)).then_some(0));
    let exact = keywords.deposit.and_then(AmountRange::exact);
    let terms = Order::default()
        .with("deposit", exact.filter(|_| stated.deposit.is_none()))
        .with("monthly_rent", rent.filter(|_| stated.monthly_rent.is_none()))
        .done();
    let has_terms = terms.as_object().is_some_and(|terms| !terms.is_empty());
    let words = Some(words).filter(|words| !words.trim().is_empty());
    Order::default().with("words", words).with("terms", has_terms.then_some(terms)).done()
}
