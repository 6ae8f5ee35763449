//! What a loan costs, month by month.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::fmt::Write;

use proptest::prelude::*;

use hanok_figures::Number;
use real_estate::money::{
    MOST_WON,
    loans::{Loan, LoanError, MOST_MONTHS, Method},
};

const METHODS: [Method; 3] = [Method::Annuity, Method::EqualPrincipal, Method::Bullet];

fn loan(amount: i64, percent: &str, months: u32, grace: u32, method: Method) -> Loan {
    let loan = Loan::new(amount, percent.parse().unwrap(), months, method).unwrap();
    loan.grace(grace).unwrap()
}

#[test]
fn a_loan_of_thirty_years_is_paid_as_banks_say() {
    let of = |method| loan(300_000_000, "4.0", 360, 0, method).schedule().unwrap();
    let annuity = of(Method::Annuity);
    assert_eq!(annuity.first().payment, 1_432_245);
    let equal = of(Method::EqualPrincipal);
    assert_eq!(equal.first().payment, 1_833_333);
    assert_eq!(equal.interest_before_rounding_shown().unwrap(), "180500000.00");
    let bullet = of(Method::Bullet);
    assert_eq!(bullet.first().payment, 1_000_000);
    assert_eq!(bullet.last().payment, 301_000_000);
    assert_eq!(bullet.interest(), 360_000_000);
}

/// Forty loans as they were checked against fractions.
#[test]
fn forty_loans_are_as_they_were() {
    let mut table = String::from(
        "amount\tpercent\tmonths\tgrace\tmethod\tfirst\tlast\tinterest\tbefore rounding\n",
    );
    let loans = [
        (300_000_000, "4.0", 360, 0),
        (300_000_000, "4.0", 360, 60),
        (500_000_000, "3.75", 480, 12),
        (123_456_789, "5.123456", 37, 0),
        (1, "4.5", 1, 0),
        (1, "100", 600, 0),
        (10_000_000, "0", 7, 0),
        (10_000_000, "0", 600, 599),
        (999_999_999_999, "0.000001", 600, 0),
        (1_000_000_000_000_000, "100", 600, 0),
        (70_000_000, "2.1", 120, 24),
        (45_000_000, "19.9", 12, 0),
        (250_000_000, "6", 600, 0),
    ];
    for (amount, percent, months, grace) in loans {
        for method in METHODS {
            line(&mut table, grace, &loan(amount, percent, months, grace, method));
        }
    }
    line(&mut table, 23, &loan(2_000_000, "3.33", 24, 23, Method::Annuity));
    assert_eq!(table.lines().count(), 41);
    insta::assert_snapshot!(table);
}

fn line(table: &mut String, grace: u32, loan: &Loan) {
    let schedule = loan.schedule().unwrap();
    writeln!(
        table,
        "{}\t{}\t{}\t{}\t{:?}\t{}\t{}\t{}\t{}",
        loan.amount(),
        loan.percent(),
        loan.months(),
        grace,
        loan.method(),
        schedule.first().payment,
        schedule.last().payment,
        schedule.interest(),
        schedule.interest_before_rounding_shown().unwrap(),
    )
    .unwrap();
}

#[test]
fn what_is_no_loan_is_refused_with_its_value() {
    let new = |amount, percent: &str, months| {
        Loan::new(amount, percent.parse().unwrap(), months, Method::Annuity)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(new(0, "4", 12), "대출금은 1원부터 1,000조원까지여야 합니다. 받은 값: 0원");
    assert_eq!(new(-5, "4", 12), "대출금은 1원부터 1,000조원까지여야 합니다. 받은 값: -5원");
    for percent in ["-1", "100.1", "4.1234567"] {
        assert!(new(1, percent, 12).ends_with(&format!("받은 값: {percent}%")));
    }
    for months in [0, 601, u32::MAX] {
        assert!(new(1, "4", months).ends_with(&format!("받은 값: {months}개월")));
    }
    let loan = Loan::new(1, Number::from(4), 12, Method::Bullet).unwrap();
    assert_eq!(loan.grace(12), Err(LoanError::Grace { grace: 12, months: 12 }));
}

/// What is cut off the interest pays a small loan back before its end; the months that are left cost nothing.
#[test]
fn a_small_loan_that_is_paid_early_owes_nothing_more() {
    let schedule = loan(500, "2", 300, 0, Method::Annuity).schedule().unwrap();
    let paid: i64 = schedule.instalments().iter().map(|one| one.principal).sum();
    assert_eq!((paid, schedule.first().payment), (500, 2));
    let (before, after) = schedule.instalments().split_at(250);
    assert!(before.iter().all(|one| one.payment == 2));
    assert!(after.iter().all(|one| (one.payment, one.balance) == (0, 0)));
}

/// How many months nothing is paid back, and the loan.
fn any_loan() -> impl Strategy<Value = (u32, Loan)> {
    let amounts = prop_oneof![1..1_000_i64, 1..10_000_000_000_i64, Just(MOST_WON)];
    let rates = prop_oneof![Just(0_i64), 0..=2_000_000_i64, 0..=100_000_000_i64, Just(100_000_000)];
    (amounts, rates, 1..=MOST_MONTHS, 0..MOST_MONTHS, 0..3_usize).prop_map(|parts| {
        let (amount, millionths, months, grace, method) = parts;
        let percent = Number::from(millionths).divide(&Number::from(1_000_000)).unwrap();
        let loan = Loan::new(amount, percent, months, METHODS[method]).unwrap();
        let grace = grace % months;
        (grace, loan.grace(grace).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_principal_parts_add_up_to_the_loan((grace, loan) in any_loan()) {
        let schedule = loan.schedule().unwrap();
        let instalments = schedule.instalments();
        prop_assert_eq!(instalments.len(), loan.months() as usize);
        let paid: i64 = instalments.iter().map(|instalment| instalment.principal).sum();
        prop_assert_eq!(paid, loan.amount());
        prop_assert_eq!(schedule.last().balance, 0);
        let mut before = loan.amount();
        for instalment in instalments {
            prop_assert!(instalment.principal >= 0 && instalment.interest >= 0);
            prop_assert_eq!(instalment.balance, before - instalment.principal);
            prop_assert!(instalment.balance >= 0);
            prop_assert_eq!(instalment.payment, instalment.principal + instalment.interest);
            if instalment.month <= grace && instalment.month < loan.months() {
                prop_assert_eq!(instalment.principal, 0);
            }
            before = instalment.balance;
        }
    }

    /// Of an annuity, all instalments that pay back are equal until the loan is paid or the last one settles.
    #[test]
    fn the_instalments_of_an_annuity_are_equal((grace, loan) in any_loan()) {
        prop_assume!(loan.method() == Method::Annuity);
        let schedule = loan.schedule().unwrap();
        let paying: Vec<_> = schedule.instalments().iter().filter(|one| one.month > grace).collect();
        for pair in paying.windows(2) {
            if pair[1].balance > 0 && pair[1].month < loan.months() {
                prop_assert_eq!(pair[0].payment, pair[1].payment);
            }
        }
    }
}
