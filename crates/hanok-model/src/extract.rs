//! The parts of a run as a tool takes them out of its call.

use std::{fmt, ops::Deref, sync::Arc};

#[cfg(feature = "store")]
use hanok_checkpoint::SharedStore;
use hanok_core::{Call, Need};

use crate::ToolError;

/// A part of the run that a tool takes out of its [`Call`], and that no model sees: an *extractor*.
///
/// [`Services`], [`FromState`], `SharedStore` (feature `store`), the [`Call`] itself, and `Option` of one of them. One of your
/// own says what it needs and makes itself of that:
///
/// ```
/// use std::sync::Arc;
///
/// use hanok_core::{Call, Need};
/// use hanok_model::{FromCall, Services, ToolError};
///
/// #[derive(Debug)]
/// struct App {
///     user: Option<String>,
/// }
///
/// /// The user who is signed in.
/// #[derive(Debug, PartialEq)]
/// struct User(String);
///
/// impl FromCall for User {
///     fn needs() -> Vec<Need> {
///         Services::<App>::needs()
///     }
///
///     fn from_call(call: &Call) -> Result<Self, ToolError> {
///         let app = Services::<App>::from_call(call)?;
///         app.user.clone().map(User).ok_or_else(|| ToolError::refused("nobody is signed in"))
///     }
/// }
///
/// let call = Call::detached().provide(Arc::new(App { user: Some("kim".into()) }));
/// assert_eq!(User::from_call(&call)?, User("kim".into()));
/// # Ok::<(), ToolError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no part of a run that a tool takes out of its call",
    label = "not an extractor",
    note = "extractors are `Services<C>`, `FromState<S>`, `SharedStore` (feature `store`), `Call`, an `Option` of one of them, \
            and types that implement `FromCall`"
)]
pub trait FromCall: Sized {
    /// The parts without which it is not made: for [`Tool::needs`](crate::Tool::needs).
    fn needs() -> Vec<Need>;

    /// Takes it out of `call`.
    ///
    /// # Errors
    ///
    /// [`ToolError::NotProvided`] where the call does not carry a part.
    fn from_call(call: &Call) -> Result<Self, ToolError>;
}

/// The part of type `T` that `call` carries.
fn part<T: Send + Sync + 'static>(call: &Call) -> Result<Arc<T>, ToolError> {
    call.provided().ok_or_else(|| ToolError::NotProvided { need: Need::of::<T>() })
}

/// The services of the run, the `C` that its thread was given. Clones share them.
///
/// ```
/// use std::sync::Arc;
///
/// use hanok_core::Call;
/// use hanok_model::{FromCall, Services, ToolError};
///
/// struct App {
///     sender: &'static str,
/// }
///
/// let call = Call::detached();
/// assert!(matches!(Services::<App>::from_call(&call), Err(ToolError::NotProvided { .. })));
///
/// let app = Services::<App>::from_call(&call.provide(Arc::new(App { sender: "desk@hanok.kr" })))?;
/// assert_eq!(app.sender, "desk@hanok.kr");
/// # Ok::<(), ToolError>(())
/// ```
pub struct Services<C>(Arc<C>);

/// The state `S` of the graph that called, as it was when its node began. It is a snapshot: what a tool writes to the state
/// is the [update](crate::ToolOutput::update) of its output.
///
/// ```
/// use std::sync::Arc;
///
/// use hanok_core::Call;
/// use hanok_model::{FromCall, FromState, ToolError};
///
/// #[derive(Clone, Default)]
/// struct Desk {
///     customer: String,
/// }
///
/// let desk = Desk { customer: "Kim".into() };
/// let state = FromState::<Desk>::from_call(&Call::detached().provide(Arc::new(desk)))?;
/// assert_eq!(state.customer, "Kim");
/// # Ok::<(), ToolError>(())
/// ```
pub struct FromState<S>(Arc<S>);

/// Writes what both wrappers of a part have in common.
macro_rules! wrapper {
    ($name:ident, $text:literal) => {
        impl<T> $name<T> {
            /// Wraps `part`, for a direct call of a tool's function.
            pub fn new(part: impl Into<Arc<T>>) -> Self {
                Self(part.into())
            }

            /// The part itself, shared.
            pub fn into_inner(self) -> Arc<T> {
                self.0
            }
        }

        impl<T: Send + Sync + 'static> FromCall for $name<T> {
            fn needs() -> Vec<Need> {
                vec![Need::of::<T>()]
            }

            fn from_call(call: &Call) -> Result<Self, ToolError> {
                part(call).map(Self)
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T> Deref for $name<T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.0
            }
        }

        /// Its type; what it holds may be secret.
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($text, "<{}>"), std::any::type_name::<T>())
            }
        }
    };
}

wrapper!(Services, "Services");
wrapper!(FromState, "FromState");

/// The call itself: its key, its deadline, its cancellation, and the person who may be asked.
impl FromCall for Call {
    fn needs() -> Vec<Need> {
        Vec::new()
    }

    fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(call.clone())
    }
}

/// The part where the call carries it; nothing is needed.
impl<T: FromCall> FromCall for Option<T> {
    fn needs() -> Vec<Need> {
        Vec::new()
    }

    fn from_call(call: &Call) -> Result<Self, ToolError> {
        match T::from_call(call) {
            Ok(part) => Ok(Some(part)),
            Err(ToolError::NotProvided { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The store across threads that was given to the run.
#[cfg(feature = "store")]
impl FromCall for SharedStore {
    fn needs() -> Vec<Need> {
        vec![Need::of::<Self>()]
    }

    fn from_call(call: &Call) -> Result<Self, ToolError> {
        part::<Self>(call).map(|store| (*store).clone())
    }
}
