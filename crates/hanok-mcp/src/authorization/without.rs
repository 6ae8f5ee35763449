//! What stands in the place of an authorization without the feature `oauth`: no server has one.

use super::Authorizer;
use crate::{config::HttpConfig, error::ServerError};

/// The authorization that no server has.
#[derive(Debug)]
pub(crate) enum Authorization {}

impl Authorization {
    pub(crate) fn of(
        _: &str,
        _: &HttpConfig,
        _: &Authorizer,
        _: reqwest::Client,
    ) -> Result<Option<Self>, ServerError> {
        Ok(None)
    }

    pub(crate) fn challenged(&self, _: &str) {
        match *self {}
    }

    pub(crate) fn is_challenged(&self) -> bool {
        match *self {}
    }

    #[expect(
        clippy::unused_async,
        reason = "it stands in the place of one that waits for a person"
    )]
    pub(crate) async fn answer_challenge(&self) -> Result<bool, ServerError> {
        match *self {}
    }
}
