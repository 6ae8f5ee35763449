//! The part of a state that a node sees.

use std::sync::Arc;

use crate::state::State;

/// The part of the state `S` that a node sees: the state itself, or a struct with some of its fields.
///
/// Only a view that names it shows a field that is `#[state(private)]`. The whole state, which is a view of itself, has the
/// value of `S::default()` there.
///
/// ```
/// use std::sync::Arc;
///
/// use hanok_state::{Messages, State, View};
///
/// #[derive(State, Clone, Default)]
/// struct Chat {
///     messages: Messages,
///     #[state(private)]
///     plan: String,
/// }
///
/// #[derive(View)]
/// #[view(of = Chat)]
/// struct Planner {
///     plan: String,
/// }
///
/// let state = Arc::new(Chat { plan: "제12조를 읽는다".into(), ..Chat::default() });
/// assert_eq!(Planner::of(&state).plan, "제12조를 읽는다");
/// assert_eq!(Chat::of(&state).plan, "");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no view of the state `{S}`",
    note = "a view is the state itself, or a struct with some of its fields: `#[derive(View)] #[view(of = {S})]`"
)]
pub trait View<S: State>: Send + Sync + Sized + 'static {
    /// The names of the fields that the view shows. `None` for all that are not private.
    const FIELDS: Option<&'static [&'static str]>;

    /// Makes the view of `state`. It costs a clone of each field that it shows. The whole of a state without private fields
    /// costs a pointer.
    fn of(state: &Arc<S>) -> Arc<Self>;
}

impl<S: State> View<S> for S {
    const FIELDS: Option<&'static [&'static str]> = None;

    fn of(state: &Arc<S>) -> Arc<S> {
        let fields = &state.schema().fields;
        if !fields.iter().any(|field| field.private) {
            return Arc::clone(state);
        }
        let mut public = S::clone(state);
        let shown = |name: &str| !fields.iter().any(|field| field.private && field.name == name);
        public.retain(&shown, &S::default());
        Arc::new(public)
    }
}
