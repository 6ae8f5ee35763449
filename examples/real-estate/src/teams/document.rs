//! The document team: asks a person for what a lease lacks, writes it, and has it reviewed by rules.

use std::{path::PathBuf, sync::Arc};

use hanok_agent::{Choice, ChoiceEntry, ChoiceKind, ChoiceOption, ChosenBy, ToolRunner};
use hanok_core::{BoxError, Check, Request, Stored};
use hanok_graph::{BuildError, Context, END, Graph, START, Snapshot};
use hanok_state::{Json, State, ToolCall};
use hanok_supervisor::{MemberInput, MemberOutput};
use hanok_team::ToolOption;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ToolEnd, Work, check, select::Selector};
use crate::documents::{self, DocumentKind, Lease, LoanApplication, SalesContract, review::Review};

/// The state of the document team.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Paper {
    /// What the team was given.
    #[reduce(nested)]
    pub work: Work,
    /// Which document it is, if one was chosen.
    pub kind: Option<DocumentKind>,
    /// What is known of it.
    pub values: Json,
    /// What is risky in it.
    pub review: Review,
}

impl Paper {
    /// The input of the team.
    pub fn begin(input: MemberInput) -> PaperUpdate {
        Self::update().work(Work::begin(input))
    }

    /// What the team brings.
    pub fn end(self) -> MemberOutput {
        self.work.end()
    }
}

/// What the team chooses from.
#[must_use]
pub fn kinds() -> Vec<ToolOption> {
    fn of<T: JsonSchema>(name: &str, description: &str) -> ToolOption {
        let (name, description) = (name.to_owned(), description.to_owned());
        ToolOption { name, description, schema: schema_for!(T).to_value(), reads: false }
    }
    vec![
        of::<Lease>(
            "lease_contract_generator",
            include_str!("../../prompts/lease_contract_generator.txt"),
        ),
        of::<SalesContract>("sales_contract", include_str!("../../prompts/sales_contract.txt")),
        of::<LoanApplication>(
            "loan_application",
            include_str!("../../prompts/loan_application.txt"),
        ),
    ]
}

/// The graph of the document team, which writes into the folder `out`.
///
/// # Errors
///
/// [`BuildError`] when it has a fault.
pub fn document(
    selector: Selector,
    runner: ToolRunner,
    out: PathBuf,
) -> Result<Graph<Paper>, BuildError> {
    let prepare = move |paper: Snapshot<Paper>, context: Context| {
        let selector = selector.clone();
        async move { prepare(&selector, &paper, &context).await }
    };
    let out = Arc::new(out);
    let generate = move |paper: Snapshot<Paper>, context: Context| {
        let (runner, out) = (runner.clone(), out.clone());
        async move {
            match paper.kind {
                None => Ok(Paper::update()),
                Some(DocumentKind::Lease) => lease(&runner, &paper, &context).await,
                Some(kind) => draft(kind, &out, &paper, &context).await,
            }
        }
    };
    let after_check = |paper: &Paper| match paper.review.findings.is_empty() {
        true => "finalize",
        false => "review",
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

/// Which document it is, and what of it was said.
async fn prepare(
    selector: &Selector,
    paper: &Paper,
    context: &Context,
) -> Result<PaperUpdate, BoxError> {
    let (update, calls) = selector.select(&paper.work, context).await?;
    let update = Paper::update().work(update);
    let Some(call) = calls.first() else { return Ok(update) };
    let kind = serde_json::from_value(json!(call.tool))?;
    let mut values = call.arguments.clone();
    // A 전세 has no monthly rent.
    let question = &paper.work.question;
    let is_jeonse = question.contains("전세") && !question.contains("월세");
    if let Some(values) =
        values.0.as_object_mut().filter(|_| is_jeonse && kind == DocumentKind::Lease)
    {
        values.entry("monthly_rent").or_insert(json!(0));
    }
    Ok(update.kind(Some(kind)).values(values))
}

/// Writes a lease. What is missing is asked of a person, as a form.
async fn lease(
    runner: &ToolRunner,
    paper: &Paper,
    context: &Context,
) -> Result<PaperUpdate, BoxError> {
    const TOOL: &str = "lease_contract_generator";
    let mut values = paper.values.0.as_object().cloned().unwrap_or_default();
    let missing = filled(&values, &json!({}))?.missing();
    if !missing.is_empty() {
        let known = values.clone();
        let check = Check::new("임대차계약의 내용", move |answer: &Stored| {
            let lease = filled(&known, &answer.decode()?)?;
            match lease.missing().is_empty() {
                true => Ok(()),
                false => Err(format!("빠진 칸이 있습니다: {}", lease.missing().join(", ")).into()),
            }
        });
        let request = Request {
            schema: Some(form(&missing).to_string().into()),
            check: Some(check),
            ..Request::new(Stored::encode("계약서에 필요한데 아직 정해지지 않은 내용입니다.")?)
        };
        let answer: Value = context.call("form", "lease", "").question(request).await?.decode()?;
        values.extend(answer.as_object().cloned().unwrap_or_default());
    }
    let call = ToolCall::new(TOOL, TOOL, Value::Object(values).to_string());
    let end = ToolEnd::of(TOOL, runner.run(context, &call).await?.observation);
    let review = end.data.0.get("review").cloned().unwrap_or_default();
    let review: Review = serde_json::from_value(review).unwrap_or_default();
    Ok(Paper::update().review(review).work(Work::update().push_ends(end)))
}

/// The lease of what is known and what was answered.
fn filled(known: &Map<String, Value>, answer: &Value) -> Result<Lease, BoxError> {
    let mut values = known.clone();
    values.extend(answer.as_object().cloned().ok_or("칸마다 값을 적은 객체여야 합니다")?);
    serde_json::from_value::<Lease>(Value::Object(values))?.checked()
}

/// The form of these fields of a lease.
fn form(missing: &[&str]) -> Value {
    let schema = schema_for!(Lease).to_value();
    let described = |name: &str| schema.get("properties")?.get(name)?.get("description")?.as_str();
    let field = |name: &&str| {
        let description = described(name).unwrap_or_default();
        let mut field = match description {
            it if it.contains("(원)") => json!({"type": "integer", "minimum": 0}),
            it if it.contains("(일)") => json!({"type": "integer", "minimum": 1, "maximum": 31}),
            it if it.contains("(날짜)") => json!({"type": "string", "format": "date"}),
            _ => json!({"type": "string", "minLength": 1}),
        };
        if let Some(field) = field.as_object_mut() {
            field.insert("title".to_owned(), check::title(description).into());
            let hint = match description.split_once(". ") {
                Some((_, hint)) => hint,
                None if description.contains("(원)") => "원 단위로 적습니다.",
                None if description.contains("(날짜)") => "예: 2026-03-01.",
                None => description,
            };
            field.insert("description".to_owned(), hint.into());
        }
        ((*name).to_owned(), field)
    };
    let properties: Map<_, _> = missing.iter().map(field).collect();
    json!({
        "type": "object",
        "title": "임대차계약서에 필요한 내용",
        "properties": properties,
        "required": missing,
        "additionalProperties": false,
    })
}

/// Writes a document in which what is not known is blank.
async fn draft(
    kind: DocumentKind,
    out: &std::path::Path,
    paper: &Paper,
    context: &Context,
) -> Result<PaperUpdate, BoxError> {
    let call = context.call("document", "draft", &format!("{kind:?}"));
    let values = documents::typed(kind, paper.values.0.clone())?;
    let write = async || documents::write(out, call.key().as_str(), kind, &values);
    let (markdown, docx) = context.step("draft", write).await?;
    let text = format!("문서의 초안을 만들었습니다: {markdown}, {docx}. 빈칸은 직접 채우십시오.");
    let data = Json(json!({"markdown": markdown, "docx": docx}));
    let end = ToolEnd { tool: "draft".to_owned(), text, data, ..ToolEnd::default() };
    Ok(Paper::update().work(Work::update().push_ends(end)))
}

/// Notes whether somebody has to look at the document.
async fn review_check(paper: Snapshot<Paper>, context: Context) -> Result<PaperUpdate, BoxError> {
    let id = context.call("choice", "review", "").key().to_string();
    let is_needed = !paper.review.findings.is_empty();
    let reason =
        if is_needed { "살펴볼 곳이 있습니다." } else { "살펴볼 곳이 없습니다." };
    let (at, task) = (context.now(), paper.work.task.as_str());
    let choice = Choice::new(id, at, ChoiceKind::Review, "document", task)
        .options([ChoiceOption::new("review")])
        .chosen(is_needed.then_some("review"))
        .reason(reason, 1.0, ChosenBy::Rule);
    Ok(Paper::update().work(Work::update().push_choices(ChoiceEntry::Made(choice))))
}

/// The review by rules, which a model words with the rest of the answer.
async fn review(paper: Snapshot<Paper>, _: Context) -> Result<PaperUpdate, BoxError> {
    let review = paper.review.in_korean();
    Ok(Paper::update().work(Work::update().insights(vec![review])))
}

/// The files, and the review if there is one.
async fn finalize(paper: Snapshot<Paper>, _: Context) -> Result<PaperUpdate, BoxError> {
    let mut parts: Vec<&str> = paper.work.ends.iter().map(|end| end.text.as_str()).collect();
    if parts.is_empty() {
        parts.push("어떤 문서를 만들지 고르지 못했습니다: 임대차계약서, 매매계약서, 대출신청서 가운데 하나를 말씀해 주십시오.");
    }
    parts.extend(paper.work.insights.iter().map(String::as_str));
    parts.push(crate::app::NO_ADVICE);
    Ok(Paper::update().work(Work::update().report(Some(parts.join("\n\n")))))
}
