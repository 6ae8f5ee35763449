//! Whether the terms of a lease are some that a lease may have.

use jiff::civil::Date;
use thiserror::Error;

use super::terms::LeaseTerms;
use crate::money::MOST_WON;

/// The longest name, address or other value, in characters.
const LONGEST: usize = 200;

/// The longest clause of one's own, in characters.
const LONGEST_CLAUSE: usize = 1_000;

/// The most clauses of one's own.
const MOST_CLAUSES: usize = 30;

/// The years that a lease lasts at most: beyond, a year is a slip of the pen.
const MOST_YEARS: i16 = 100;

/// Terms that no lease has. The message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TermsError {
    /// A value has nothing in it.
    #[error("{name}: 비어 있습니다")]
    Empty {
        /// What it is.
        name: &'static str,
    },
    /// A value is too long.
    #[error("{name}: {most}자보다 깁니다. 줄여 적어 주십시오")]
    TooLong {
        /// What it is.
        name: &'static str,
        /// The most characters.
        most: usize,
    },
    /// There are too many clauses of one's own.
    #[error("특약이 {most}개보다 많습니다. 줄이거나 합쳐 주십시오")]
    TooMany {
        /// The most.
        most: usize,
    },
    /// A value has a character that no text of one line has.
    #[error("{name}: 쓸 수 없는 글자(U+{code:04X})가 있습니다. 한 줄의 보통 글자로 적어 주십시오")]
    Character {
        /// What it is.
        name: &'static str,
        /// The character.
        code: u32,
    },
    /// A value has the number of a resident, which no draft keeps.
    #[error(
        "{name}: 주민등록번호로 보이는 숫자가 있습니다. 초안에는 적지 않고 서명할 때 손으로 적습니다"
    )]
    ResidentNumber {
        /// What it is.
        name: &'static str,
    },
    /// An amount is none.
    #[error("{name}: 0원부터 1,000조원까지여야 합니다. 받은 값: {amount}원")]
    Amount {
        /// What it is.
        name: &'static str,
        /// The value in won.
        amount: i64,
    },
    /// What is paid before the rest of the deposit is more than the deposit.
    #[error("계약금과 중도금({paid}원)이 보증금({deposit}원)보다 많습니다")]
    Parts {
        /// The down payment and the interim payment in won.
        paid: i64,
        /// The deposit in won.
        deposit: i64,
    },
    /// A month has no such day.
    #[error("월세를 내는 날은 1일부터 31일까지여야 합니다. 받은 값: {day}")]
    RentDay {
        /// The value.
        day: u8,
    },
    /// The first day is not before the last one, or a century before.
    #[error("임대차 기간이 맞지 않습니다: {from}부터 {until}까지")]
    Period {
        /// The first day.
        from: Date,
        /// The last day.
        until: Date,
    },
    /// What was filled in is no terms.
    #[error("적어 주신 내용을 읽지 못했습니다: {reason}")]
    Form {
        /// Why.
        reason: String,
    },
}

impl LeaseTerms {
    /// Whether every term that is stated is one that a lease may have.
    ///
    /// # Errors
    ///
    /// The first [`TermsError`] in the order of the fields.
    pub fn check(&self) -> Result<(), TermsError> {
        for (name, value) in [
            ("임대인의 이름", &self.landlord),
            ("임대인의 주소", &self.landlord_address),
            ("임차인의 이름", &self.tenant),
            ("임차인의 주소", &self.tenant_address),
            ("소재지", &self.address),
            ("면적", &self.area),
            ("중개사", &self.broker),
        ] {
            if let Some(value) = value {
                line(name, value, LONGEST)?;
            }
        }
        if self.special.len() > MOST_CLAUSES {
            return Err(TermsError::TooMany { most: MOST_CLAUSES });
        }
        for clause in &self.special {
            line("특약", clause, LONGEST_CLAUSE)?;
        }
        for (name, amount) in [
            ("보증금", self.deposit),
            ("월세", self.monthly_rent),
            ("계약금", self.down_payment),
            ("중도금", self.interim_payment),
            ("관리비", self.maintenance_fee),
            ("집값", self.price),
            ("선순위 채권", self.senior_debt),
            ("지난 보증금", self.previous_deposit),
            ("지난 월세", self.previous_rent),
        ] {
            if let Some(amount) = amount.filter(|amount| !(0..=MOST_WON).contains(amount)) {
                return Err(TermsError::Amount { name, amount });
            }
        }
        let parts = [self.down_payment, self.interim_payment].into_iter().flatten();
        let paid = parts.fold(0, i64::saturating_add);
        if let Some(deposit) = self.deposit.filter(|deposit| paid > *deposit) {
            return Err(TermsError::Parts { paid, deposit });
        }
        if let Some(day) = self.rent_day.filter(|day| !(1..=31).contains(day)) {
            return Err(TermsError::RentDay { day });
        }
        if let (Some(from), Some(until)) = (self.from, self.until)
            && (from >= until || until.year().saturating_sub(from.year()) > MOST_YEARS)
        {
            return Err(TermsError::Period { from, until });
        }
        Ok(())
    }
}

/// Checks a value of one line.
pub(super) fn line(name: &'static str, value: &str, most: usize) -> Result<(), TermsError> {
    // Bytes first: a megabyte is not walked over.
    if value.len() > most * 4 || value.chars().count() > most {
        return Err(TermsError::TooLong { name, most });
    }
    if let Some(wrong) = value.chars().find(|c| is_refused(*c)) {
        return Err(TermsError::Character { name, code: u32::from(wrong) });
    }
    if has_resident_number(value) {
        return Err(TermsError::ResidentNumber { name });
    }
    // `( )` would be a blank.
    match value.chars().any(char::is_alphanumeric) {
        true => Ok(()),
        false => Err(TermsError::Empty { name }),
    }
}

/// Whether thirteen digits stand together, but for a hyphen or a space behind the sixth, that may be a resident's number: a month, a
/// day and a first digit of 1 to 8 behind the birthday.
fn has_resident_number(value: &str) -> bool {
    let chars: Vec<char> = value.chars().collect();
    let digit = |at: usize| chars.get(at).and_then(|c| c.to_digit(10));
    (0..chars.len()).any(|start| {
        let gap = usize::from(matches!(chars.get(start + 6), Some('-' | ' ' | '–')));
        let at = |place: usize| digit(start + place + if place < 6 { 0 } else { gap });
        let digits: Option<Vec<u32>> = (0..13).map(at).collect();
        let is_apart = start.checked_sub(1).is_none_or(|before| digit(before).is_none())
            && digit(start + 13 + gap).is_none();
        digits.is_some_and(|digits| match digits.as_slice() {
            [_, _, m1, m2, d1, d2, kind, ..] => {
                let (month, day) = (m1 * 10 + m2, d1 * 10 + d2);
                is_apart
                    && (1..=12).contains(&month)
                    && (1..=31).contains(&day)
                    && (1..=8).contains(kind)
            }
            _ => false,
        })
    })
}

/// Controls, line ends, signs that turn the direction of text or are not seen, and what XML has not.
fn is_refused(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{e000}'..='\u{f8ff}'
                | '\u{e0000}'..='\u{e0fff}'
        )
        || u32::from(c) & 0xfffe == 0xfffe
}
