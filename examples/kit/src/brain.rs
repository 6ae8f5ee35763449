//! Which model answers.

use hanok_model::{ChatModel, SharedModel};
use hanok_tools::Dated;

use crate::{failure::Failure, offline::OfflineModel};

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
/// [`Failure::Model`] when the server is named and cannot be used, [`Failure::Usage`] when this build has no HTTP.
pub async fn choose() -> Result<Brain, Failure> {
    choose_or(OfflineModel::new()).await
}

/// The model of the server that the environment names, else `offline`, which knows by which words the program's tools are asked for.
///
/// # Errors
///
/// As [`choose`].
pub async fn choose_or(offline: OfflineModel) -> Result<Brain, Failure> {
    let names = ["OPENAI_BASE_URL", "OPENAI_API_KEY"];
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match names.into_iter().find(set) {
        Some(name) => server(name).await,
        None => Ok(Brain { model: SharedModel::new(offline), offline: true }),
    }
}

#[cfg(feature = "server")]
async fn server(_: &str) -> Result<Brain, Failure> {
    let model = hanok_openai::OpenAi::from_env().await.map_err(Failure::Model)?;
    Ok(Brain { model: SharedModel::new(model), offline: false })
}

/// Whoever names a server is not answered by anything else.
#[cfg(not(feature = "server"))]
#[allow(clippy::unused_async, reason = "with a server, it is asked for its models")]
async fn server(name: &str) -> Result<Brain, Failure> {
    Err(Failure::not_built(name, "server"))
}

/// The offline model: rules that read only what they are sent.
pub fn offline() -> Brain {
    Brain { model: SharedModel::new(OfflineModel::new()), offline: true }
}

impl Brain {
    /// With a model that is told what day it is, in every request.
    #[must_use]
    pub fn dated(self) -> Self {
        Self { model: SharedModel::new(Dated::new(self.model).korean()), ..self }
    }

    /// The same to the minute, for whoever plans by the hour.
    #[must_use]
    pub fn dated_to_the_minute(self) -> Self {
        let dated = Dated::new(self.model).korean().to_the_minute();
        Self { model: SharedModel::new(dated), ..self }
    }

    /// The line that says which model answers.
    pub fn note(&self) -> String {
        if self.offline {
            let how = if cfg!(feature = "server") {
                "OPENAI_BASE_URL이나 OPENAI_API_KEY를 정하면 실제 모델을 씁니다"
            } else {
                "실제 모델은 -F server를 붙여 실행하고 OPENAI_BASE_URL이나 OPENAI_API_KEY로 정합니다"
            };
            format!(
                "오프라인 모델로 답합니다: 규칙으로 글을 찾아 옮기고 계산할 뿐, 뜻을 이해하거나 글을 짓지 못합니다. {how}."
            )
        } else {
            format!("모델: {}", self.model.name())
        }
    }
}
