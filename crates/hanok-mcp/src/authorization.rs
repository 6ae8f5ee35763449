//! Authorization by OAuth 2.1, as MCP has it for servers over HTTP: a person signs in once, and tokens are renewed by themselves.
//!
//! - `sign_in`: how a person is shown where to sign in. Ground.
//! - `tokens`: the files of tokens, one for each server and address.
//! - `loopback`: the address of this machine to which a browser comes back.
//! - `egress`: requests to addresses that a server names, by the rules of the egress client.
//! - `session`: the authorization of one server.
//!
//! The exchange itself is rmcp's. Without the feature `oauth` no server has an authorization: `without`.

#[cfg(feature = "oauth")]
mod egress;
#[cfg(feature = "oauth")]
mod loopback;
#[cfg(feature = "oauth")]
mod session;
#[cfg(feature = "oauth")]
mod sign_in;
#[cfg(feature = "oauth")]
mod tokens;
#[cfg(not(feature = "oauth"))]
mod without;

#[cfg(feature = "oauth")]
pub(crate) use session::Authorization;
#[cfg(not(feature = "oauth"))]
pub(crate) use without::Authorization;
#[cfg(feature = "oauth")]
pub use {
    sign_in::{SignIn, SignInPage},
    tokens::TokenFolder,
};

/// How servers are signed in to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Authorizer {
    #[cfg(feature = "oauth")]
    pub(crate) sign_in: Option<SignIn>,
    #[cfg(feature = "oauth")]
    pub(crate) tokens: Option<TokenFolder>,
}
