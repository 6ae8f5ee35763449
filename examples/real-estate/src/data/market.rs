//! The prices of districts by month, read from `data/market.csv`.

use jiff::{ToSpan, civil::Date};

use super::deal::Sum;
use super::{DataError, Origin};

/// The file that ships with the program.
pub(super) const SHIPPED: &str = include_str!("../../data/market.csv");

/// The columns, which the first line behind the comments names.
const COLUMNS: &str = "district,month,sale,jeonse,monthly_deposit,monthly_rent";

/// The won of the file's unit.
const UNIT: i64 = 10_000;

/// The greatest amount, in the file's unit: ten trillion won.
const MOST: i64 = 1_000_000_000;

/// The average prices of a month, in won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonthPrices {
    /// The first day of the month.
    pub month: Date,
    /// 매매가.
    pub sale: i64,
    /// 전세금.
    pub jeonse: i64,
    /// 월세의 보증금.
    pub monthly_deposit: i64,
    /// 월세.
    pub monthly_rent: i64,
}

impl MonthPrices {
    /// The amount of a sum.
    #[must_use]
    pub fn amount(&self, sum: Sum) -> i64 {
        match sum {
            Sum::Price => self.sale,
            Sum::Jeonse => self.jeonse,
            Sum::RentDeposit => self.monthly_deposit,
            Sum::MonthlyRent => self.monthly_rent,
        }
    }

    /// `2026-06`.
    #[must_use]
    pub fn written(&self) -> String {
        self.month.strftime("%Y-%m").to_string()
    }
}

/// The prices of a district.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct District {
    /// The name: `강남구`.
    pub name: String,
    /// The months, without a gap, the newest last. There is one at least.
    months: Vec<MonthPrices>,
}

impl District {
    /// The months, without a gap, the newest last.
    #[must_use]
    pub fn months(&self) -> &[MonthPrices] {
        &self.months
    }

    /// The newest month.
    #[must_use]
    pub fn newest(&self) -> Option<&MonthPrices> {
        self.months.last()
    }

    /// The month that is so many months before the newest.
    #[must_use]
    pub fn before(&self, months: usize) -> Option<&MonthPrices> {
        self.months.len().checked_sub(months + 1).and_then(|at| self.months.get(at))
    }
}

/// The prices of all districts. Made by [`Market::parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Market {
    /// Where the prices come from.
    pub origin: Origin,
    districts: Vec<District>,
}

impl Market {
    /// The prices in `text`, which is CSV as `data/market.csv`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of a row that is wrong, out of order, or twice there.
    pub fn parse(file: &str, text: &str) -> Result<Self, DataError> {
        let mut head = Head::default();
        let mut has_columns = false;
        let mut districts: Vec<District> = Vec::new();
        for (line, row) in (1..).zip(text.lines()) {
            let row = row.trim();
            if row.is_empty() {
            } else if let Some(comment) = row.strip_prefix('#') {
                head.take(line, comment);
            } else if !has_columns {
                if row != COLUMNS {
                    let reason = format!("the columns are `{COLUMNS}`, and `{row}` is not that");
                    return Err(DataError::at(file, line, reason));
                }
                has_columns = true;
            } else {
                add(file, line, row, &mut districts)?;
            }
        }
        if districts.is_empty() {
            return Err(DataError::of(
                file,
                format!("there is no price; write rows of `{COLUMNS}`"),
            ));
        }
        Ok(Self { origin: head.origin(file)?, districts })
    }

    /// The prices that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the file is part of the program, and its tests read it.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse("data/market.csv", SHIPPED)
    }

    /// The districts, in the order of the file.
    #[must_use]
    pub fn districts(&self) -> &[District] {
        &self.districts
    }

    /// The names of the districts, in the order of the file.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.districts.iter().map(|district| district.name.clone()).collect()
    }

    /// The district that somebody writes: `강남구`, `강남` or `서울 강남구`.
    #[must_use]
    pub fn district(&self, written: &str) -> Option<&District> {
        self.districts.iter().find(|district| is_district(written, &district.name))
    }
}

/// Whether a person who writes `written` means the district `name`.
#[must_use]
pub fn is_district(written: &str, name: &str) -> bool {
    let written = written.trim();
    let city = ["서울특별시", "서울시", "서울"].iter().find_map(|city| written.strip_prefix(city));
    let written = city.unwrap_or(written).trim();
    let bare = name.strip_suffix('구').unwrap_or(name);
    !written.is_empty() && (written == name || written == bare)
}

/// What the comments before the rows say.
#[derive(Debug, Default)]
struct Head {
    as_of: Option<(usize, String)>,
    source: Option<(usize, String)>,
}

impl Head {
    fn take(&mut self, line: usize, comment: &str) {
        let Some(pair) = comment.split_once(':') else { return };
        let value = Some((line, pair.1.trim().to_owned()));
        match pair.0.trim() {
            "as_of" => self.as_of = value,
            "source" => self.source = value,
            _ => {}
        }
    }

    fn origin(self, file: &str) -> Result<Origin, DataError> {
        let missing = |name| DataError::of(file, format!("the line `# {name}: …` is missing"));
        let as_of = self.as_of.ok_or_else(|| missing("as_of"))?;
        let source = self.source.ok_or_else(|| missing("source"))?;
        let line = if source.1.is_empty() { source.0 } else { as_of.0 };
        Origin::parse(file, line, &as_of.1, &source.1)
    }
}

fn add(file: &str, line: usize, row: &str, districts: &mut Vec<District>) -> Result<(), DataError> {
    let fault = |reason: String| DataError::at(file, line, reason);
    let fields: Vec<&str> = row.split(',').map(str::trim).collect();
    let &[name, month, sale, jeonse, monthly_deposit, monthly_rent] = fields.as_slice() else {
        return Err(fault(format!("a row has 6 fields, and this one has {}", fields.len())));
    };
    if name.is_empty() {
        return Err(fault("the district is empty".to_owned()));
    }
    let day = (month.len() == 7).then(|| format!("{month}-01").parse::<Date>().ok()).flatten();
    let day = day.ok_or_else(|| fault(format!("`{month}` is no month; write it as 2026-06")))?;
    let amount = |text: &str| {
        let amount = text.parse::<i64>().ok().filter(|amount| (1..=MOST).contains(amount));
        amount.map(|amount| amount * UNIT).ok_or_else(|| {
            fault(format!("`{text}` is no amount in 만원 from 1 to {MOST}; write it as 85000"))
        })
    };
    let prices = MonthPrices {
        month: day,
        sale: amount(sale)?,
        jeonse: amount(jeonse)?,
        monthly_deposit: amount(monthly_deposit)?,
        monthly_rent: amount(monthly_rent)?,
    };
    if let Some(last) = districts.last_mut().filter(|last| last.name == name) {
        let next = last.newest().and_then(|newest| newest.month.checked_add(1.month()).ok());
        if next != Some(day) {
            let next = next.map(|next| next.strftime("%Y-%m").to_string()).unwrap_or_default();
            return Err(fault(format!("{name} goes on with {next}, and this row is of {month}")));
        }
        last.months.push(prices);
    } else if districts.iter().any(|district| district.name == name) {
        return Err(fault(format!("{name} stands twice; write its months one after the other")));
    } else {
        districts.push(District { name: name.to_owned(), months: vec![prices] });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_districts_have_the_same_24_months() {
        let market = Market::shipped().unwrap();
        assert_eq!(market.districts().len(), 12);
        for district in market.districts() {
            assert_eq!(district.months().len(), 24, "{}", district.name);
            assert_eq!(district.newest().unwrap().written(), "2026-06");
            assert_eq!(district.before(12).unwrap().written(), "2025-06");
            assert!(district.before(24).is_none());
        }
        assert!(market.origin.source.contains("지어낸"));
    }

    #[test]
    fn a_district_is_known_as_people_write_it() {
        let market = Market::shipped().unwrap();
        for text in ["강남구", "강남", " 서울 강남구", "서울특별시 강남구", "서울시강남"]
        {
            assert_eq!(market.district(text).unwrap().name, "강남구", "{text}");
        }
        for text in ["", "구", "서울", "강", "종로구", "강남구청"] {
            assert!(market.district(text).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let row = "강남구,2024-07,233280,112670,33800,329";
        for (from, to, want) in [
            ("# as_of: 2026-06-30", "# as_of: gestern", "m.csv:1: `gestern` is no day"),
            ("# as_of: 2026-06-30\n", "", "m.csv: the line `# as_of: …` is missing"),
            ("month,sale", "month,price", "m.csv:4: the columns are `district,month,sale"),
            (
                row,
                "강남구,2024-07,233280,112670,33800",
                "m.csv:5: a row has 6 fields, and this one has 5",
            ),
            (row, "강남구,2024-13,1,1,1,1", "m.csv:5: `2024-13` is no month"),
            (row, "강남구,2024-07,-1,1,1,1", "m.csv:5: `-1` is no amount in 만원"),
            (row, "강남구,2024-07,1.5,1,1,1", "m.csv:5: `1.5` is no amount in 만원"),
            (row, "강남구,2024-07,99999999999,1,1,1", "m.csv:5: `99999999999` is no amount"),
            (row, ",2024-07,1,1,1,1", "m.csv:5: the district is empty"),
            (row, "강남구,2024-05,1,1,1,1", "m.csv:6: 강남구 goes on with 2024-06"),
            ("은평구,2026-06", "강남구,2026-06", "m.csv:268: 강남구 stands twice"),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = Market::parse("m.csv", &SHIPPED.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().starts_with(want), "{error}\n{want}");
        }
        let error = Market::parse("m.csv", "").unwrap_err();
        assert!(error.to_string().starts_with("m.csv: there is no price"), "{error}");
    }
}
