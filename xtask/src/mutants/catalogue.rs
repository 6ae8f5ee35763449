//! The mutations, as the files beside this one name them.
//!
//! After a line for the reader, one block each: `# NUMBER CRATE simulator|tests|nobody [PROMISE]...` (or `# NUMBER store NAME …` for a
//! store that is wrong), a line that says what is wrong, `= CRATE lib|PROGRAM TEST` with the test that has to find it if tests
//! have to, the text as it stands in the source after `-`, and what stands in its place after `+`, where `MUTATED` asks whether
//! the mutation is switched on.

use crate::result::Result;

const FILES: [&str; 4] = [
    include_str!("catalogue/simulated.mutants"),
    include_str!("catalogue/review.mutants"),
    include_str!("catalogue/lines.mutants"),
    include_str!("catalogue/doubts.mutants"),
];

/// One way in which a line could be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mutation {
    pub(super) number: u32,
    pub(super) finder: Finder,
    /// The crate whose source it changes; none for a store that is wrong.
    pub(super) package: Option<String>,
    pub(super) what: String,
    /// What it breaks, as `docs/promises.md` numbers it.
    pub(super) promises: Vec<String>,
    pub(super) before: String,
    pub(super) after: String,
}

/// A test, as its program names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Test {
    pub(super) package: String,
    /// The program: `lib`, or the test target's name.
    pub(super) program: String,
    pub(super) name: String,
}

/// Who has to find a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finder {
    Simulator,
    /// The simulator, on the wrong store of that name.
    Store(String),
    /// Tests, and of them this one.
    Tests(Test),
    /// Nobody can: nothing is wrong with it, as `CONTRIBUTING.md` shows.
    Nobody,
}

impl Finder {
    /// The package of the test that has to find it; none if the simulator has to.
    pub(super) fn package(&self) -> Option<&str> {
        match self {
            Self::Tests(test) => Some(&test.package),
            Self::Simulator | Self::Store(_) | Self::Nobody => None,
        }
    }
}

impl Mutation {
    /// What is printed of it in a list.
    pub(super) fn line(&self) -> String {
        let place = match &self.finder {
            Finder::Store(name) => name,
            Finder::Simulator | Finder::Tests(_) | Finder::Nobody => {
                self.package.as_deref().unwrap_or_default()
            }
        };
        let promises = self.promises.join(", ");
        format!("{:>4}  {place:<18}  {}  {promises}", self.number, self.what).trim_end().to_owned()
    }
}

/// All mutations, in the order of their numbers.
pub(super) fn read() -> Result<Vec<Mutation>> {
    let blocks = FILES.iter().flat_map(|file| file.split("\n# ").skip(1));
    let mut all = Vec::new();
    for (block, number) in blocks.zip(1..) {
        let mutation = mutation(block)?;
        if mutation.number != number {
            return Err(format!("mutant {} stands where {number} does", mutation.number).into());
        }
        all.push(mutation);
    }
    Ok(all)
}

pub(super) fn mutation(block: &str) -> Result<Mutation> {
    let wrong = |what: &str| format!("a mutant {what}:\n# {block}");
    let mut lines = block.lines();
    let mut head = lines.next().unwrap_or_default().split(' ');
    let number = head.next().unwrap_or_default().parse();
    let number = number.map_err(|_no_number| wrong("has no number"))?;
    let (package, finder) = match (head.next(), head.next()) {
        (Some("store"), Some(name)) => (None, Finder::Store(name.to_owned())),
        (Some(package), Some("simulator")) => (Some(package.to_owned()), Finder::Simulator),
        (Some(package), Some("tests")) => {
            let test = block.lines().find_map(test).ok_or_else(|| wrong("names no test"))?;
            (Some(package.to_owned()), Finder::Tests(test))
        }
        (Some(package), Some("nobody")) => (Some(package.to_owned()), Finder::Nobody),
        _ => return Err(wrong("does not say where it is and who finds it").into()),
    };
    let promises = head.map(str::to_owned).collect();
    let what = lines.next().unwrap_or_default().to_owned();
    let text = |sign: char| {
        let of_it: Vec<_> = block.lines().filter_map(|line| line.strip_prefix(sign)).collect();
        of_it.join("\n").trim().to_owned()
    };
    let (before, after) = (text('-'), text('+'));
    if package.is_some() && (before.is_empty() || !after.contains("MUTATED")) {
        return Err(wrong("needs a text, and one in its place that asks for MUTATED").into());
    }
    Ok(Mutation { number, finder, package, what, promises, before, after })
}

/// The test that a line names.
fn test(line: &str) -> Option<Test> {
    let mut words = line.strip_prefix("= ")?.split(' ').map(str::to_owned);
    Some(Test { package: words.next()?, program: words.next()?, name: words.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_wrong_where_and_who_finds_it() {
        let read = mutation(
            "7 hanok-core tests P1 P2\nit is\n= hanok-state lib a::b\n-    a\n-    b\n+    if MUTATED {}\n",
        );
        let text = str::to_owned;
        let (package, program, name) = (text("hanok-state"), text("lib"), text("a::b"));
        let want = Mutation {
            number: 7,
            finder: Finder::Tests(Test { package, program, name }),
            package: Some(text("hanok-core")),
            what: text("it is"),
            promises: vec![text("P1"), text("P2")],
            before: text("a\n    b"),
            after: text("if MUTATED {}"),
        };
        assert_eq!(read.unwrap(), want);
        for wrong in [
            "x hanok-core tests",
            "1 hanok-core",
            "1 hanok-core tests\nit is\n-a\n+MUTATED",
            "1 hanok-core simulator\nit is\n-a\n+b",
        ] {
            mutation(wrong).unwrap_err();
        }
        let all = super::read().unwrap();
        assert!(all.len() >= 100);
        assert_eq!(all.iter().filter(|it| it.package.is_none()).count(), 5);
        let reasons = include_str!("../../../CONTRIBUTING.md");
        for nobody in all.iter().filter(|it| it.finder == Finder::Nobody) {
            assert!(reasons.contains(&format!("\n- {}: ", nobody.number)), "{}", nobody.line());
        }
    }
}
