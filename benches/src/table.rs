//! The rows, measured and drawn.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    Result,
    arguments::Ask,
    columns::aligned,
    peer::{By, OTHERS, langgraph, other},
    works::{Figure, Goal, Work},
};

/// One figure of one work.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    row: String,
    unit: &'static str,
    hand_written: Option<f64>,
    hanok: f64,
    langgraph: Option<f64>,
    /// What other engines take, of those that were asked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<&'static str, f64>,
    goal: Option<String>,
    met: Option<bool>,
}

/// Measures what `ask` names.
pub(crate) fn rows(ask: &Ask) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for work in &ask.works {
        eprintln!("bench: {}", work.name);
        let hanok = By::Hanok.measure_apart(work, ask.rounds)?;
        let by_hand = By::Hand.measure_apart(work, ask.rounds)?;
        let theirs = match &ask.python {
            Some(python) => langgraph(python, work, ask.rounds)?,
            None => Vec::new(),
        };
        let others: Vec<_> = match &ask.peers {
            Some(peers) => {
                let of = |engine| (engine, other(peers, engine, work, ask.rounds));
                OTHERS.into_iter().map(of).collect()
            }
            None => Vec::new(),
        };
        rows.extend(of(work, &hanok, &by_hand, &theirs, &others)?);
    }
    Ok(rows)
}

/// The rows of one work.
fn of(
    work: &Work,
    hanok: &[f64],
    by_hand: &[f64],
    theirs: &[f64],
    others: &[(&'static str, Vec<f64>)],
) -> Result<Vec<Row>> {
    let figures = work.figures.iter().enumerate();
    let row = |(i, figure): (usize, &Figure)| {
        let hanok = *hanok.get(i).ok_or(format!("`{}` gives too few figures", work.name))?;
        let others = others.iter().filter_map(|(engine, theirs)| Some((*engine, *theirs.get(i)?)));
        Ok(Row {
            row: work.row(figure),
            unit: figure.unit,
            hand_written: by_hand.get(i).copied(),
            hanok,
            langgraph: theirs.get(i).copied(),
            others: others.filter(|(_, figure)| figure.is_finite()).collect(),
            goal: figure.goal.map(|goal| goal.to_string()),
            met: figure.goal.map(|goal| goal.is_met(hanok)),
        })
    };
    figures.map(row).collect()
}

/// The rows as JSON.
pub(crate) fn json(rows: &[Row]) -> Result<String> {
    Ok(serde_json::to_string_pretty(rows)? + "\n")
}

/// The table, for people.
pub(crate) fn drawn(rows: &[Row]) -> String {
    let asked = |engine: &&str| rows.iter().any(|row| row.others.contains_key(*engine));
    let others: Vec<_> = OTHERS.into_iter().filter(asked).collect();
    let mut head = vec!["row", "unit", "hand-written", "hanok", "LangGraph"];
    head.extend(&others);
    head.extend(["hanok/hand", "LangGraph/hanok", "goal", ""]);
    let mut lines: Vec<Vec<_>> = vec![head.iter().map(ToString::to_string).collect()];
    lines.extend(rows.iter().map(|row| row.cells(&others)));
    aligned(&lines, 2)
}

impl Row {
    fn cells(&self, others: &[&str]) -> Vec<String> {
        let by_hand = self.hand_written.map(|by_hand| times(self.hanok / by_hand));
        let theirs = self.langgraph.map(|theirs| times(theirs / self.hanok));
        let met = self.met.map(|met| if met { "met" } else { "missed" });
        let figures = [self.hand_written, Some(self.hanok), self.langgraph];
        let others = others.iter().map(|engine| self.others.get(engine).copied());
        let figures = figures.into_iter().chain(others);
        let figures = figures.map(|figure| figure.map(short).unwrap_or_default());
        let goal = self.goal.clone().unwrap_or_default();
        let met = met.unwrap_or_default().to_owned();
        let said = [by_hand.unwrap_or_default(), theirs.unwrap_or_default(), goal, met];
        [self.row.clone(), self.unit.to_owned()].into_iter().chain(figures).chain(said).collect()
    }
}

fn times(ratio: f64) -> String {
    format!("{}x", short(ratio))
}

/// A number with three digits that count.
pub(crate) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "<= {most}"),
            Self::AtLeast(least) => write!(f, ">= {least}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::works::Better;

    const fn figure(name: &'static str, unit: &'static str, goal: Option<Goal>) -> Figure {
        Figure { name, unit, goal, better: Better::Less }
    }

    const WORK: Work = Work {
        name: "turns",
        about: "",
        figures: &[
            figure("", "µs/turn", Some(Goal::AtMost(5.0))),
            figure("file", "MB", Some(Goal::AtLeast(3.0))),
            figure("last/first", "x", None),
        ],
        hand_written: None,
        hanok: |_| Ok(Vec::new()),
    };

    #[test]
    fn a_row_says_how_it_compares_and_whether_its_goal_is_met() {
        let rows = of(&WORK, &[4.0, 2.0, 1.0], &[2.0], &[400.0, 3.0], &[]).unwrap();
        assert_eq!(
            drawn(&rows),
            "row                unit     hand-written  hanok  LangGraph  hanok/hand  LangGraph/hanok  goal\n\
             turns              µs/turn          2.00   4.00        400       2.00x             100x  <= 5     met\n\
             turns: file        MB                      2.00       3.00                        1.50x  >= 3  missed\n\
             turns: last/first  x                       1.00"
        );
    }

    #[test]
    fn other_engines_have_a_column_if_they_did_anything() {
        let others = [("adk-graph", vec![8.0]), ("juncture", Vec::new())];
        let rows = of(&WORK, &[4.0, 2.0, 1.0], &[], &[], &others).unwrap();
        let drawn = drawn(&rows);
        let lines: Vec<_> = drawn.lines().take(2).collect();
        assert_eq!(
            lines,
            [
                "row                unit     hand-written  hanok  LangGraph  adk-graph  hanok/hand  LangGraph/hanok  goal",
                "turns              µs/turn                 4.00                  8.00                               <= 5     met",
            ]
        );
    }

    #[test]
    fn work_that_gives_too_few_figures_is_an_error() {
        assert!(of(&WORK, &[4.0, 2.0], &[], &[], &[]).is_err());
    }
}
