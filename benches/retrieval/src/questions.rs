//! The questions, and which passage answers them.

use std::path::{Path, PathBuf};

use hanok_documents::{Library, LoadOptions};
use hanok_retrieval::Hit;

use crate::Result;

/// How questions are asked, in the order of the tables.
pub(crate) const KINDS: [&str; 5] = ["plain", "paraphrase", "colloquial", "misspelled", "mixed"];

const LIST: &str = include_str!("../../../crates/hanok-retrieval/tests/it/questions.tsv");

/// A question over the sample documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) text: &'static str,
    /// The document that answers it and a part of the heading under which it does. `None` where none does.
    answer: Option<(&'static str, &'static str)>,
    pub(crate) kind: &'static str,
    /// Nothing may be tuned on it.
    pub(crate) held: bool,
}

impl Question {
    /// All of them.
    pub(crate) fn all() -> Result<Vec<Self>> {
        LIST.lines().filter(|line| !line.starts_with('#')).map(Self::read).collect()
    }

    fn read(line: &'static str) -> Result<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [text, source, heading, kind, held] = fields[..] else {
            return Err(format!("a question has five fields: {line}").into());
        };
        let answer = (source != "-").then_some((source, heading));
        Ok(Self { text, answer, kind, held: held == "held" })
    }

    pub(crate) fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    /// The place of the passage that answers, from 1.
    pub(crate) fn rank(&self, hits: &[Hit]) -> Option<usize> {
        let (source, part) = self.answer?;
        let article = format!("{part}(");
        let answers = |hit: &Hit| {
            let heading = &hit.passage.heading;
            hit.passage.source == source && (heading.ends_with(part) || heading.contains(&article))
        };
        hits.iter().position(answers).map(|at| at + 1)
    }
}

/// The sample documents.
pub(crate) fn documents() -> Result<Library> {
    Ok(Library::open(LoadOptions::new(), folder())?)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rag/documents")
}

#[cfg(test)]
mod tests {
    use hanok_retrieval::Query;

    use super::*;

    #[test]
    fn every_question_has_a_kind_and_a_passage_that_answers_it_or_none() {
        let index = documents().unwrap().index();
        let every = index.find(&Query::new("규정 지침 핸드북").limit(usize::MAX));
        assert_eq!(every.len(), index.passages().len());
        let all = Question::all().unwrap();
        for question in &all {
            assert_eq!(question.rank(&every).is_some(), question.has_answer(), "{question:?}");
            assert_eq!(KINDS.contains(&question.kind), question.has_answer(), "{question:?}");
        }
        let held = all.iter().filter(|question| question.held).count();
        assert!(all.len() >= 150 && held * 3 >= all.len(), "{held} of {}", all.len());
    }
}
