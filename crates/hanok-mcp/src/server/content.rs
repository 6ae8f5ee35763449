//! Resources and prompts of a server.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::handle::Server;
use crate::{
    connection::Live,
    content::{Prompt, PromptMessage, Resource, ResourceContent, ResourceTemplate},
    error::{McpError, ServerError},
};

impl Server {
    pub(crate) async fn resources(&self) -> Result<Vec<Resource>, McpError> {
        let list = |live: Arc<Live>| async move { live.resources().await };
        let listed = self.content(self.config.startup_timeout(), list).await?;
        Ok(listed.iter().map(Resource::of).collect())
    }

    pub(crate) async fn resource_templates(&self) -> Result<Vec<ResourceTemplate>, McpError> {
        let list = |live: Arc<Live>| async move { live.resource_templates().await };
        let listed = self.content(self.config.startup_timeout(), list).await?;
        Ok(listed.iter().map(ResourceTemplate::of).collect())
    }

    pub(crate) async fn read_resource(&self, uri: &str) -> Result<Vec<ResourceContent>, McpError> {
        let read = |live: Arc<Live>| async move { live.read_resource(uri).await };
        let read = self.content(self.config.tool_timeout(), read).await?;
        Ok(read.iter().filter_map(ResourceContent::of).collect())
    }

    pub(crate) async fn prompts(&self) -> Result<Vec<Prompt>, McpError> {
        let list = |live: Arc<Live>| async move { live.prompts().await };
        let listed = self.content(self.config.startup_timeout(), list).await?;
        Ok(listed.iter().map(Prompt::of).collect())
    }

    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, McpError> {
        let arguments = arguments.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        let arguments = arguments.collect();
        let fill = |live: Arc<Live>| async move { live.prompt(name, arguments).await };
        let filled = self.content(self.config.tool_timeout(), fill).await?;
        Ok(filled.messages.iter().map(PromptMessage::of).collect())
    }

    /// What `ask` gets within `limit`. A connection over which a request failed that the server did not refuse is given up.
    async fn content<T, F: Future<Output = Result<T, ServerError>>>(
        &self,
        limit: Duration,
        ask: impl FnOnce(Arc<Live>) -> F,
    ) -> Result<T, McpError> {
        let (live, _) = self.live().await.map_err(|error| self.error(error))?;
        match self.within(limit, ask(live.clone())).await {
            Ok(answer) => Ok(answer),
            Err(error @ (ServerError::Refused { .. } | ServerError::InputRequired)) => {
                Err(self.error(error))
            }
            Err(error) => {
                self.drop_connection(&live).await;
                Err(self.error(self.noted(error)))
            }
        }
    }
}
