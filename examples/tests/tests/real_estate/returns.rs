//! What a flat that is let yields.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_figures::Number;
use proptest::prelude::*;
use real_estate::money::returns::{Purchase, Returns};

fn flat() -> Purchase {
    Purchase {
        price: 500_000_000,
        buying_costs: 10_000_000,
        deposit: 50_000_000,
        rent: 1_800_000,
        yearly_costs: 1_500_000,
        empty_months: 1,
        loan: 200_000_000,
        loan_percent: "4.2".parse().unwrap(),
    }
}

#[test]
fn a_rented_flat_yields_what_it_does_by_hand() {
    let returns = flat().returns().unwrap();
    let want = Returns {
        yearly_rent: 21_600_000,
        net_income: 18_300_000,
        yearly_interest: 8_400_000,
        cash_flow: 9_900_000,
        own_money: 260_000_000,
        gross_percent: "4.32".into(),
        net_percent: "3.59".into(),
        cash_on_cash_percent: Some("3.81".into()),
        deposit_to_price_percent: "10.00".into(),
    };
    assert_eq!(returns, want);
}

#[test]
fn without_own_money_there_is_no_rate_on_it() {
    let returns = Purchase { deposit: 310_000_000, ..flat() }.returns().unwrap();
    assert_eq!((returns.own_money, returns.cash_on_cash_percent), (0, None));
    let returns = Purchase { deposit: 400_000_000, ..flat() }.returns().unwrap();
    assert_eq!((returns.own_money, returns.cash_on_cash_percent), (-90_000_000, None));
    let returns = Purchase { rent: 0, ..flat() }.returns().unwrap();
    assert_eq!((returns.cash_flow, returns.gross_percent.as_str()), (-9_900_000, "0.00"));
}

#[test]
fn what_is_out_of_range_is_named() {
    for (purchase, want) in [
        (Purchase { price: 0, ..flat() }, "매매가: 1원부터"),
        (Purchase { rent: -1, ..flat() }, "월세: 0원부터"),
        (Purchase { empty_months: 13, ..flat() }, "공실은 1년에"),
        (Purchase { loan_percent: Number::from(101), ..flat() }, "대출 이율은"),
    ] {
        let error = purchase.returns().unwrap_err().to_string();
        assert!(error.starts_with(want), "{error}");
    }
}

proptest! {
    #[test]
    fn no_amounts_panic(parts in prop::array::uniform6(any::<i64>()), empty in any::<u32>()) {
        let [price, buying_costs, deposit, rent, yearly_costs, loan] = parts;
        let loan_percent = Number::from(loan % 101);
        let purchase = Purchase { price, buying_costs, deposit, rent, yearly_costs, empty_months: empty, loan, loan_percent };
        drop(purchase.returns());
    }
}
