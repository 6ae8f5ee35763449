//! Resources and prompts of a server.

use std::{collections::BTreeMap, sync::Arc};

use super::handle::Server;
use crate::{
    connection::Live,
    content::{Prompt, PromptMessage, Resource, ResourceContent, ResourceTemplate},
    error::{McpError, ServerError},
};

impl Server {
    pub(crate) async fn resources(&self) -> Result<Vec<Resource>, McpError> {
        let live = self.content_live().await?;
        let listed = self.within(self.config.startup_timeout(), live.resources()).await;
        let listed = self.judged(&live, listed).await?;
        Ok(listed.iter().map(Resource::of).collect())
    }

    pub(crate) async fn resource_templates(&self) -> Result<Vec<ResourceTemplate>, McpError> {
        let live = self.content_live().await?;
        let listed = self.within(self.config.startup_timeout(), live.resource_templates()).await;
        let listed = self.judged(&live, listed).await?;
        Ok(listed.iter().map(ResourceTemplate::of).collect())
    }

    pub(crate) async fn read_resource(&self, uri: &str) -> Result<Vec<ResourceContent>, McpError> {
        let live = self.content_live().await?;
        let read = self.within(self.config.tool_timeout(), live.read_resource(uri)).await;
        let read = self.judged(&live, read).await?;
        Ok(read.iter().filter_map(ResourceContent::of).collect())
    }

    pub(crate) async fn prompts(&self) -> Result<Vec<Prompt>, McpError> {
        let live = self.content_live().await?;
        let listed = self.within(self.config.startup_timeout(), live.prompts()).await;
        let listed = self.judged(&live, listed).await?;
        Ok(listed.iter().map(Prompt::of).collect())
    }

    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, McpError> {
        let live = self.content_live().await?;
        let arguments = arguments.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        let filling = live.prompt(name, arguments.collect());
        let filled = self.within(self.config.tool_timeout(), filling).await;
        let filled = self.judged(&live, filled).await?;
        Ok(filled.messages.iter().map(PromptMessage::of).collect())
    }

    async fn content_live(&self) -> Result<Arc<Live>, McpError> {
        let live = self.live().await;
        live.map(|(live, _)| live).map_err(|error| self.error(error))
    }

    /// Gives up a connection over which a request failed that the server did not refuse.
    async fn judged<T>(
        &self,
        live: &Arc<Live>,
        answered: Result<T, ServerError>,
    ) -> Result<T, McpError> {
        match answered {
            Ok(answer) => Ok(answer),
            Err(error @ (ServerError::Refused { .. } | ServerError::InputRequired)) => {
                Err(self.error(error))
            }
            Err(error) => {
                self.drop_connection(live).await;
                Err(self.error(self.noted(error)))
            }
        }
    }
}
