//! The questions of a server before it goes on with a call, and their answers.

use std::collections::BTreeMap;

use hanok_core::{AskError, Call};
use hanok_model::ToolError;
use rmcp::model::{InputRequest, InputRequests, InputResponses};
use serde_json::{Value, json};

use super::{call::Target, handle::Server};
use crate::{
    elicitation::{Elicitation, ElicitationAnswer},
    error::ServerError,
    text::line,
};

/// The most questions of one round.
const MOST_QUESTIONS: usize = 16;

/// One thing that a server wants to know.
#[derive(Debug)]
enum Input {
    /// An answer of a person.
    Question(Box<Elicitation>),
    /// The folders of the client, of which there are none.
    Roots,
}

impl Server {
    /// Checks that a person can be asked all of `requests`, before anything is noted of them.
    pub(super) fn screen(&self, requests: &InputRequests) -> Result<(), ToolError> {
        let screened = self.inputs(requests);
        screened.map(drop).map_err(|error| ToolError::failed(self.error(error)))
    }

    /// The answers to `requests` of `target`'s call. `place` tells them from others of the same call. All are put to the person
    /// before the run stops for the first.
    pub(super) async fn answers(
        &self,
        target: &Target,
        requests: &InputRequests,
        place: &str,
        call: &Call,
    ) -> Result<InputResponses, ToolError> {
        let inputs = self.inputs(requests).map_err(|error| ToolError::failed(self.error(error)))?;
        let (mut responses, mut waiting) = (InputResponses::new(), None);
        for (key, input) in inputs {
            let answer = match input {
                Input::Roots => json!({"roots": []}),
                Input::Question(question) => {
                    let id = format!("{}/{place}/{}", call.key(), line(key, 128));
                    let tool = Some(target.id.tool().to_owned());
                    let question = Elicitation { id: Some(id), tool, ..*question };
                    match question.ask(call).await {
                        Ok(answer) => answer.to_json(),
                        Err(AskError::Nobody { .. }) => ElicitationAnswer::Cancel.to_json(),
                        Err(error) => {
                            waiting.get_or_insert(error);
                            Value::Null
                        }
                    }
                }
            };
            responses.insert(key.to_owned(), answer);
        }
        match waiting {
            None => Ok(responses),
            Some(error) => Err(error.into()),
        }
    }

    fn inputs<'a>(
        &self,
        requests: &'a InputRequests,
    ) -> Result<BTreeMap<&'a str, Input>, ServerError> {
        if requests.len() > MOST_QUESTIONS {
            return Err(ServerError::TooManyQuestions { limit: MOST_QUESTIONS });
        }
        let input = |(key, request): (&'a String, &InputRequest)| {
            let input = match request {
                InputRequest::Elicitation(asked) => {
                    Input::Question(Box::new(Elicitation::new(self.name(), &asked.params)?))
                }
                InputRequest::ListRoots(_) => Input::Roots,
                // Words of a model it is not given.
                _ => return Err(ServerError::InputRequired),
            };
            Ok((key.as_str(), input))
        };
        requests.iter().map(input).collect()
    }
}
