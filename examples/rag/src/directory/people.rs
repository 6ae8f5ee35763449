//! People and their leave.

use std::fmt;

use rusqlite::Row;

use super::{Directory, DirectoryError, MOST};

/// How many near names are shown where there is none.
const NEAR: usize = 3;

/// Someone in the directory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Person {
    /// The full name.
    pub name: String,
    /// The team.
    pub team: String,
    /// The title in the team.
    pub title: String,
    /// The telephone extension.
    pub extension: String,
    /// The e-mail address.
    pub email: String,
    /// The leave of this year.
    pub leave: Leave,
}

/// The leave of one person in one year, in days. A quarter of a day is two hours.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Leave {
    /// The year.
    pub year: i64,
    /// What the person has got.
    pub granted: f64,
    /// What is used.
    pub used: f64,
    /// What is left.
    pub remaining: f64,
}

impl fmt::Display for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { granted, used, remaining, .. } = self;
        write!(f, "부여 {granted}일, 사용 {used}일, 남음 {remaining}일")
    }
}

const SELECT: &str = "SELECT name, team, title, extension, email, year, granted, used, remaining
    FROM person JOIN leave_balance ON person_id = id AND
        year = (SELECT max(year) FROM leave_balance WHERE person_id = id)";

impl Directory {
    /// At most ten people who are called `name`, or whose name has it in it.
    ///
    /// # Errors
    ///
    /// [`DirectoryError::Unusable`] when the file can no longer be read.
    pub fn people(&self, name: &str) -> Result<Vec<Person>, DirectoryError> {
        let name = bare(name);
        if name.is_empty() {
            return Ok(Vec::new());
        }
        let exact = self.select("name = ?1", &name)?;
        if exact.is_empty() { self.select("instr(name, ?1) > 0", &name) } else { Ok(exact) }
    }

    /// At most ten people of the team, or with the extension or the e-mail address.
    ///
    /// # Errors
    ///
    /// [`DirectoryError::Unusable`] when the file can no longer be read.
    pub fn reached_by(&self, team_or_address: &str) -> Result<Vec<Person>, DirectoryError> {
        let wanted = team_or_address.trim();
        self.select("?1 IN (team, extension, email)", wanted)
    }

    fn select(&self, condition: &'static str, value: &str) -> Result<Vec<Person>, DirectoryError> {
        let sql = format!("{SELECT} WHERE {condition} ORDER BY name, team LIMIT {MOST}");
        self.rows(&sql, &[&value], person)
    }

    /// The names that are written most like `name`, at most three.
    ///
    /// # Errors
    ///
    /// [`DirectoryError::Unusable`] when the file can no longer be read.
    pub fn near(&self, name: &str) -> Result<Vec<String>, DirectoryError> {
        let wanted = bare(name);
        let names = self.rows("SELECT DISTINCT name FROM person", &[], |row| row.get(0))?;
        let mut near: Vec<(usize, String)> = names
            .into_iter()
            .filter_map(|known: String| Some((difference(&wanted, &known)?, known)))
            .collect();
        near.sort();
        Ok(near.into_iter().take(NEAR).map(|(_, name)| name).collect())
    }
}

fn person(row: &Row<'_>) -> rusqlite::Result<Person> {
    let leave = Leave {
        year: row.get(5)?,
        granted: row.get(6)?,
        used: row.get(7)?,
        remaining: row.get(8)?,
    };
    Ok(Person {
        name: row.get(0)?,
        team: row.get(1)?,
        title: row.get(2)?,
        extension: row.get(3)?,
        email: row.get(4)?,
        leave,
    })
}

/// A name without blanks, and without what is said behind it: `김 하늘 님` is `김하늘`.
fn bare(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    let called = ["님", "씨"].iter().find_map(|word| name.strip_suffix(word));
    called.map_or(name.clone(), str::to_owned)
}

/// How many characters of two names of one length differ; `None` when more than one in two do.
fn difference(wanted: &str, known: &str) -> Option<usize> {
    let length = known.chars().count();
    if wanted.chars().count() != length {
        return None;
    }
    let different = wanted.chars().zip(known.chars()).filter(|(a, b)| a != b).count();
    (different * 2 <= length).then_some(different)
}
