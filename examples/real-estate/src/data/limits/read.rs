//! The rows of the file, checked.

use hanok_figures::Number;
use serde::Serialize;
use toml::Spanned;

use super::raw::{Cited, File, Named, Place, Unit};
use super::{
    Area, Buyer, Ceiling, DataError, DepositRegion, Lender, Limit, Limits, SmallDeposit, Source,
};

/// The limits that have a name, with their units.
const NAMES: [(&str, Unit); 11] = [
    ("rent_increase", Unit::Percent),
    ("increase_pause", Unit::Months),
    ("conversion_ceiling", Unit::Percent),
    ("conversion_margin", Unit::Percent),
    ("base_rate", Unit::Percent),
    ("lease_term", Unit::Months),
    ("renewal_from", Unit::Months),
    ("renewal_until", Unit::Months),
    ("deposit_to_price", Unit::Percent),
    ("down_payment", Unit::Percent),
    ("dsr_from", Unit::Won),
];

/// The rules that have a place and no number.
const PLACES: [&str; 2] = ["own_clauses", "senior_debt"];

const AREAS: [Area; 3] = [Area::Regulated, Area::Capital, Area::Other];
const BUYERS: [Buyer; 4] = [Buyer::NoHome, Buyer::FirstHome, Buyer::OneHome, Buyer::MoreHomes];
const REGIONS: [DepositRegion; 4] = [
    DepositRegion::Seoul,
    DepositRegion::Overcrowded,
    DepositRegion::Metropolitan,
    DepositRegion::Other,
];

pub(super) fn limits(file: &str, text: &str) -> Result<Limits, DataError> {
    let reader = Reader { file, text };
    let rows: File = toml::from_str(text)
        .map_err(|error| reader.fault(error.span().map(|span| span.start), error.message()))?;
    let named = |name| reader.named(&rows.limit, name);
    for row in &rows.limit {
        reader.check_name(row)?;
    }
    let ltv = rows.ltv.iter().map(|row| Row {
        at: row.area.span().start,
        key: (*row.area.get_ref(), row.buyer),
        value: &row.percent,
        cited: row.cited(),
    });
    let dti = rows.dti.iter().map(|row| Row::of(&row.area, &row.percent, row.cited()));
    let dsr = rows.dsr.iter().map(|row| Row::of(&row.lender, &row.percent, row.cited()));
    let stress = rows.stress.iter().map(|row| Row::of(&row.area, &row.points, row.cited()));
    let limits = Limits {
        rent_increase: named("rent_increase")?,
        increase_pause: named("increase_pause")?,
        conversion_ceiling: named("conversion_ceiling")?,
        conversion_margin: named("conversion_margin")?,
        base_rate: named("base_rate")?,
        lease_term: named("lease_term")?,
        renewal_from: named("renewal_from")?,
        renewal_until: named("renewal_until")?,
        deposit_to_price: named("deposit_to_price")?,
        down_payment: named("down_payment")?,
        dsr_from: named("dsr_from")?,
        small_deposits: reader.small_deposits(&rows)?,
        ltv: reader.table(ltv)?,
        dti: reader.table(dti)?,
        dsr: reader.table(dsr)?,
        stress: reader.table(stress)?,
        ceilings: reader.ceilings(&rows)?,
        own_clauses: reader.place(&rows.place, "own_clauses")?,
        senior_debt: reader.place(&rows.place, "senior_debt")?,
    };
    reader.check_places(&rows.place)?;
    for region in REGIONS {
        reader.needed("small_deposit", region, limits.small_deposit(region).is_some())?;
    }
    for area in AREAS {
        reader.needed("stress", area, limits.stress(area).is_some())?;
        for buyer in BUYERS {
            reader.needed("ltv", area, limits.ltv(area, buyer).is_some())?;
        }
    }
    for lender in [Lender::Bank, Lender::Other] {
        reader.needed("dsr", lender, limits.dsr(lender).is_some())?;
    }
    Ok(limits)
}

/// A row of one number under a key.
struct Row<'a, K> {
    at: usize,
    key: K,
    value: &'a Spanned<String>,
    cited: Cited<'a>,
}

impl<'a, K: Copy> Row<'a, K> {
    fn of(key: &Spanned<K>, value: &'a Spanned<String>, cited: Cited<'a>) -> Self {
        Self { at: key.span().start, key: *key.get_ref(), value, cited }
    }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn fault(&self, at: Option<usize>, reason: impl Into<String>) -> DataError {
        let before = at.map(|at| self.text.get(..at).unwrap_or(self.text));
        let line = before.map(|before| before.matches('\n').count() + 1);
        DataError { file: self.file.into(), line, reason: reason.into() }
    }

    /// The limit `name`, which stands once.
    fn named(&self, rows: &[Named], name: &str) -> Result<Limit, DataError> {
        let mut rows = rows.iter().filter(|row| row.key.get_ref() == name);
        let Some(row) = rows.next() else {
            return Err(self.fault(None, format!("the limit `{name}` is missing")));
        };
        if let Some(second) = rows.next() {
            let at = second.key.span().start;
            return Err(self.fault(Some(at), format!("`{name}` stands twice")));
        }
        Ok(Limit { value: self.number(&row.value)?, source: self.source(row.cited())? })
    }

    fn check_name(&self, row: &Named) -> Result<(), DataError> {
        let (name, at) = (row.key.get_ref(), row.key.span().start);
        let Some((_, unit)) = NAMES.iter().find(|pair| pair.0 == name) else {
            let all = NAMES.map(|pair| pair.0).join(", ");
            let reason = format!("there is no limit `{name}`; there are {all}");
            return Err(self.fault(Some(at), reason));
        };
        if row.unit.get_ref() == unit {
            return Ok(());
        }
        let at = row.unit.span().start;
        Err(self.fault(Some(at), format!("`{name}` is in {}", unit.name())))
    }

    /// The place `name`, which stands once.
    fn place(&self, rows: &[Place], name: &str) -> Result<Source, DataError> {
        let mut rows = rows.iter().filter(|row| row.key.get_ref() == name);
        let Some(row) = rows.next() else {
            return Err(self.fault(None, format!("the place `{name}` is missing")));
        };
        if let Some(second) = rows.next() {
            let at = second.key.span().start;
            return Err(self.fault(Some(at), format!("`{name}` stands twice")));
        }
        self.source(row.cited())
    }

    fn check_places(&self, rows: &[Place]) -> Result<(), DataError> {
        let Some(row) = rows.iter().find(|row| !PLACES.contains(&row.key.get_ref().as_str()))
        else {
            return Ok(());
        };
        let reason =
            format!("there is no place `{}`; there are {}", row.key.get_ref(), PLACES.join(", "));
        Err(self.fault(Some(row.key.span().start), reason))
    }

    fn needed(&self, rows: &str, key: impl Serialize, is_there: bool) -> Result<(), DataError> {
        if is_there {
            return Ok(());
        }
        let key = serde_json::to_value(key).unwrap_or_default();
        let key = key.as_str().unwrap_or_default();
        Err(self.fault(None, format!("the rows `{rows}` for `{key}` are missing")))
    }

    fn number(&self, value: &Spanned<String>) -> Result<Number, DataError> {
        let (text, at) = (value.get_ref(), value.span().start);
        let number: Number = text.parse().map_err(|_cause| {
            self.fault(Some(at), format!("`{text}` is no decimal number; write it as \"3.5\""))
        })?;
        if number.compare(&Number::from(0)).is_lt() {
            return Err(self.fault(Some(at), format!("`{text}` is below zero")));
        }
        Ok(number)
    }

    fn won(&self, value: &Spanned<i64>) -> Result<i64, DataError> {
        let won = *value.get_ref();
        if won < 0 {
            let at = value.span().start;
            return Err(self.fault(Some(at), format!("{won} is no amount of won")));
        }
        Ok(won)
    }

    fn source(&self, cited: Cited<'_>) -> Result<Source, DataError> {
        let day = cited.as_of.get_ref();
        let as_of = day.parse().map_err(|_cause| {
            let at = Some(cited.as_of.span().start);
            self.fault(at, format!("`{day}` is no day; write it as \"2025-05-29\""))
        })?;
        for (name, text) in [("law", cited.law), ("article", cited.article)] {
            if text.get_ref().trim().is_empty() {
                return Err(self.fault(Some(text.span().start), format!("the {name} is empty")));
            }
        }
        Ok(Source {
            law: cited.law.get_ref().clone(),
            article: cited.article.get_ref().clone(),
            as_of,
            note: cited.note.map(str::to_owned),
        })
    }

    /// Rows of one number each, no two of one key.
    fn table<'r, K: PartialEq + 'r>(
        &self,
        rows: impl Iterator<Item = Row<'r, K>>,
    ) -> Result<Vec<(K, Limit)>, DataError> {
        let mut table: Vec<(K, Limit)> = Vec::new();
        for row in rows {
            if table.iter().any(|pair| pair.0 == row.key) {
                return Err(self.fault(Some(row.at), "this row stands twice"));
            }
            let (value, source) = (self.number(row.value)?, self.source(row.cited)?);
            table.push((row.key, Limit { value, source }));
        }
        Ok(table)
    }

    fn small_deposits(&self, rows: &File) -> Result<Vec<SmallDeposit>, DataError> {
        let mut table: Vec<SmallDeposit> = Vec::new();
        for row in &rows.small_deposit {
            let region = *row.region.get_ref();
            if table.iter().any(|row| row.region == region) {
                return Err(self.fault(Some(row.region.span().start), "this row stands twice"));
            }
            table.push(SmallDeposit {
                region,
                deposit: self.won(&row.deposit)?,
                protected: self.won(&row.protected)?,
                source: self.source(row.cited())?,
            });
        }
        Ok(table)
    }

    /// The ceilings, whose prices rise within an area.
    fn ceilings(&self, rows: &File) -> Result<Vec<Ceiling>, DataError> {
        let mut table: Vec<Ceiling> = Vec::new();
        for row in &rows.ceiling {
            let area = *row.area.get_ref();
            let price_up_to = row.price_up_to.as_ref().map(|price| self.won(price)).transpose()?;
            let before = table.iter().rev().find(|other| other.area == area);
            let rises = before.is_none_or(|before| match (before.price_up_to, price_up_to) {
                (Some(before), Some(price)) => before < price,
                (before, _) => before.is_some(),
            });
            if !rises {
                let reason = "the prices of an area rise from row to row, and the last has none";
                return Err(self.fault(Some(row.area.span().start), reason));
            }
            let most = self.won(&row.most)?;
            table.push(Ceiling { area, price_up_to, most, source: self.source(row.cited())? });
        }
        Ok(table)
    }
}
