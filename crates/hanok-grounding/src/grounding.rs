//! Figures of an answer, looked up in what the user and the tools gave.

use hanok_agent::Language;
use thiserror::Error;

use crate::claim::{Claim, claims, is_checked};
use crate::facts::Index;
use crate::grounded::{Grounded, GroundedFigure};
use crate::sources::Sources;
use crate::unit::DataUnit;

/// Looks the figures of an answer up in what the user wrote and the tools gave, and does something about those that stand nowhere.
///
/// A figure is an amount of money, a per cent, an area, a plain number from 10,000 on or with decimals, a date, or the number of an
/// article. Smaller whole numbers count things, years and lines, and are not looked up, even where one means money or per cents
/// (`보증금 5000에 70`, `LTV 70`); neither are numbers of telephones, words (`절반`, `스물다섯 평`), a year or a month alone, and what other
/// currencies and units say.
///
/// | a figure of the answer | is supported by |
/// | --- | --- |
/// | an amount | the same value in a unit that fits: `3.3억`, `3억 3,000만원` and 330000000 are one, 5 % and 0.05 too |
/// | `100분의 5` | 5 % |
/// | one with decimals, or with 약, 정도, 가량, … | also by a value that it is rounded from (half away), if it shows two digits at least |
/// | 평, ㎡ | also by the other one, converted (1평 = 400/121 ㎡) and rounded to the last digit that is shown |
/// | one without a minus | a value of either sign: `3% 하락` is -3 |
/// | a date | the same day; `2026년 3월` a day in that month, `3월 2일` that day of any year |
/// | an article | the same number and branch (제7조 is not 제7조의2), with a paragraph or an item only if the source has that; the laws agree where both name one |
/// | one of no certain value (`3억 5천원`, `5조`) | the same letters |
///
/// Nothing is calculated: a sum that no tool gave is unsupported. Whether a figure is *about* the right thing is not looked at.
///
/// As a [`Hook`](hanok_agent::Hook) of an agent it does so for each answer, by its messages: the sources are
/// [`Sources::messages`].
///
/// ```
/// use hanok_grounding::{Grounding, Source, Sources};
/// use serde_json::json;
///
/// let sources = Sources::new()
///     .user("보증금이 3억 5천만원입니다.")
///     .tool("loan_limit", &json!({"limit_won": 233_333_333, "ltv_percent": 66.666_666_7}));
/// let answer = "보증금 3.5억원의 66.7%인 약 2억 3,300만원까지, 금리는 4.1%입니다.";
/// let grounded = Grounding::new().check(answer, &sources);
/// let unsupported: Vec<&str> = grounded.unsupported().map(|it| &*it.text).collect();
/// assert_eq!(unsupported, ["4.1%"]);
/// assert_eq!(grounded.figures[0].source, Some(Source::User));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Grounding {
    pub(crate) unsupported: Unsupported,
    pub(crate) language: Language,
    pub(crate) units: Vec<(String, DataUnit)>,
}

/// What becomes of an answer with a figure that stands nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unsupported {
    /// A last line says which figures these are.
    #[default]
    Mark,
    /// The model is asked once more. What its next answer has is marked.
    AskAgain,
    /// There is no such answer.
    Refuse,
}

/// An answer was refused for its figures.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the answer has figures that stand neither in the user's words nor in a tool's data: {}", .0.names())]
pub struct UnsupportedFigures(pub Grounded);

/// Why an answer has not been settled.
#[derive(Debug, Error)]
pub enum GroundingError<E> {
    /// By the policy [`Unsupported::Refuse`].
    #[error(transparent)]
    Refused(UnsupportedFigures),
    /// The model that was asked again failed.
    #[error("the model gave no second answer")]
    Model(#[source] E),
}

impl Grounding {
    /// Marks what stands nowhere, in English.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what becomes of an answer with a figure that stands nowhere. Default: [`Unsupported::Mark`].
    pub fn unsupported(self, unsupported: Unsupported) -> Self {
        Self { unsupported, ..self }
    }

    /// Sets the language of the mark, and of what a model is told. Default: English.
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Says the unit of the numbers under `key` in the data of an agent's tools, where this is its hook; as
    /// [`Sources::unit`].
    pub fn unit(mut self, key: impl Into<String>, unit: DataUnit) -> Self {
        self.units.push((key.into(), unit));
        self
    }

    /// The figures of `answer` with their sources. It takes time by the length of the answer, times the logarithm of that of the
    /// sources.
    pub fn check(&self, answer: impl Into<String>, sources: &Sources) -> Grounded {
        let answer = answer.into();
        let index = Index::new(&sources.facts);
        let figure = |claim: &Claim| GroundedFigure {
            text: answer.get(claim.at.clone()).unwrap_or_default().to_owned(),
            at: claim.at.clone(),
            source: index.source(claim).and_then(|at| sources.facts.sources.get(at)).cloned(),
        };
        let claims = claims(&answer);
        let checked = claims.iter().filter(|claim| is_checked(&answer, claim));
        let figures = checked.map(figure).collect();
        Grounded { answer, figures }
    }

    /// The answer that a user may see, by the policy. `again` gets what a model is to be told, and gives its next answer with the
    /// sources that there are then; it is called at most once.
    ///
    /// # Errors
    ///
    /// [`GroundingError`] when the answer is refused, or `again` fails.
    ///
    /// ```
    /// use hanok_grounding::{Grounding, Sources, Unsupported};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let sources = Sources::new().user("보증금 3억원");
    /// let grounding = Grounding::new().unsupported(Unsupported::AskAgain);
    /// let again = async |note: String| {
    ///     assert!(note.contains("4억원"));
    ///     Ok::<_, std::io::Error>(("보증금은 3억원입니다.".to_owned(), None))
    /// };
    /// let answer = grounding.settle("보증금은 4억원입니다.", &sources, again).await?;
    /// assert_eq!(answer, "보증금은 3억원입니다.");
    /// # Ok(()) }
    /// ```
    pub async fn settle<E: std::error::Error + 'static>(
        &self,
        answer: impl Into<String>,
        sources: &Sources,
        again: impl AsyncFnOnce(String) -> Result<(String, Option<Sources>), E>,
    ) -> Result<String, GroundingError<E>> {
        let grounded = self.check(answer, sources);
        if grounded.is_supported() {
            return Ok(grounded.answer);
        }
        match self.unsupported {
            Unsupported::Mark => Ok(grounded.marked(self.language)),
            Unsupported::Refuse => Err(GroundingError::Refused(UnsupportedFigures(grounded))),
            Unsupported::AskAgain => {
                let note = grounded.note(self.language);
                let (answer, more) = again(note).await.map_err(GroundingError::Model)?;
                let next = self.check(answer, more.as_ref().unwrap_or(sources));
                Ok(next.marked(self.language))
            }
        }
    }
}
