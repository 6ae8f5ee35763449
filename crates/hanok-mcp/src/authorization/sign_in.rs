//! How a person is shown where to sign in.

use std::{fmt, sync::Arc, time::Duration};

/// The time that a person has.
const PATIENCE: Duration = Duration::from_secs(300);

/// How a person signs in to servers that want to know who asks: by a browser, which comes back to an address of this machine.
///
/// ```
/// use hanok_mcp::SignIn;
///
/// let sign_in = SignIn::new(|page| println!("{} asks you to sign in: {}", page.server, page.url));
/// # drop(sign_in);
/// ```
#[derive(Clone)]
#[must_use]
pub struct SignIn {
    pub(super) show: Arc<dyn Fn(&SignInPage) + Send + Sync>,
    pub(super) port: u16,
    pub(super) patience: Duration,
}

/// The page at which a person signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignInPage {
    /// The server, as the configuration names it.
    pub server: String,
    /// The address of the page, which an authorization server gave: show it, and open it only when the person says so.
    pub url: String,
}

impl SignIn {
    /// Shows each page with `show`, which returns at once.
    pub fn new(show: impl Fn(&SignInPage) + Send + Sync + 'static) -> Self {
        Self { show: Arc::new(show), port: 0, patience: PATIENCE }
    }

    /// Sets the port of this machine to which the browser comes back, for authorization servers that know it beforehand. Default:
    /// any that is free.
    ///
    /// ```
    /// # use hanok_mcp::SignIn;
    /// let sign_in = SignIn::new(|page| println!("{}", page.url)).port(8765);
    /// # drop(sign_in);
    /// ```
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Sets the time that a person has. Default: 5 minutes.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn")
            .field("port", &self.port)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
