//! Lists and contents of a server beside its tools: resources and prompts.

use rmcp::{
    model::{
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject,
        PaginatedRequestParams, Prompt, ReadResourceRequestParams, ReadResourceResponse, Resource,
        ResourceContents, ResourceTemplate,
    },
    service::ServiceError,
};

use super::live::Live;
use crate::error::ServerError;

/// The most items of one list.
const MOST_ITEMS: usize = 4096;

/// The most pages of one list.
const MOST_PAGES: usize = 256;

/// The code of JSON-RPC for a method that a server does not know.
const UNKNOWN_METHOD: i32 = -32601;

impl Live {
    /// The resources of the server, all pages of them.
    pub(crate) async fn resources(&self) -> Result<Vec<Resource>, ServerError> {
        self.pages(async |page| {
            let listed = self.peer().list_resources(page).await?;
            Ok((listed.resources, listed.next_cursor))
        })
        .await
    }

    /// The templates of addresses of resources, all pages of them.
    pub(crate) async fn resource_templates(&self) -> Result<Vec<ResourceTemplate>, ServerError> {
        self.pages(async |page| {
            let listed = self.peer().list_resource_templates(page).await?;
            Ok((listed.resource_templates, listed.next_cursor))
        })
        .await
    }

    /// The prompts of the server, all pages of them.
    pub(crate) async fn prompts(&self) -> Result<Vec<Prompt>, ServerError> {
        self.pages(async |page| {
            let listed = self.peer().list_prompts(page).await?;
            Ok((listed.prompts, listed.next_cursor))
        })
        .await
    }

    /// The contents of the resource `uri`.
    pub(crate) async fn read_resource(
        &self,
        uri: &str,
    ) -> Result<Vec<ResourceContents>, ServerError> {
        let reading = self.peer().read_resource_once(ReadResourceRequestParams::new(uri));
        match self.request(reading).await? {
            ReadResourceResponse::Complete(read) => Ok(read.contents),
            _ => Err(ServerError::InputRequired),
        }
    }

    /// The prompt `name`, filled with `arguments`.
    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: JsonObject,
    ) -> Result<GetPromptResult, ServerError> {
        let mut request = GetPromptRequestParams::new(name);
        request.arguments = (!arguments.is_empty()).then_some(arguments);
        match self.request(self.peer().get_prompt_once(request)).await? {
            GetPromptResponse::Complete(prompt) => Ok(prompt),
            _ => Err(ServerError::InputRequired),
        }
    }

    async fn pages<T>(
        &self,
        page: impl AsyncFn(
            Option<PaginatedRequestParams>,
        ) -> Result<(Vec<T>, Option<String>), ServiceError>,
    ) -> Result<Vec<T>, ServerError> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MOST_PAGES {
            let parameters = cursor.take().map(|cursor| {
                let mut parameters = PaginatedRequestParams::default();
                parameters.cursor = Some(cursor);
                parameters
            });
            let is_first = parameters.is_none();
            let (more, next) = match self.request(page(parameters)).await {
                Ok(listed) => listed,
                // A server that has none need not know what listing is.
                Err(ServerError::Refused { code: UNKNOWN_METHOD, .. }) if is_first => {
                    return Ok(items);
                }
                Err(error) => return Err(error),
            };
            items.extend(more);
            if items.len() > MOST_ITEMS {
                return Err(ServerError::TooManyTools { limit: MOST_ITEMS });
            }
            cursor = next;
            if cursor.is_none() {
                return Ok(items);
            }
        }
        Err(ServerError::TooManyTools { limit: MOST_PAGES })
    }
}
