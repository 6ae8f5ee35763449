//! Which model answers.

use hanok_model::{ChatModel, SharedModel};
use hanok_openai::OpenAi;
use offline::OfflineModel;

use crate::failure::Failure;

/// The model, and whether it is the offline one.
#[derive(Debug, Clone)]
pub struct Brain {
    /// The model.
    pub model: SharedModel,
    /// Whether rules answer, and no language model.
    pub offline: bool,
}

/// The model of the server that the environment names, else the offline model.
///
/// # Errors
///
/// [`Failure::Model`] when the server is named and cannot be used.
pub async fn choose() -> Result<Brain, Failure> {
    if !OpenAi::is_configured() {
        return Ok(offline());
    }
    let model = OpenAi::from_env().await.map_err(Failure::Model)?;
    Ok(Brain { model: SharedModel::new(model), offline: false })
}

/// The offline model: rules that read only what they are sent.
pub fn offline() -> Brain {
    Brain { model: SharedModel::new(OfflineModel::new()), offline: true }
}

impl Brain {
    /// The line that says which model answers.
    pub fn note(&self) -> String {
        if self.offline {
            "오프라인 모델로 답합니다: 규칙으로 글을 찾아 옮기고 계산할 뿐, 뜻을 이해하거나 글을 짓지 못합니다. OPENAI_BASE_URL이나 OPENAI_API_KEY를 정하면 실제 모델을 씁니다.".to_owned()
        } else {
            format!("모델: {}", self.model.name())
        }
    }
}
