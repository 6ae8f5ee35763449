//! The lists in `docs/behaviours.md` and `docs/promises.md`.
//!
//! An entry is `- **B18** *next* · …`; the lines after it that are indented belong to it. Which entries no test holds
//! stands once, in the lines `- Open: …` and `- In part: …` near the end.

use std::collections::{BTreeMap, BTreeSet};

use super::number::{Number, mentions, number};

/// A document with its entries, and what it says about them.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    /// The entries with their lines.
    pub(super) entries: BTreeMap<Number, usize>,
    /// What it calls open.
    pub(super) open: BTreeSet<Number>,
    /// What it calls held in part.
    pub(super) in_part: BTreeSet<Number>,
    /// What is wrong with the document, each with its line.
    pub(super) faults: Vec<(usize, String)>,
}

const OPEN: &str = "- Open: ";
const IN_PART: &str = "- In part: ";

/// When an entry is to hold.
const WHEN: [&str; 3] = ["first", "next", "later"];

/// Reads the document whose entries begin with `list`.
pub(super) fn read(list: char, text: &str) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let lines: Vec<_> = text.lines().collect();
    let mut last = 0;
    let mut lists = 0;
    for (index, line) in lines.iter().enumerate() {
        let at = index + 1;
        if let Some(entry) = line.strip_prefix("- **") {
            match entry_of(list, entry, last) {
                Ok(number) => {
                    last = number.index;
                    catalogue.entries.insert(number, at);
                }
                Err(wrong) => catalogue.faults.push((at, wrong)),
            }
        }
        for (prefix, numbers) in [(OPEN, &mut catalogue.open), (IN_PART, &mut catalogue.in_part)] {
            if line.starts_with(prefix) {
                lists += 1;
                let block = lines.get(index..index + block_length(&lines, index));
                for line in block.unwrap_or_default() {
                    numbers.extend(mentions(line).iter().map(|mention| mention.number));
                }
            }
        }
    }
    if catalogue.entries.is_empty() {
        catalogue.faults.push((1, format!("no entry `- **{list}1** …`, add one")));
    }
    if lists != 2 {
        let wrong = format!("not one line each of `{OPEN}…` and `{IN_PART}…`, add them");
        catalogue.faults.push((lines.len().max(1), wrong));
    }
    catalogue
}

/// The number of an entry, without its opening `- **`. Entries are counted from 1 and none is left out.
fn entry_of(list: char, entry: &str, last: u16) -> Result<Number, String> {
    let (name, rest) = entry.split_once("**").unwrap_or((entry, ""));
    let number = number(name).filter(|number| number.list == list).ok_or_else(|| {
        format!("`{name}` is not a number of this list, write `{list}{}`", last + 1)
    })?;
    if number.index != last + 1 {
        return Err(format!("{number} follows {list}{last}, number the entries one by one"));
    }
    let when = rest.strip_prefix(" *").and_then(|rest| rest.split_once("* · "));
    match when {
        Some((when, claim)) if WHEN.contains(&when) && !claim.trim().is_empty() => Ok(number),
        _ => Err(format!("{number} does not read `*{}* · …`, with a sentence", WHEN.join("|"))),
    }
}

/// How many lines the item has that begins at `index`: its own, and the indented ones after it.
fn block_length(lines: &[&str], index: usize) -> usize {
    let after = lines.iter().skip(index + 1);
    1 + after.take_while(|line| line.starts_with("  ") && !line.trim().is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# List\n\n## A\n\n- **B1** *first* · One, see P3\n  and B9.\n- **B2** *later* · Two.\n\n- Open: B1,\n  B2\n- In part: none\n";

    #[test]
    fn entries_and_the_two_lists_are_read() {
        let catalogue = read('B', DOCUMENT);
        assert_eq!(catalogue.faults, []);
        let [one, two] = [1, 2].map(|index| Number { list: 'B', index });
        assert_eq!(catalogue.entries, BTreeMap::from([(one, 5), (two, 7)]));
        assert_eq!(
            (catalogue.open, catalogue.in_part),
            (BTreeSet::from([one, two]), BTreeSet::new())
        );
    }

    #[test]
    fn a_document_that_does_not_read_so_is_told_where() {
        for (text, want) in [
            ("- **B1** first · One.", "1: B1 does not read `*first|next|later*"),
            ("- **B1** *soon* · One.", "1: B1 does not read"),
            ("- **B1** *first* ·  ", "1: B1 does not read"),
            ("- **B2** *first* · Two.", "1: B2 follows B0"),
            ("- **P1** *first* · One.", "1: `P1` is not a number of this list, write `B1`"),
            ("- **B1**\n", "1: B1 does not read"),
            ("- **B1** *first* · One.\n- **B1** *first* · One.", "2: B1 follows B1"),
            ("- **B1** *first* · One.\n- Open: none", "2: not one line each of"),
            ("nothing", "1: no entry `- **B1** …`"),
        ] {
            let faults = read('B', text).faults;
            let told = faults.iter().map(|(line, wrong)| format!("{line}: {wrong}"));
            assert!(told.into_iter().any(|told| told.starts_with(want)), "{text:?}: {faults:?}");
        }
    }
}
