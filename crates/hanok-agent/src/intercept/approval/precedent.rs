//! Decisions that stand for the next call: whoever may let it pass without a person.

use std::{fmt, sync::Arc};

use hanok_core::{BoxFuture, Call};
use hanok_model::ToolError;

use crate::intercept::ToolRequest;

/// Lets calls pass that a person would be asked about: by a rule of that person, or by what their decisions have taught.
///
/// It is asked when the call is judged, and what it says is stored with the judgement: a run that resumes does not ask it again. It
/// never refuses: where it has nothing to say, the person is asked.
///
/// ```
/// use hanok_agent::{Precedent, ToolRequest};
/// use hanok_core::Call;
/// use hanok_model::ToolError;
///
/// /// Lets mail to the user's own address pass.
/// #[derive(Debug)]
/// struct ToMyself(String);
///
/// impl Precedent for ToMyself {
///     async fn passes(&self, request: &ToolRequest<'_>, _: &Call) -> Result<Option<String>, ToolError> {
///         let arguments: serde_json::Value = request.call.arguments.decode().unwrap_or_default();
///         Ok((arguments["to"] == *self.0).then(|| "to the user".to_owned()))
///     }
/// }
/// ```
pub trait Precedent: fmt::Debug + Send + Sync + 'static {
    /// The reason why the call needs no person, `None` where it does.
    ///
    /// # Errors
    ///
    /// As those of [`Interceptor::admit`](crate::Interceptor::admit): any error refuses the call.
    fn passes(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
    ) -> impl Future<Output = Result<Option<String>, ToolError>> + Send;
}

trait Erased: fmt::Debug + Send + Sync {
    fn passes_boxed<'a>(
        &'a self,
        request: &'a ToolRequest<'_>,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>>;
}

impl<P: Precedent> Erased for P {
    fn passes_boxed<'a>(
        &'a self,
        request: &'a ToolRequest<'_>,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        Box::pin(self.passes(request, call))
    }
}

/// A precedent of any kind.
#[derive(Debug, Clone)]
pub(super) struct SharedPrecedent(Arc<dyn Erased>);

impl SharedPrecedent {
    pub(super) fn new(precedent: impl Precedent) -> Self {
        Self(Arc::new(precedent))
    }

    pub(super) async fn passes(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
    ) -> Result<Option<String>, ToolError> {
        self.0.passes_boxed(request, call).await
    }
}
