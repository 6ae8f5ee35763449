//! Claimed confidence against how often it was right.

use std::fmt;

/// The upper ends of the buckets, in per cent; the last one takes whatever is claimed above it.
const ENDS: [u32; 5] = [50, 70, 80, 90, 100];

/// How often answers of each claimed confidence were right.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    buckets: [Count; ENDS.len()],
    /// What a rule chose, which claims nothing.
    by_rule: Count,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Count {
    all: u32,
    right: u32,
    claimed: f64,
}

impl Count {
    fn add(&mut self, claimed: f64, is_right: bool) {
        self.all += 1;
        self.right += u32::from(is_right);
        self.claimed += claimed;
    }
}

impl Claims {
    /// Counts a question: with the lowest confidence that was claimed for its choices, or none where a rule made one.
    pub(crate) fn add(&mut self, claimed: Option<f64>, is_right: bool) {
        let Some(claimed) = claimed else { return self.by_rule.add(0.0, is_right) };
        let place = ENDS.iter().position(|end| claimed * 100.0 <= f64::from(*end));
        self.buckets[place.unwrap_or(ENDS.len() - 1)].add(claimed, is_right);
    }
}

impl fmt::Display for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| claimed confidence | questions | claimed on average | right | right of them |"
        )?;
        write!(f, "| --- | --: | --: | --: | --: |")?;
        let share = |count: &Count, of: f64| match count.all {
            0 => "-".to_owned(),
            all => format!("{:.0} %", of * 100.0 / f64::from(all)),
        };
        let mut from = 0;
        for (end, count) in ENDS.iter().zip(&self.buckets) {
            let (claimed, right) =
                (share(count, count.claimed), share(count, f64::from(count.right)));
            write!(
                f,
                "\n| {from} to {end} % | {} | {claimed} | {} | {right} |",
                count.all, count.right
            )?;
            from = *end;
        }
        let Count { all, right, .. } = self.by_rule;
        let of_them = share(&self.by_rule, f64::from(right));
        write!(f, "\n| none, by a rule | {all} | - | {right} | {of_them} |")
    }
}

#[test]
fn a_claim_is_counted_in_its_bucket() {
    let mut claims = Claims::default();
    for (claimed, is_right) in [
        (Some(0.9), true),
        (Some(0.85), false),
        (Some(0.95), true),
        (Some(7.0), false),
        (Some(-1.0), false),
        (None, true),
    ] {
        claims.add(claimed, is_right);
    }
    insta::assert_snapshot!(claims, @r"
    | claimed confidence | questions | claimed on average | right | right of them |
    | --- | --: | --: | --: | --: |
    | 0 to 50 % | 1 | -100 % | 0 | 0 % |
    | 50 to 70 % | 0 | - | 0 | - |
    | 70 to 80 % | 0 | - | 0 | - |
    | 80 to 90 % | 2 | 88 % | 1 | 50 % |
    | 90 to 100 % | 2 | 398 % | 1 | 50 % |
    | none, by a rule | 1 | - | 1 | 100 % |
    ");
}
