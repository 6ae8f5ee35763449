//! The fields that a lease cannot be without, and the form that asks for those nobody stated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::terms::LeaseTerms;
use crate::money::MOST_WON;

/// A field that a lease cannot be without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The landlord's name.
    Landlord,
    /// The tenant's name.
    Tenant,
    /// The home's address.
    Address,
    /// The area of what is let.
    Area,
    /// The deposit.
    Deposit,
    /// The rent of a month, 0 for 전세.
    MonthlyRent,
    /// The day of the month on which the rent is due. Only with a rent.
    RentDay,
    /// The down payment.
    DownPayment,
    /// The day of the interim payment. Only with one.
    InterimDate,
    /// The day on which the rest of the deposit is paid.
    BalanceDate,
    /// The first day.
    From,
    /// The last day.
    Until,
}

/// What a form shows of a field.
struct Shown {
    key: &'static str,
    title: &'static str,
    description: &'static str,
    schema: Value,
}

impl Field {
    /// All of them, in the order in which they are asked for.
    pub const ALL: [Self; 12] = [
        Self::Landlord,
        Self::Tenant,
        Self::Address,
        Self::Area,
        Self::Deposit,
        Self::MonthlyRent,
        Self::RentDay,
        Self::DownPayment,
        Self::InterimDate,
        Self::BalanceDate,
        Self::From,
        Self::Until,
    ];

    /// The name of the field in [`LeaseTerms`].
    #[must_use]
    pub fn key(self) -> &'static str {
        self.shown().key
    }

    /// The name for a reader.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.shown().title
    }

    fn shown(self) -> Shown {
        let text = || json!({"type": "string", "minLength": 1, "maxLength": 200});
        let won = || json!({"type": "integer", "minimum": 0, "maximum": MOST_WON});
        let day = || json!({"type": "string", "format": "date"});
        let (key, title, description, schema) = match self {
            Self::Landlord => ("landlord", "임대인", "집을 빌려주는 사람의 이름", text()),
            Self::Tenant => ("tenant", "임차인", "집을 빌리는 사람의 이름", text()),
            Self::Address => {
                ("address", "소재지", "빌리는 집의 주소. 동과 호수까지 적습니다", text())
            }
            Self::Area => ("area", "면적", "빌리는 부분의 면적. 예: 84.97㎡", text()),
            Self::Deposit => ("deposit", "보증금", "보증금 또는 전세금. 원 단위", won()),
            Self::MonthlyRent => {
                ("monthly_rent", "월세", "한 달의 월세. 원 단위이며 전세이면 0", won())
            }
            Self::RentDay => (
                "rent_day",
                "월세를 내는 날",
                "매월 며칠에 내는지. 1부터 31까지",
                json!({"type": "integer", "minimum": 1, "maximum": 31}),
            ),
            Self::DownPayment => ("down_payment", "계약금", "계약할 때 내는 금액. 원 단위", won()),
            Self::InterimDate => ("interim_date", "중도금일", "중도금을 내는 날", day()),
            Self::BalanceDate => ("balance_date", "잔금일", "나머지 보증금을 치르는 날", day()),
            Self::From => ("from", "시작하는 날", "임대차의 첫날", day()),
            Self::Until => ("until", "끝나는 날", "임대차의 마지막 날", day()),
        };
        Shown { key, title, description, schema }
    }
}

/// The fields that nobody stated and that a lease cannot be without, in the order in which they are asked for.
#[must_use]
pub fn missing(terms: &LeaseTerms) -> Vec<Field> {
    Field::ALL.into_iter().filter(|field| terms.lacks(*field)).collect()
}

/// The JSON Schema of an object with exactly these fields, all of them required.
///
/// A person fills it; [`LeaseTerms::filled`] takes the answer.
#[must_use]
pub fn form(missing: &[Field]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in missing {
        let Shown { key, title, description, mut schema } = field.shown();
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("title".to_owned(), title.into());
            schema.insert("description".to_owned(), description.into());
        }
        properties.insert(key.to_owned(), schema);
        required.push(key);
    }
    json!({
        "type": "object",
        "title": "임대차계약서에 필요한 내용",
        "description": "아직 정해지지 않은 것만 묻습니다. 계약서는 모두 적은 뒤에 만듭니다.",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}
