//! A lease, written to files and reviewed.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError, ToolOutput};
use serde_json::json;

use crate::{
    data::Data,
    documents::{self, DocumentKind, Lease, review},
};

pub(super) fn tool(data: &Arc<Data>, out: PathBuf) -> Result<SharedTool, InvalidSpec> {
    let description = include_str!("../../prompts/lease_contract_generator.txt").trim();
    let data = data.clone();
    let run = move |lease: Lease, call: Call| {
        let lease = lease.checked().map_err(ToolError::arguments)?;
        let review = review::of_lease(&lease, &data).map_err(ToolError::arguments)?;
        let files = documents::write(&out, call.key().as_str(), DocumentKind::Lease, &json!(lease));
        let (markdown, docx) = files.map_err(ToolError::failed)?;
        let text = format!("임대차계약서의 초안을 만들었습니다: {markdown}, {docx}.");
        let data = json!({"markdown": markdown, "docx": docx, "review": review});
        Ok(ToolOutput::new(text).data(data))
    };
    // The same call writes the same files.
    let tool = FnTool::blocking("lease_contract_generator", description, run)?;
    Ok(SharedTool::new(tool.effect(Effect::Idempotent).timeout(Duration::from_secs(20))))
}
