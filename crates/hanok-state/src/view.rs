//! What a node is shown of a state.

use std::sync::Arc;

use crate::state::State;

/// A part of the state `S`, as a node is given it: the state itself, or a struct with some of its fields.
///
/// A field that is `#[state(private)]` is shown by a view that names it, and by no other: the whole state, which is a
/// view of itself, has the value of `S::default()` there.
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
    /// The names of the fields that it shows; `None` for all that are not private.
    const FIELDS: Option<&'static [&'static str]>;

    /// The view of `state`. Costs a clone of each field it shows, and a pointer for the whole of a state that has no
    /// private field.
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
