//! Requests about a task that a server has begun for a call.

use rmcp::model::{
    CancelTaskParams, DetailedTask, GetTaskParams, InputResponses, UpdateTaskParams,
};

use super::live::Live;
use crate::error::ServerError;

impl Live {
    /// The task `id`, as it is now.
    pub(crate) async fn task(&self, id: &str) -> Result<DetailedTask, ServerError> {
        let got = self.request(self.peer().get_task(GetTaskParams::new(id))).await?;
        Ok(got.task)
    }

    /// Hands the answers to questions of the task `id` over.
    pub(crate) async fn update_task(
        &self,
        id: &str,
        answers: InputResponses,
    ) -> Result<(), ServerError> {
        self.request(self.peer().update_task(UpdateTaskParams::new(id, answers))).await
    }

    /// Asks the server to stop the task `id`.
    pub(crate) async fn cancel_task(&self, id: &str) -> Result<(), ServerError> {
        self.request(self.peer().cancel_task(CancelTaskParams::new(id))).await
    }
}
