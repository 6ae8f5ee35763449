//! The document team.

use std::{path::PathBuf, sync::Arc};

use hanok_agent::{Choice, ChoiceEntry, ChoiceKind, ChoiceOption, ChosenBy};
use hanok_core::{BoxError, Check, Request, Stored};
use hanok_graph::{BuildError, Context, END, Graph, START, Snapshot, StepError};
use hanok_model::{ChatModel, ChatRequest, DataMark, SharedModel};
use hanok_state::{Json, Message, State};
use hanok_supervisor::{MemberInput, MemberOutput};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    toolbox::Toolbox,
    work::{ToolEnd, Work},
};
use crate::{
    documents::{DocumentKind, LeaseTerms, Review, call_stem, draft, form, missing, write},
    tools::Generated,
    wording,
};

/// The tool of the team.
const TOOL: &str = "lease_contract_generator";

/// The state of the document team.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Paper {
    /// What the team was given.
    #[reduce(nested)]
    pub work: Work,
    /// Which document it is.
    pub kind: PaperKind,
    /// The terms that were stated.
    pub terms: LeaseTerms,
    /// The review, if somebody has to look at it.
    pub review: Option<Review>,
}

/// Which document is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaperKind {
    /// 주택임대차계약서.
    #[default]
    Lease,
    /// 부동산매매계약서.
    Sales,
    /// 대출 상담 신청서.
    LoanApplication,
}

impl PaperKind {
    /// The document that `question` asks for.
    fn of(question: &str) -> Self {
        let asks = |words: &[&str]| words.iter().any(|word| question.contains(word));
        match () {
            () if asks(&["매매계약", "매매 계약"]) => Self::Sales,
            () if asks(&["대출신청", "대출 신청"]) => Self::LoanApplication,
            () => Self::Lease,
        }
    }
}

/// The input of the team.
pub fn begin(input: MemberInput) -> PaperUpdate {
    Paper::update().work(Work::begin(input))
}

/// What the team brings.
pub fn end(paper: Paper) -> MemberOutput {
    paper.work.end()
}

/// The graph of the document team, whose tools write into the folder `out`.
///
/// # Errors
///
/// [`BuildError`] when it has a fault.
pub fn document(
    toolbox: Toolbox,
    model: SharedModel,
    out: PathBuf,
) -> Result<Graph<Paper>, BuildError> {
    let out = Arc::new(out);
    let generate = move |paper: Snapshot<Paper>, context: Context| {
        let (toolbox, out) = (toolbox.clone(), out.clone());
        async move {
            match paper.kind {
                PaperKind::Lease => lease(&toolbox, &paper, &context).await,
                PaperKind::Sales => blank(DocumentKind::Sales, &out, &context).await,
                PaperKind::LoanApplication => {
                    blank(DocumentKind::LoanApplication, &out, &context).await
                }
            }
        }
    };
    let review = move |paper: Snapshot<Paper>, context: Context| {
        let model = model.clone();
        async move { worded(&paper, &model, &context).await }
    };
    Graph::<Paper>::builder("document")
        .node("prepare", prepare)
        .node("generate", generate)
        .node("review_check", review_check)
        .node("review", review)
        .node("finalize", finalize)
        .edge(START, "prepare")
        .edge("prepare", "generate")
        .edge("generate", "review_check")
        .branch("review_check", after_check, ["review", "finalize"])
        .edge("review", "finalize")
        .edge("finalize", END)
        .build()
}

/// Which document it is, and what of it was stated in the conversation.
async fn prepare(paper: Snapshot<Paper>, _: Context) -> Result<PaperUpdate, BoxError> {
    let work = &paper.work;
    let stated = work.conversation.iter().map(|text| LeaseTerms::stated(text));
    let terms = stated.fold(LeaseTerms::default(), LeaseTerms::merged);
    let terms = terms.merged(LeaseTerms::stated(&work.question));
    Ok(Paper::update().kind(PaperKind::of(&work.question)).terms(terms))
}

/// Writes a lease. What is missing is asked of a person, as a form.
async fn lease(
    toolbox: &Toolbox,
    paper: &Paper,
    context: &Context,
) -> Result<PaperUpdate, BoxError> {
    let mut terms = paper.terms.clone();
    let fields = missing(&terms);
    if !fields.is_empty() {
        let schema = form(&fields);
        let known = terms.clone();
        let check = Check::new("임대차계약의 내용", move |answer: &Stored| {
            let answer: Value = answer.decode()?;
            Ok(known.clone().filled(&answer).map(drop)?)
        });
        let request = Request {
            schema: Some(schema.to_string().into()),
            check: Some(check),
            ..Request::new(Stored::encode(wording::MISSING_TERMS)?)
        };
        let answer = context.call("form", "lease", "").question(request).await?;
        terms = terms.filled(&answer.decode()?)?;
    }
    let order = json!({ "terms": terms });
    let call = hanok_state::ToolCall::new(TOOL, TOOL, order.to_string());
    let end = ToolEnd::of(&call, toolbox.runner().run(context, &call).await?.observation);
    let review = match serde_json::from_value::<Generated>(end.data.0.clone()) {
        Ok(Generated::Written { review, .. }) => Some(review),
        _ => None,
    };
    let work = Work::update().push_ends(end).chosen(vec![TOOL.to_owned()]);
    Ok(Paper::update().terms(terms).review(review).work(work))
}

/// Writes a document with blanks.
async fn blank(
    kind: DocumentKind,
    out: &std::path::Path,
    context: &Context,
) -> Result<PaperUpdate, BoxError> {
    let call = context.call("document", "draft", &format!("{kind:?}"));
    let stem = call_stem(call.key().as_str());
    let work = async || {
        let page = draft(kind, &std::collections::BTreeMap::new())?;
        let files = write(out, &stem, &page)?;
        let name = files.markdown.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok::<_, BoxError>(name)
    };
    let name: String = context.step("draft", work).await?;
    let text = format!("빈칸이 있는 문서를 만들었습니다: {name}. 빈칸은 직접 채우십시오.");
    let data = Json(json!({ "markdown": name }));
    let end = ToolEnd { tool: "draft".to_owned(), text, data, ..ToolEnd::default() };
    Ok(Paper::update().work(Work::update().push_ends(end)))
}

/// Notes whether somebody has to look at the document.
async fn review_check(paper: Snapshot<Paper>, context: Context) -> Result<PaperUpdate, BoxError> {
    let factors = paper.review.iter().flat_map(Review::factors);
    let factors: Vec<_> = factors.map(|factor| factor.finding.finding.clone()).collect();
    let call = context.call("choice", "review", "");
    let (chosen, reason) = match factors.is_empty() {
        true => (Vec::new(), "살펴볼 곳이 없습니다.".to_owned()),
        false => (vec!["review".to_owned()], factors.join(" ")),
    };
    let at = context.now();
    let question = paper.work.task.as_str();
    let choice = Choice::new(call.key().to_string(), at, ChoiceKind::Review, "document", question)
        .options([ChoiceOption::new("review")])
        .chosen(chosen)
        .reason(reason, 1.0, ChosenBy::Rule);
    Ok(Paper::update().work(Work::update().push_choices(ChoiceEntry::Made(choice))))
}

fn after_check(paper: &Paper) -> &'static str {
    let found = paper.review.iter().any(|review| !review.factors().is_empty());
    if found { "review" } else { "finalize" }
}

/// The review in a model's words. Its level, its score and what it found stay.
async fn worded(
    paper: &Paper,
    model: &SharedModel,
    context: &Context,
) -> Result<PaperUpdate, BoxError> {
    let Some(review) = paper.review.clone() else { return Ok(Paper::update()) };
    let mark = DataMark::new(&*context.runtime().rng);
    let request = ChatRequest::new([
        Message::system(wording::REVIEW),
        Message::user(mark.around(review.text())),
        Message::user("이 계약서의 위험한 점을 알려 줘."),
    ])
    .max_tokens(wording::LONGEST);
    let call = context.call("model", model.name(), "review");
    let ask = async || match model.chat(request, &call).await {
        Ok(reply) => Ok(reply.message.text().into_owned()),
        Err(error) if error.ends_the_run() => Err(BoxError::from(error)),
        Err(_) => Ok(String::new()),
    };
    let text: Result<String, StepError> = context.step("review", ask).await;
    // What a rule found stands below the model's words, so nothing of it is lost.
    let text = text?;
    let text = match text.trim() {
        "" => String::new(),
        words => format!("{words}\n\n{}", review.text()),
    };
    Ok(Paper::update().review(Some(review.worded(&text))))
}

/// The result: the files, and the review if there is one.
async fn finalize(paper: Snapshot<Paper>, _: Context) -> Result<PaperUpdate, BoxError> {
    let files = paper.work.ends.iter().filter(|end| !end.failed);
    let mut parts: Vec<String> =
        files.map(|end| end.text.lines().next().unwrap_or_default().to_owned()).collect();
    let failed = paper.work.ends.iter().filter(|end| end.failed);
    parts.extend(failed.map(|end| end.text.clone()));
    if let Some(review) = paper.review.as_ref().filter(|review| !review.factors().is_empty()) {
        parts.push(review.text().to_owned());
    }
    parts.push(wording::NO_ADVICE.to_owned());
    Ok(Paper::update().work(Work::update().report(Some(parts.join("\n\n")))))
}
