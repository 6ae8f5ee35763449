//! The tool `lease_contract_generator`: a lease out of what was stated, or the form for what was not.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hanok_core::{Call, Effect};
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::Limits;
use crate::documents::{
    ContractRules, Field, FileError, LeaseError, LeaseTerms, Review, call_stem, form, lease,
    missing, review, write,
};

/// The longest conversation that terms are read from, in bytes.
const LONGEST: usize = 20_000;

const DESCRIPTION: &str = "주택 임대차계약서의 초안을 Markdown과 Word 파일로 만들고 위험도를 검토합니다. 아는 내용만 적으십시오: \
빠진 내용은 지어내지 않고 사람에게 물을 양식을 돌려줍니다. 매매계약서를 만들거나 이미 있는 계약서를 살피는 데에는 쓰지 않습니다. \
이런 말에 씁니다: 계약서 써, 계약서 작성, 계약서 만들.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseOrder {
    /// 계약의 내용을 적은 사용자의 말 그대로. 여기에서 금액, 날짜, 이름을 읽습니다.
    #[serde(default)]
    pub words: Option<String>,
    /// 따로 아는 내용. `words`에서 읽은 것보다 앞섭니다.
    #[serde(default)]
    pub terms: LeaseTerms,
}

/// What the tool answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Generated {
    /// The lease is written.
    Written {
        /// The file in Markdown.
        markdown: PathBuf,
        /// The file of Word.
        docx: PathBuf,
        /// The terms that are in it.
        terms: Box<LeaseTerms>,
        /// How dangerous it is.
        review: Review,
    },
    /// Fields are missing, and nothing is written.
    Missing {
        /// The fields.
        fields: Vec<Field>,
        /// The JSON Schema of what a person is to fill in.
        form: Value,
        /// The terms that were stated.
        terms: Box<LeaseTerms>,
    },
}

/// The tool, which writes into the folder `out`.
///
/// Effect: idempotent. The files have their names from the call's key, so a repeated call writes the same files. Time-out: 20 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn lease_contract_generator(
    out: PathBuf,
    limits: Arc<Limits>,
    rules: Arc<ContractRules>,
) -> Result<FnTool, InvalidSpec> {
    let run = move |order: LeaseOrder, call: Call| {
        let stem = call_stem(call.key().as_str());
        let generated = generate(&order, &out, &stem, &limits, &rules)?;
        output(&generated)
    };
    let tool = FnTool::blocking("lease_contract_generator", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Idempotent).timeout(Duration::from_secs(20)))
}

/// The lease of an order, written into `out` under `stem`, or what is missing for it.
///
/// # Errors
///
/// [`ToolError::Arguments`] with a value that no lease has, [`ToolError::Failed`] when the disk refuses.
pub fn generate(
    order: &LeaseOrder,
    out: &Path,
    stem: &str,
    limits: &Limits,
    rules: &ContractRules,
) -> Result<Generated, ToolError> {
    let words = order.words.as_deref().unwrap_or_default();
    if words.len() > LONGEST {
        return Err(ToolError::arguments(format!(
            "`words`가 {LONGEST}바이트보다 깁니다. 계약의 내용이 있는 부분만 보내 주십시오"
        )));
    }
    let terms = LeaseTerms::stated(words).merged(order.terms.clone());
    terms.check().map_err(ToolError::arguments)?;
    let fields = missing(&terms);
    if !fields.is_empty() {
        let form = form(&fields);
        return Ok(Generated::Missing { fields, form, terms: Box::new(terms) });
    }
    let page = lease(&terms).map_err(|error| match error {
        LeaseError::Template(error) => ToolError::failed(error),
        error => ToolError::arguments(error),
    })?;
    let review = review(&terms, rules, limits).map_err(ToolError::arguments)?;
    let files = write(out, stem, &page).map_err(|error: FileError| ToolError::failed(error))?;
    let terms = Box::new(terms);
    Ok(Generated::Written { markdown: files.markdown, docx: files.docx, terms, review })
}

fn output(generated: &Generated) -> Result<ToolOutput, ToolError> {
    let text = match generated {
        Generated::Written { markdown, docx, review, .. } => format!(
            "임대차계약서의 초안을 만들었습니다: {}, {}.\n{}",
            name(markdown),
            name(docx),
            review.text()
        ),
        Generated::Missing { fields, .. } => {
            let titles: Vec<&str> = fields.iter().map(|field| field.title()).collect();
            format!(
                "아직 정해지지 않은 내용이 있어 계약서를 만들지 않았습니다: {}. 사용자에게 물어 주십시오.",
                titles.join(", ")
            )
        }
    };
    let data = serde_json::to_value(generated).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(text).data(data))
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
