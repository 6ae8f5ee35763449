//! Lists and contents of a server: tools, resources and prompts.

use std::time::Duration;

use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject, PaginatedRequestParams,
    Prompt, ReadResourceRequestParams, ReadResourceResponse, Resource, ResourceContents,
    ResourceTemplate, Tool,
};

use super::live::Live;
use crate::error::ServerError;

/// The most items of one list.
const MOST_ITEMS: usize = 4096;

/// The most pages of one list.
const MOST_PAGES: usize = 256;

/// The code of JSON-RPC for a method that a server does not know.
const UNKNOWN_METHOD: i32 = -32601;

/// The tools of a server, and how long it says that they stay as they are.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) tools: Vec<Tool>,
    pub(crate) ttl: Option<Duration>,
}

impl Live {
    /// The tools of the server, all pages of them.
    pub(crate) async fn list(&self) -> Result<Listed, ServerError> {
        let (mut pages, mut ttl) = (Pages::default(), None::<Duration>);
        while let Some(page) = pages.next() {
            let listed = self.request(self.peer().list_tools(page)).await;
            if let Ok(listed) = &listed {
                // A page that says nothing of it lasts as long as the others.
                ttl = ttl.into_iter().chain(listed.ttl_ms.map(Duration::from_millis)).min();
            }
            pages.add(listed.map(|listed| (listed.tools, listed.next_cursor)))?;
        }
        Ok(Listed { tools: pages.items, ttl })
    }

    /// The resources of the server, all pages of them.
    pub(crate) async fn resources(&self) -> Result<Vec<Resource>, ServerError> {
        let mut pages = Pages::default();
        while let Some(page) = pages.next() {
            let listed = self.request(self.peer().list_resources(page)).await;
            pages.add(listed.map(|listed| (listed.resources, listed.next_cursor)))?;
        }
        Ok(pages.items)
    }

    /// The templates of addresses of resources, all pages of them.
    pub(crate) async fn resource_templates(&self) -> Result<Vec<ResourceTemplate>, ServerError> {
        let mut pages = Pages::default();
        while let Some(page) = pages.next() {
            let listed = self.request(self.peer().list_resource_templates(page)).await;
            pages.add(listed.map(|listed| (listed.resource_templates, listed.next_cursor)))?;
        }
        Ok(pages.items)
    }

    /// The prompts of the server, all pages of them.
    pub(crate) async fn prompts(&self) -> Result<Vec<Prompt>, ServerError> {
        let mut pages = Pages::default();
        while let Some(page) = pages.next() {
            let listed = self.request(self.peer().list_prompts(page)).await;
            pages.add(listed.map(|listed| (listed.prompts, listed.next_cursor)))?;
        }
        Ok(pages.items)
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
}

/// The pages of one list.
#[derive(Debug)]
struct Pages<T> {
    items: Vec<T>,
    pages: usize,
    cursor: Option<String>,
    is_whole: bool,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { items: Vec::new(), pages: 0, cursor: None, is_whole: false }
    }
}

impl<T> Pages<T> {
    /// The parameters of the next page, `None` when the list is whole.
    #[expect(clippy::option_option, reason = "the first page has no parameters")]
    fn next(&mut self) -> Option<Option<PaginatedRequestParams>> {
        if self.is_whole {
            return None;
        }
        self.pages += 1;
        Some(self.cursor.take().map(|cursor| {
            let mut parameters = PaginatedRequestParams::default();
            parameters.cursor = Some(cursor);
            parameters
        }))
    }

    fn add(
        &mut self,
        listed: Result<(Vec<T>, Option<String>), ServerError>,
    ) -> Result<(), ServerError> {
        let (more, next) = match listed {
            Ok(listed) => listed,
            // A server that has none need not know what listing is.
            Err(ServerError::Refused { code: UNKNOWN_METHOD, .. }) if self.pages == 1 => {
                (Vec::new(), None)
            }
            Err(error) => return Err(error),
        };
        self.items.extend(more);
        if self.items.len() > MOST_ITEMS {
            return Err(ServerError::TooManyTools { limit: MOST_ITEMS });
        }
        if next.is_some() && self.pages == MOST_PAGES {
            return Err(ServerError::TooManyTools { limit: MOST_PAGES });
        }
        (self.is_whole, self.cursor) = (next.is_none(), next);
        Ok(())
    }
}
