//! `#[debug_node]`: says what is wrong with a node at the node, not where a graph takes it.
//!
//! What can be told by the signature's words alone is an error of the macro. The rest is checked by code that is never
//! run: traits of its own, each with the sentence that the compiler is to say, and a call whose future has to be `Send`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Error, FnArg, GenericArgument, Ident, ItemFn, PathArguments, Result, ReturnType, Signature,
    Type, spanned::Spanned,
};

use crate::paths;

/// The form of a node; the end of every message.
const NODE: &str = "a node is an `async fn(Snapshot<S>, Context<C>) -> Result<U, E>`, or with a `Sent<T>` between the two";

/// The function, followed by what checks it or what is wrong with it.
pub(crate) fn debug(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => {
            let checked = nothing_said(&arguments).and_then(|()| check(&function));
            let checks = checked.unwrap_or_else(|error| error.to_compile_error());
            quote!(#function #checks)
        }
        Err(_) => {
            let what = format!("`#[debug_node]` stands on a function: {NODE}");
            let error = Error::new_spanned(&item, what).to_compile_error();
            quote!(#item #error)
        }
    }
}

fn nothing_said(arguments: &TokenStream) -> Result<()> {
    if arguments.is_empty() {
        return Ok(());
    }
    Err(Error::new_spanned(
        arguments,
        "`#[debug_node]` takes nothing: it finds the types by itself",
    ))
}

fn check(function: &ItemFn) -> Result<TokenStream> {
    let signature = &function.sig;
    let parameters = parameters(signature)?;
    if signature.asyncness.is_none() {
        let what = format!("write `async fn {}`: {NODE}", signature.ident);
        return Err(Error::new_spanned(signature.fn_token, what));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(&signature.generics, generic(signature)));
    }
    if let Some(of_any_type) = parameters.iter().find(|kind| matches!(kind, Type::ImplTrait(_))) {
        return Err(Error::new_spanned(of_any_type, generic(signature)));
    }
    ordered(&parameters)?;
    let ReturnType::Type(_, output) = &signature.output else {
        let what = format!(
            "`{}` returns nothing: write `-> Result<(), E>` and end with `Ok(())` if it writes nothing; {NODE}",
            signature.ident
        );
        return Err(Error::new_spanned(&signature.ident, what));
    };
    Ok(checks(&signature.ident, &parameters, output))
}

fn generic(signature: &Signature) -> String {
    format!(
        "`{}` is generic, so it cannot be checked before a graph says for which types: \
         remove `#[debug_node]`, or put it on a function that is not and calls this one",
        signature.ident
    )
}

/// The types of the parameters, two or three.
fn parameters(signature: &Signature) -> Result<Vec<&Type>> {
    let mut kinds = Vec::new();
    for parameter in &signature.inputs {
        match parameter {
            FnArg::Typed(parameter) => kinds.push(&*parameter.ty),
            FnArg::Receiver(receiver) => {
                let what = "a node is a free function: what it needs besides the state comes with the \
                            context, from `context.services()`";
                return Err(Error::new_spanned(receiver, what));
            }
        }
    }
    if matches!(kinds.len(), 2 | 3) {
        return Ok(kinds);
    }
    let count = match kinds.len() {
        0 => "no parameters".to_owned(),
        1 => "one parameter".to_owned(),
        many => format!("{many} parameters"),
    };
    let what = format!("`{}` has {count}: {NODE}", signature.ident);
    if signature.inputs.is_empty() {
        return Err(Error::new_spanned(&signature.ident, what));
    }
    Err(Error::new_spanned(&signature.inputs, what))
}

/// Refuses parameters that say by their names that they belong elsewhere.
fn ordered(parameters: &[&Type]) -> Result<()> {
    let places: &[&str] = match parameters.len() {
        2 => &["Snapshot", "Context"],
        _ => &["Snapshot", "Sent", "Context"],
    };
    for (place, kind) in places.iter().zip(parameters) {
        let Some(name) = last_name(kind) else { continue };
        if name != place && ["Snapshot", "Sent", "Context"].iter().any(|known| name == known) {
            let order = places.join("`, then `");
            let what = format!("this is the place of the `{place}`: first `{order}`");
            return Err(Error::new_spanned(kind, what));
        }
    }
    Ok(())
}

/// The name of a type that is written as a path.
fn last_name(kind: &Type) -> Option<&Ident> {
    match kind {
        Type::Path(path) => path.path.segments.last().map(|last| &last.ident),
        _ => None,
    }
}

/// The state's type, where the first parameter is written out as `Snapshot<S>`.
fn state_of<'t>(parameters: &[&'t Type]) -> Option<&'t Type> {
    let snapshot = *parameters.first()?;
    let Type::Path(path) = snapshot else { return None };
    if last_name(snapshot)? != "Snapshot" {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(state) => Some(state),
        _ => None,
    }
}

/// Code that is never run and compiles only if the node is one.
fn checks(name: &Ident, parameters: &[&Type], output: &Type) -> TokenStream {
    let graph = paths::graph_crate();
    let places: &[&str] = match parameters.len() {
        2 => &["Snapshot", "Context"],
        _ => &["Snapshot", "Sent", "Context"],
    };
    let parameter_checks =
        places.iter().zip(parameters).map(|(place, kind)| parameter_check(place, kind, &graph));
    let output_check = output_check(name, state_of(parameters), output, &graph);
    let future_check = future_check(name, parameters);
    quote! {
        #[allow(clippy::all, clippy::pedantic, dead_code, reason = "checked and never run")]
        const _: () = {
            #(#parameter_checks)*
            #output_check
            #future_check
        };
    }
}

/// Checks that a parameter is what belongs in its place, whatever name it has here.
fn parameter_check(place: &str, kind: &Type, graph: &TokenStream) -> TokenStream {
    let is = format_ident!("Is{place}");
    let takes = format_ident!("takes_a_{}", place.to_lowercase());
    let wanted = format_ident!("{place}");
    let (which, label) = match place {
        "Snapshot" => ("first", wrapped(place, kind)),
        "Sent" => ("second", wrapped(place, kind)),
        _ => {
            ("last", "write `Context`, or `Context<C>` with the run's services for `C`".to_owned())
        }
    };
    let message =
        format!("the {which} parameter of a node is its `{place}`, which `{{Self}}` is not");
    let call = quote_spanned!(kind.span()=> #takes::<#kind>());
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #NODE)]
        trait #is {}
        impl<T> #is for #graph::#wanted<T> {}
        fn #takes<T: #is>() {
            let _ = || #call;
        }
    }
}

/// How a parameter is written that was given as `kind`: by value, in its wrapper.
fn wrapped(place: &str, kind: &Type) -> String {
    match kind {
        Type::Reference(by) if last_name(&by.elem).is_some_and(|name| name == place) => {
            format!("write `{place}<…>`, without the `&`")
        }
        Type::Reference(by) => wrapped(place, &by.elem),
        kind => format!("write `{place}<{}>`", quote!(#kind)),
    }
}

/// Checks what a node returns: a result of a write of this state, or of an error.
fn output_check(
    name: &Ident,
    state: Option<&Type>,
    output: &Type,
    graph: &TokenStream,
) -> TokenStream {
    let message = "a node returns a `Result`, which `{Self}` is not";
    let label = format!("write `Result<{}, E>` and `Ok(…)`", quote!(#output));
    let (write, bound) = state.map(|state| write_trait(name, state, graph)).unzip();
    // Which kind of write it is follows from what is written; without a state there is nothing that it follows from.
    let kind = if state.is_some() { quote!(_) } else { quote!(()) };
    let call = quote_spanned!(output.span()=> returns::<#kind, #output>());
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #NODE)]
        trait IsResult {
            type Write;
            type Error;
        }
        impl<T, E> IsResult for ::core::result::Result<T, E> {
            type Write = T;
            type Error = E;
        }
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is no error that a node may return",
            label = "implement `std::error::Error` for `{Self}`, or return a `BoxError`",
            note = "what a node returns in `Err` is an error that is `Send` and `Sync`, a `BoxError`, or text"
        )]
        trait IsError {}
        #[diagnostic::do_not_recommend]
        impl<E: ::core::convert::Into<#graph::BoxError>> IsError for E {}
        #write
        fn returns<M, R: IsResult>()
        where
            R::Error: IsError,
            #bound
        {
            let _ = || #call;
        }
    }
}

/// The trait of what may be written to `state`, and the bound that asks for it.
fn write_trait(name: &Ident, state: &Type, graph: &TokenStream) -> (TokenStream, TokenStream) {
    let message = format!("`{{Self}}` is no write of the state `{}`", quote!(#state));
    let label = last_name(state).map(|state| format!("write `Result<{state}Update, …>`"));
    let label = label.unwrap_or_else(|| "not a write of this state".to_owned());
    let note = format!(
        "what `{name}` returns in `Ok` is an update (`{0}::update()` and its methods), a `Command<{0}>`, a `Vec` of one of them, or `()`",
        quote!(#state)
    );
    let write = quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        trait IsWrite<M> {}
        // What a node reads is its graph's state, or a view of it.
        #[diagnostic::do_not_recommend]
        impl<S, M, U> IsWrite<(S, M)> for U
        where
            S: #graph::State,
            #state: #graph::View<S>,
            U: #graph::IntoCommand<S, M>,
        {
        }
    };
    (write, quote!(R::Write: IsWrite<M>,))
}

/// Checks that the future may move between threads, which is what makes tasks run in parallel.
fn future_check(name: &Ident, parameters: &[&Type]) -> TokenStream {
    let arguments: Vec<_> =
        (0..parameters.len()).map(|index| format_ident!("parameter_{index}")).collect();
    let call = quote_spanned!(name.span()=> the_future_of_a_node_is_send(#name(#(#arguments),*)));
    quote! {
        fn the_future_of_a_node_is_send<F: ::core::marker::Send>(_: F) {}
        fn future(#(#arguments: #parameters),*) {
            #call
        }
    }
}
