//! What a comparison says.

use std::fmt;

use serde::Serialize;

use super::judgement::{Judged, Verdict};
use crate::{Result, columns::aligned, table::short, works::Work};

/// What became of every row.
#[derive(Debug)]
pub(crate) struct Report {
    /// What the other build is called.
    pub(super) base: String,
    pub(super) entries: Vec<Entry>,
}

/// What became of one work.
#[derive(Debug)]
pub(super) enum Entry {
    /// A judgement on each of its figures.
    Compared { work: &'static Work, judged: Vec<Judged> },
    /// It was not compared.
    Skipped { row: String, why: Skipped },
}

/// Why a work was not compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Skipped {
    /// This build does not have it.
    OnlyBase,
    /// The other build does not have it.
    OnlyTree,
    /// The builds measure different things of it: so many each.
    Figures { base: usize, tree: usize },
    /// A process failed.
    Failed(String),
}

/// A figure as it is written as JSON.
#[derive(Serialize)]
struct Row {
    row: String,
    unit: &'static str,
    base: f64,
    tree: f64,
    ratio: f64,
    lower: f64,
    upper: f64,
    pairs: usize,
    above: usize,
    worse: bool,
}

impl Report {
    /// Whether a row could not be measured.
    pub(crate) fn has_failed(&self) -> bool {
        let failed =
            |entry: &Entry| matches!(entry, Entry::Skipped { why: Skipped::Failed(_), .. });
        self.entries.iter().any(failed)
    }

    /// Whether a row is worse than in the other build.
    pub(crate) fn is_worse(&self) -> bool {
        self.judged().any(Judged::is_worse)
    }

    /// The figures as JSON.
    ///
    /// # Errors
    ///
    /// They cannot be written so.
    pub(crate) fn json(&self) -> Result<String> {
        let rows: Vec<_> = self.entries.iter().flat_map(Entry::rows).collect();
        Ok(serde_json::to_string_pretty(&rows)? + "\n")
    }

    fn judged(&self) -> impl Iterator<Item = &Judged> {
        self.entries.iter().flat_map(|entry| match entry {
            Entry::Compared { judged, .. } => judged.as_slice(),
            Entry::Skipped { .. } => &[],
        })
    }

    /// The table, without rows if nothing was compared.
    fn table(&self) -> String {
        let head = ["row", "unit", &self.base, "this tree", "ratio", "quartiles", ""];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        lines.extend(self.entries.iter().flat_map(Entry::cells));
        aligned(&lines, 2)
    }

    /// The last sentence.
    fn verdict(&self) -> String {
        let (all, base) = (self.judged().count(), &self.base);
        match self.judged().filter(|judged| judged.is_worse()).count() {
            0 => format!("none of {all} figures is worse than in {base} by more than 5 %"),
            1 => format!("1 of {all} figures is worse than in {base} by more than 5 %"),
            worse => format!("{worse} of {all} figures are worse than in {base} by more than 5 %"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.table())?;
        for entry in &self.entries {
            if let Entry::Skipped { row, why } = entry {
                writeln!(f, "{row} is not compared: {}", why.reason(&self.base))?;
            }
        }
        f.write_str(&self.verdict())
    }
}

impl Entry {
    /// The lines of the table.
    fn cells(&self) -> Vec<Vec<String>> {
        let Self::Compared { work, judged } = self else { return Vec::new() };
        let figures = work.figures.iter().zip(judged);
        let cells = figures.map(|(figure, Judged { figure: measured, verdict })| {
            vec![
                work.row(figure),
                figure.unit.to_owned(),
                short(measured.base),
                short(measured.tree),
                format!("{:.3}x", measured.ratio),
                format!("{:.3} to {:.3}", measured.lower, measured.upper),
                verdict.to_string(),
            ]
        });
        cells.collect()
    }

    /// The same for JSON.
    fn rows(&self) -> Vec<Row> {
        let Self::Compared { work, judged } = self else { return Vec::new() };
        let figures = work.figures.iter().zip(judged);
        let row = |(figure, judged): (_, &Judged)| Row {
            row: work.row(figure),
            unit: figure.unit,
            base: judged.figure.base,
            tree: judged.figure.tree,
            ratio: judged.figure.ratio,
            lower: judged.figure.lower,
            upper: judged.figure.upper,
            pairs: judged.figure.pairs,
            above: judged.figure.above,
            worse: judged.is_worse(),
        };
        figures.map(row).collect()
    }
}

impl Skipped {
    /// The reason in words; `base` is what the other build is called.
    fn reason(&self, base: &str) -> String {
        match self {
            Self::OnlyBase => format!("only {base} has it"),
            Self::OnlyTree => "only this tree has it".to_owned(),
            Self::Figures { base: theirs, tree } => {
                format!("it has other figures, {theirs} in {base} and {tree} in this tree")
            }
            Self::Failed(error) => error.clone(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fine => "",
            Self::NotAgain => "not again",
            Self::Unclear => "unclear",
            Self::Worse => "worse",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        against::judgement::Quartiles,
        works::{Better, Figure},
    };

    const fn figure(name: &'static str, unit: &'static str) -> Figure {
        Figure { name, unit, goal: None, better: Better::Less }
    }

    static STORAGE: Work = Work {
        name: "storage",
        about: "",
        figures: &[figure("file", "MB"), figure("CPU", "s"), figure("newest state", "ms")],
        hand_written: None,
        hanok: |_| Ok(Vec::new()),
    };

    fn judged(base: f64, tree: f64, verdict: Verdict) -> Judged {
        let ratio = tree / base;
        let (lower, upper) = (ratio - 0.01, ratio + 0.01);
        Judged {
            figure: Quartiles { base, tree, lower, ratio, upper, pairs: 8, above: 7 },
            verdict,
        }
    }

    fn report(judged: Vec<Judged>, skipped: Vec<(&str, Skipped)>) -> Report {
        let skipped = skipped.into_iter();
        let skipped = skipped.map(|(row, why)| Entry::Skipped { row: row.to_owned(), why });
        let compared = Entry::Compared { work: &STORAGE, judged };
        Report {
            base: "1a2b3c4".to_owned(),
            entries: [compared].into_iter().chain(skipped).collect(),
        }
    }

    #[test]
    fn a_report_is_a_table_then_what_was_not_compared_then_the_verdict() {
        let report = report(
            vec![
                judged(1.0, 1.0, Verdict::Fine),
                judged(0.2, 0.204, Verdict::NotAgain),
                judged(4.0, 5.0, Verdict::Worse),
            ],
            vec![
                ("old", Skipped::OnlyBase),
                ("new", Skipped::OnlyTree),
                ("turns", Skipped::Figures { base: 1, tree: 2 }),
                ("idle", Skipped::Failed("no room on the disk".to_owned())),
            ],
        );
        assert_eq!(
            report.to_string(),
            "row                    unit  1a2b3c4  this tree   ratio       quartiles
storage: file          MB       1.00       1.00  1.000x  0.990 to 1.010
storage: CPU           s       0.200      0.204  1.020x  1.010 to 1.030  not again
storage: newest state  ms       4.00       5.00  1.250x  1.240 to 1.260      worse

old is not compared: only 1a2b3c4 has it
new is not compared: only this tree has it
turns is not compared: it has other figures, 1 in 1a2b3c4 and 2 in this tree
idle is not compared: no room on the disk
1 of 3 figures is worse than in 1a2b3c4 by more than 5 %"
        );
    }

    #[test]
    fn a_row_that_one_build_has_is_no_failure_and_one_that_cannot_be_measured_is() {
        let same = || judged(1.0, 1.0, Verdict::Fine);
        let worse = || judged(1.0, 1.5, Verdict::Worse);
        for (judged, why, is_worse, has_failed) in [
            (same(), Skipped::OnlyBase, false, false),
            (worse(), Skipped::OnlyTree, true, false),
            (judged(1.0, 1.5, Verdict::NotAgain), Skipped::OnlyTree, false, false),
            (judged(1.0, 1.5, Verdict::Unclear), Skipped::OnlyTree, false, false),
            (same(), Skipped::Figures { base: 1, tree: 2 }, false, false),
            (same(), Skipped::Failed("no room on the disk".to_owned()), false, true),
        ] {
            let report = report(vec![judged], vec![("idle", why)]);
            assert_eq!(
                (report.is_worse(), report.has_failed()),
                (is_worse, has_failed),
                "{report}"
            );
        }
    }

    #[test]
    fn json_has_every_figure() {
        let json = report(vec![judged(4.0, 5.0, Verdict::Worse)], vec![]).json().unwrap();
        let rows: serde_json::Value = serde_json::from_str(&json).unwrap();
        let row = serde_json::json!([{
            "row": "storage: file", "unit": "MB", "base": 4.0, "tree": 5.0, "ratio": 1.25,
            "lower": 1.24, "upper": 1.26, "pairs": 8, "above": 7, "worse": true,
        }]);
        assert_eq!(rows, row);
    }
}
