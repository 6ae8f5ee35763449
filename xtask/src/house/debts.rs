//! The debts of the crates: what each still has against the rules, counted, in a list that can only shrink.

use std::collections::BTreeMap;

use super::finding::{Check, Finding};
use crate::fault::Fault;

/// The list: a crate, a check and a count on each line, in order.
pub(super) const PATH: &str = "xtask/src/house/debts.tsv";

type Key = (String, Check);

/// The list as it is written.
#[derive(Debug, Default)]
pub(super) struct Debts {
    /// The comment at its head.
    head: String,
    /// The count of each debt, with its line.
    counts: BTreeMap<Key, (usize, usize)>,
    faults: Vec<Fault>,
}

impl Debts {
    pub(super) fn read(text: &str) -> Self {
        let mut debts = Self::default();
        let mut last = None;
        for (index, line) in text.lines().enumerate() {
            if line.starts_with('#') {
                debts.head += line;
                debts.head.push('\n');
                continue;
            }
            let mut wrong = |what| debts.faults.push(Fault::new(PATH, index + 1, what));
            match debt(line) {
                None => wrong("no debt, write a crate, a check and a count with tabs between"),
                Some((key, _)) if last.as_ref().is_some_and(|last| *last >= key) => {
                    wrong("out of order or twice, sort the lines and keep one of each");
                }
                Some((key, count)) => {
                    last = Some(key.clone());
                    debts.counts.insert(key, (count, index + 1));
                }
            }
        }
        debts
    }

    /// Returns the faults: the findings of a crate that has more than it owes, and each debt that is lower than listed.
    pub(super) fn settle(self, findings: Vec<Finding>) -> Vec<Fault> {
        let sums = sums(&findings);
        let mut faults = self.faults;
        let owed = |key: &Key| self.counts.get(key).map_or(0, |(count, _)| *count);
        for ((package, check), (count, line)) in &self.counts {
            let is = sums.get(&(package.clone(), *check)).copied().unwrap_or_default();
            let about = check.about();
            let what = if is == 0 {
                format!(
                    "`{package}` has no {about} any more, take the line out (`cargo xtask house --write`)"
                )
            } else if is < *count {
                format!(
                    "`{package}` has fewer {about}, lower the number to {is} (`cargo xtask house --write`)"
                )
            } else if is > *count {
                format!(
                    "`{package}` has {is} {about} and owes {count}: worse than it was, mend as many of those that are printed"
                )
            } else {
                continue;
            };
            faults.push(Fault::new(PATH, *line, what));
        }
        let is_too_much = |finding: &Finding| {
            let key = (finding.package.clone(), finding.check);
            sums.get(&key).is_some_and(|sum| *sum > owed(&key))
        };
        faults.extend(findings.into_iter().filter(is_too_much).map(|finding| finding.fault));
        faults
    }

    /// The list with every debt as low as it is, and none higher than before.
    pub(super) fn lowered(&self, findings: &[Finding]) -> String {
        let sums = sums(findings);
        let mut text = self.head.clone();
        for (key, (count, _)) in &self.counts {
            let count = sums.get(key).copied().unwrap_or_default().min(*count);
            if count > 0 {
                text += &format!("{}\t{}\t{count}\n", key.0, key.1);
            }
        }
        text
    }
}

fn debt(line: &str) -> Option<(Key, usize)> {
    let mut words = line.split('\t');
    let (package, check, count) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
    let check = Check::ALL.into_iter().find(|known| known.to_string() == check)?;
    (count > 0 && words.next().is_none()).then(|| ((package.to_owned(), check), count))
}

fn sums(findings: &[Finding]) -> BTreeMap<Key, usize> {
    let mut sums = BTreeMap::new();
    for finding in findings {
        *sums.entry((finding.package.clone(), finding.check)).or_default() += finding.weight;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# Debts.\nhanok-a\twords\t2\nhanok-b\tcircles\t4\n";

    fn finding(package: &str, check: Check, weight: usize) -> Finding {
        let finding = Finding::new(package, check, Fault::new("x.rs", 1, "wrong, mend it"));
        Finding { weight, ..finding }
    }

    fn settled(list: &str, findings: Vec<Finding>) -> Vec<String> {
        Debts::read(list).settle(findings).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn debts_that_are_as_listed_are_no_faults() {
        let word = || finding("hanok-a", Check::Words, 1);
        assert_eq!(
            settled(LIST, vec![word(), word(), finding("hanok-b", Check::Circles, 4)]),
            [""; 0]
        );
    }

    #[test]
    fn each_difference_from_the_list_is_a_fault() {
        let word = |package| finding(package, Check::Words, 1);
        let circle = || finding("hanok-b", Check::Circles, 4);
        for (findings, want) in [
            (
                vec![word("hanok-a"), circle()],
                vec![
                    "xtask/src/house/debts.tsv:2: `hanok-a` has fewer refused words as names, lower the number to 1 (`cargo xtask house --write`)",
                ],
            ),
            (
                vec![circle()],
                vec![
                    "xtask/src/house/debts.tsv:2: `hanok-a` has no refused words as names any more, take the line out (`cargo xtask house --write`)",
                ],
            ),
            (
                vec![word("hanok-a"), word("hanok-a"), circle(), circle()],
                vec![
                    "xtask/src/house/debts.tsv:3: `hanok-b` has 8 files in circles and owes 4: worse than it was, mend as many of those that are printed",
                    "x.rs:1: wrong, mend it",
                    "x.rs:1: wrong, mend it",
                ],
            ),
            (
                vec![word("hanok-a"), word("hanok-a"), circle(), word("hanok-c")],
                vec!["x.rs:1: wrong, mend it"],
            ),
        ] {
            assert_eq!(settled(LIST, findings), want);
        }
    }

    #[test]
    fn a_line_that_is_no_debt_is_a_fault() {
        for list in [
            "hanok-a\twords\t0\n",
            "hanok-a\twishes\t1\n",
            "hanok-a words 1\n",
            "hanok-a\twords\t1\t1\n",
            "hanok-b\twords\t1\nhanok-a\twords\t1\n",
            "hanok-a\twords\t1\nhanok-a\twords\t1\n",
        ] {
            assert_eq!(Debts::read(list).faults.len(), 1, "{list:?}");
        }
    }

    #[test]
    fn the_list_is_written_lower_and_never_higher() {
        let findings = [
            finding("hanok-a", Check::Words, 1),
            finding("hanok-b", Check::Circles, 9),
            finding("c", Check::Words, 1),
        ];
        let lowered = Debts::read(LIST).lowered(&findings);
        assert_eq!(lowered, "# Debts.\nhanok-a\twords\t1\nhanok-b\tcircles\t4\n");
        assert_eq!(Debts::read(LIST).lowered(&[]), "# Debts.\n");
    }
}
