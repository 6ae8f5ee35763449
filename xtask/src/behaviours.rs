//! Whether every behaviour and promise in the docs has the tests that the docs say it has.
//!
//! The docs number what hanok does, and a test names in its documentation the numbers that it holds. What follows from
//! that is never written by hand twice: an entry is *held* when a test names it, held *in part* when every test that names
//! it says so (`B5 in part`, `B94 (per call)`), and *open* else. The docs list the latter two, and have to be right.

mod catalogue;
mod claims;
mod number;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::files;
use crate::result::Result;
use catalogue::Catalogue;
use claims::Claim;
use number::Number;

/// The two documents, with the letter of their entries.
const DOCUMENTS: [(char, &str); 2] = [('B', "docs/behaviours.md"), ('P', "docs/promises.md")];

/// Where tests are.
const FOLDERS: [&str; 5] = ["benches/", "crates/", "examples/", "tests/", "xtask/"];

/// The docs and the tests side by side.
#[derive(Debug)]
pub(crate) struct Comparison {
    documents: Vec<(&'static str, Catalogue)>,
    tests: BTreeMap<Number, Vec<Claim>>,
}

/// How an entry stands, as a list of entries says it.
const HELD: &str = "";
const IN_PART: &str = "in part";
const OPEN: &str = "open";

impl Comparison {
    /// Reads the docs and every test of the repository.
    pub(crate) fn read() -> Result<Self> {
        let mut documents = Vec::new();
        for (list, path) in DOCUMENTS {
            documents.push((path, catalogue::read(list, &fs::read_to_string(path)?)));
        }
        let mut claims = Vec::new();
        let is_source =
            |path: &str| path.ends_with(".rs") && FOLDERS.iter().any(|one| path.starts_with(one));
        for (path, source) in files::texts(&files::files(Path::new("."))?, is_source)? {
            claims.extend(claims::claims(&path, &source));
        }
        Ok(Self::new(documents, claims))
    }

    fn new(documents: Vec<(&'static str, Catalogue)>, claims: Vec<Claim>) -> Self {
        let mut tests: BTreeMap<Number, Vec<Claim>> = BTreeMap::new();
        for claim in claims {
            tests.entry(claim.mention.number).or_default().push(claim);
        }
        Self { documents, tests }
    }

    fn status(&self, number: Number) -> &'static str {
        match self.tests.get(&number) {
            None => OPEN,
            Some(claims) if claims.iter().all(|claim| claim.mention.in_part) => IN_PART,
            Some(_) => HELD,
        }
    }

    /// Everything in which the docs and the tests differ, each with a way to mend it.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (path, catalogue) in &self.documents {
            faults.extend(
                catalogue.faults.iter().map(|(line, wrong)| format!("{path}:{line}: {wrong}")),
            );
            for number in catalogue.open.union(&catalogue.in_part) {
                if !catalogue.entries.contains_key(number) {
                    faults.push(format!("{path}: {number} is listed and is no entry, remove it"));
                }
            }
            for (number, line) in &catalogue.entries {
                let wrong = self.wrong(*number, catalogue);
                faults.extend(wrong.map(|wrong| format!("{path}:{line}: {wrong}")));
            }
        }
        let is_entry = |number| {
            self.documents.iter().any(|(_, catalogue)| catalogue.entries.contains_key(number))
        };
        for claim in self.tests.values().flatten().filter(|it| !is_entry(&it.mention.number)) {
            let Claim { mention, path, line, .. } = claim;
            let number = mention.number;
            faults.push(format!("{path}:{line}: {number} is in neither list, write another"));
        }
        faults
    }

    /// What is wrong with what the docs say about an entry.
    fn wrong(&self, number: Number, catalogue: &Catalogue) -> Option<String> {
        let lists = [(&catalogue.open, OPEN), (&catalogue.in_part, IN_PART)];
        let lists = lists.iter().filter(|(list, _)| list.contains(&number)).map(|(_, name)| *name);
        let (lists, status) = (lists.collect::<Vec<_>>(), self.status(number));
        if lists.iter().copied().eq([status].into_iter().filter(|status| *status != HELD)) {
            return None;
        }
        let claims = self.tests.get(&number).map(Vec::as_slice).unwrap_or_default();
        let decides = claims.iter().find(|claim| !claim.mention.in_part).or(claims.first());
        let (held, mend) = match (status, decides.map(place)) {
            (IN_PART, Some(test)) => (format!("{test} holds a part"), "list it as held in part"),
            (_, Some(test)) => (format!("{test} holds it"), "take it out of the lists"),
            (_, None) => ("no test holds it".to_owned(), "write one, or list it as open"),
        };
        Some(format!("{number} is listed as [{}] and {held}; {mend}", lists.join(", ")))
    }

    /// How many entries are held, of how many.
    pub(crate) fn verdict(&self) -> String {
        let of = |(path, catalogue): &(&str, Catalogue)| {
            let entries = &catalogue.entries;
            let count =
                |status| entries.keys().filter(|number| self.status(**number) == status).count();
            let (held, in_part, all) = (count(HELD), count(IN_PART), entries.len());
            let what = path.trim_start_matches("docs/").trim_end_matches(".md");
            format!("{held} of {all} {what} held, {in_part} in part")
        };
        self.documents.iter().map(of).collect::<Vec<_>>().join("; ")
    }

    /// Every number with its tests.
    pub(crate) fn listing(&self) -> String {
        let mut listing = String::new();
        for number in self.documents.iter().flat_map(|(_, catalogue)| catalogue.entries.keys()) {
            let claims = self.tests.get(number).map(Vec::as_slice).unwrap_or_default();
            let mark = self.status(*number);
            // Writing to a string cannot fail.
            let _ = writeln!(listing, "{}", format!("{:<5}{mark}", number.to_string()).trim_end());
            for claim in claims {
                let part = if claim.mention.in_part { " (in part)" } else { "" };
                let _ = writeln!(listing, "     {}{part}", place(claim));
            }
        }
        listing
    }
}

/// Where a test is: `crates/hanok-graph/tests/graph/run.rs:56 what_it_claims`.
fn place(claim: &Claim) -> String {
    format!("{}:{} {}", claim.path, claim.line, claim.test).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str =
        "- **B1** *first* · One.\n- **B2** *first* · Two.\n- **B3** *later* · Three.\n";

    fn comparison(lists: &str, source: &str) -> Comparison {
        let document = format!("{DOCUMENT}{lists}");
        let documents = vec![("docs/b.md", catalogue::read('B', &document))];
        Comparison::new(documents, claims::claims("crates/x/tests/a.rs", source))
    }

    const TESTS: &str = "/// B1\n#[test]\nfn one() {}\n/// B2 in part\n#[test]\nfn half() {}\n";

    /// A number that one test holds in part and another whole is held.
    #[test]
    fn docs_that_say_what_the_tests_hold_have_no_fault() {
        let twice = "/// B1 (once)\n#[test]\nfn a() {}\n/// B1\n#[test]\nfn b() {}";
        assert_eq!(comparison("- Open: B2, B3\n- In part: none\n", twice).faults(), [""; 0]);
        let right = comparison("- Open: B3\n- In part: B2\n", TESTS);
        assert_eq!(right.faults(), [""; 0]);
        assert_eq!(right.verdict(), "1 of 3 docs/b held, 1 in part".replace("docs/", ""));
        assert_eq!(
            right.listing(),
            "B1\n     crates/x/tests/a.rs:3 one\nB2   in part\n     crates/x/tests/a.rs:6 half (in part)\nB3   open\n"
        );
    }

    /// P60
    #[test]
    fn each_difference_is_named_with_its_place() {
        let beyond = "/// B1, B77\n#[test]\nfn one() {}";
        let (one, half) = (
            "crates/x/tests/a.rs:3 one holds it; take it out of the lists",
            "crates/x/tests/a.rs:6 half holds a part; list it as held in part",
        );
        for (open, in_part, source, want) in [
            (
                "none",
                "B2",
                TESTS,
                "docs/b.md:3: B3 is listed as [] and no test holds it; write one, or list it as open",
            ),
            ("B1, B3", "B2", TESTS, &format!("docs/b.md:1: B1 is listed as [open] and {one}")),
            ("B3", "none", TESTS, &format!("docs/b.md:2: B2 is listed as [] and {half}")),
            ("B3", "B1, B2", TESTS, &format!("docs/b.md:1: B1 is listed as [in part] and {one}")),
            (
                "B2, B3",
                "B2",
                TESTS,
                &format!("docs/b.md:2: B2 is listed as [open, in part] and {half}"),
            ),
            ("B3, B9", "B2", TESTS, "docs/b.md: B9 is listed and is no entry, remove it"),
            (
                "B2, B3",
                "none",
                beyond,
                "crates/x/tests/a.rs:3: B77 is in neither list, write another",
            ),
        ] {
            let lists = format!("- Open: {open}\n- In part: {in_part}\n");
            assert_eq!(comparison(&lists, source).faults(), [want], "{lists:?}");
        }
    }
}
