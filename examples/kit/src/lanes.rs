//! Lanes: a line for each part of the work that runs, in place.

use std::{fmt::Write as _, time::Instant};

use hanok_core::Printable;

/// The columns that a line takes where nobody says how wide the terminal is.
const COLUMNS: usize = 80;

/// A change of the lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lane {
    /// A part begins: its name.
    Begins(String),
    /// What a part does now: its name and the words for it.
    Does(String, String),
    /// A part has ended: its name.
    Ends(String),
}

/// The parts that run, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Vec<Running>);

#[derive(Debug)]
struct Running {
    name: String,
    does: String,
    since: Instant,
}

impl Lanes {
    pub(crate) fn change(&mut self, lane: Lane, now: Instant) {
        match lane {
            Lane::Begins(name) if self.0.iter().all(|it| it.name != name) => {
                self.0.push(Running { name, does: String::new(), since: now });
            }
            Lane::Begins(_) => {}
            Lane::Does(name, words) => {
                let of = self.0.iter_mut().find(|it| it.name == name);
                of.into_iter().for_each(|it| it.does.clone_from(&words));
            }
            Lane::Ends(name) => self.0.retain(|it| it.name != name),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// A line for each, none wider than the terminal, for a wrapped one cannot be drawn over.
    pub(crate) fn lines(&self, sign: char, now: Instant, columns: Option<usize>) -> Vec<String> {
        let columns = columns.unwrap_or(COLUMNS);
        let line = |it: &Running| {
            let seconds = now.saturating_duration_since(it.since).as_secs_f32();
            let mut line = format!("{sign} {} {seconds:.1}초", Printable(&it.name));
            if !it.does.is_empty() {
                // Writing to a `String` cannot fail.
                let _ = write!(line, " {}", Printable(&it.does));
            }
            cut(&line.replace('\n', " "), columns.saturating_sub(1))
        };
        self.0.iter().map(line).collect()
    }
}

/// The beginning of `line` that is at most `columns` wide. What is not ASCII counts as two.
fn cut(line: &str, columns: usize) -> String {
    let mut width = 0;
    let fits = |c: &char| {
        width += if c.is_ascii() { 1 } else { 2 };
        width <= columns
    };
    line.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_stands_from_the_beginning_of_its_part_to_its_end() {
        let mut lanes = Lanes::default();
        let now = Instant::now();
        for lane in [
            Lane::Begins("search".into()),
            Lane::Begins("검색".into()),
            Lane::Begins("search".into()),
            Lane::Does("search".into(), "market_data\u{1b}[31m\nand more".into()),
            Lane::Does("nobody".into(), "nothing".into()),
        ] {
            lanes.change(lane, now);
        }
        let lines = lanes.lines('*', now, None);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("* search 0.0초 market_data"), "{lines:?}");
        assert!(!lines[0].contains(char::is_control), "{lines:?}");
        assert_eq!(lines[1], "* 검색 0.0초");
        assert_eq!(lanes.lines('*', now, Some(7)), ["* sear", "* 검색"]);
        lanes.change(Lane::Ends("search".into()), now);
        assert_eq!(lanes.lines('*', now, None), ["* 검색 0.0초"]);
    }
}
