//! The authorization of one server.

use std::sync::{Arc, Mutex, PoisonError};

use hanok_core::BoxError;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession,
    CredentialStore, InMemoryCredentialStore, OAuthClientConfig, StoredCredentials,
};
use tokio::{sync::Mutex as AsyncMutex, time::timeout};

use super::{
    Authorizer,
    egress::EgressHttp,
    loopback::{Loopback, query},
    sign_in::{SignIn, SignInPage},
    tokens::TokenFile,
};
use crate::{
    config::{HttpConfig, OAuthConfig},
    error::ServerError,
    text::line,
};

/// The name under which a client registers itself.
const NAME: &str = "hanok";

/// The longest address of a page that is shown.
const LONGEST_PAGE: usize = 8 * 1024;

/// The authorization of one server: its tokens while this process lives, and its last challenge.
pub(crate) struct Authorization {
    server: String,
    config: OAuthConfig,
    url: Url,
    sign_in: Option<SignIn>,
    tokens: Tokens,
    http: reqwest::Client,
    client: AsyncMutex<Option<AuthClient<reqwest::Client>>>,
    challenge: Mutex<Option<String>>,
}

/// The place of the tokens.
#[derive(Debug, Clone)]
enum Tokens {
    Memory(InMemoryCredentialStore),
    File(TokenFile),
}

impl Tokens {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        match self {
            Self::Memory(store) => store.load().await,
            Self::File(store) => store.load().await,
        }
    }

    fn keep(&self, manager: &mut AuthorizationManager) {
        match self.clone() {
            Self::Memory(store) => manager.set_credential_store(store),
            Self::File(store) => manager.set_credential_store(store),
        }
    }
}

impl std::fmt::Debug for Authorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorization")
            .field("server", &self.server)
            .field("tokens", &self.tokens)
            .finish_non_exhaustive()
    }
}

impl Authorization {
    /// The authorization of `server`; `None` when its configuration has none.
    pub(crate) fn of(
        server: &str,
        config: &HttpConfig,
        authorizer: &Authorizer,
        http: reqwest::Client,
    ) -> Result<Option<Self>, ServerError> {
        let Some(oauth) = &config.oauth else { return Ok(None) };
        let url = config.url.expose();
        let tokens = match &authorizer.tokens {
            Some(folder) => Tokens::File(folder.file(server, url)),
            None => Tokens::Memory(InMemoryCredentialStore::new()),
        };
        Ok(Some(Self {
            server: server.to_owned(),
            config: oauth.clone(),
            url: Url::parse(url).map_err(|error| ServerError::NoHttp(error.into()))?,
            sign_in: authorizer.sign_in.clone(),
            tokens,
            http,
            client: AsyncMutex::default(),
            challenge: Mutex::default(),
        }))
    }

    /// Notes that the server wants to know who asks, or wants more than the token allows, in the words of its challenge.
    pub(crate) fn challenged(&self, challenge: &str) {
        *self.challenge.lock().unwrap_or_else(PoisonError::into_inner) = Some(challenge.to_owned());
    }

    /// True when there is a challenge that somebody can answer.
    pub(crate) fn is_challenged(&self) -> bool {
        let challenge = self.challenge.lock().unwrap_or_else(PoisonError::into_inner);
        challenge.is_some() && self.sign_in.is_some()
    }

    fn challenge(&self) -> Option<String> {
        self.challenge.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Signs in if the server has asked for it since this was called last; true when somebody did.
    pub(crate) async fn answer_challenge(&self) -> Result<bool, ServerError> {
        let Some(challenge) = self.challenge() else { return Ok(false) };
        let sign_in = self.sign_in.as_ref().ok_or(ServerError::Unauthorized)?;
        let signed_in = self.signed_in(sign_in, &challenge).await.map_err(ServerError::SignIn)?;
        *self.client.lock().await = Some(signed_in);
        Ok(true)
    }

    /// The client that sends the tokens along and renews them.
    pub(crate) async fn client(&self) -> Result<AuthClient<reqwest::Client>, ServerError> {
        let mut client = self.client.lock().await;
        if let Some(client) = &*client {
            return Ok(client.clone());
        }
        let made = async {
            let mut manager = self.manager().await?;
            if manager.initialize_from_store().await?
                && let Some(id) = &self.config.client_id
            {
                manager.configure_client(self.registered(id))?;
            }
            Ok::<_, BoxError>(AuthClient::new(self.http.clone(), manager))
        };
        let made = made.await.map_err(ServerError::SignIn)?;
        Ok(client.insert(made).clone())
    }

    async fn manager(&self) -> Result<AuthorizationManager, BoxError> {
        let http = EgressHttp::new(&self.url, &self.config.permits)?;
        let manager =
            AuthorizationManager::new_with_oauth_http_client(self.url.as_str(), Arc::new(http));
        let mut manager = manager.await?;
        self.tokens.keep(&mut manager);
        Ok(manager)
    }

    /// The client that the operator has registered. Tokens are renewed without a redirect.
    fn registered(&self, id: &str) -> OAuthClientConfig {
        let config = OAuthClientConfig::new(id, "http://127.0.0.1/callback")
            .with_scopes(self.config.scopes.clone());
        match &self.config.client_secret {
            Some(secret) => config.with_client_secret(secret.expose().as_str()),
            None => config,
        }
    }

    /// Has a person sign in, and exchanges what the browser brings back for tokens.
    async fn signed_in(
        &self,
        sign_in: &SignIn,
        challenge: &str,
    ) -> Result<AuthClient<reqwest::Client>, BoxError> {
        let loopback = Loopback::bind(sign_in.port).await?;
        let mut manager = self.manager().await?;
        let challenge = (!challenge.is_empty()).then_some(challenge);
        let metadata = manager.resolve_metadata_from_challenge(challenge).await?.metadata;
        manager.set_metadata(metadata);
        let request = self.request(&manager, loopback.address()).await?;
        let session =
            AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)?;
        let page = Url::parse(&session.auth_url)?;
        if page.as_str().len() > LONGEST_PAGE || !matches!(page.scheme(), "https" | "http") {
            return Err("the page to sign in at has no address that a browser opens".into());
        }
        let state = query(&page, "state").ok_or("the page to sign in at has no `state`")?;
        (sign_in.show)(&SignInPage { server: self.server.clone(), url: page.into() });
        let patience = sign_in.patience;
        let back = timeout(patience, loopback.redirected(&state)).await;
        let back = back.map_err(|_elapsed| format!("nobody signed in within {patience:?}"))??;
        if let Some(error) = query(&back, "error") {
            let about = query(&back, "error_description").unwrap_or_default();
            return Err(line(&format!("the sign-in was refused: {error} {about}"), 512).into());
        }
        session.handle_callback_url(back.as_str()).await?;
        Ok(AuthClient::new(self.http.clone(), session.auth_manager))
    }

    /// The request for what the operator wants, or else for what the server asks for and what was granted before.
    async fn request(
        &self,
        manager: &AuthorizationManager,
        redirect: String,
    ) -> Result<AuthorizationRequest, BoxError> {
        let mut request = AuthorizationRequest::new(redirect).with_client_name(NAME);
        if let Some(id) = &self.config.client_id {
            request = request.with_preregistered_client(id);
            if let Some(secret) = &self.config.client_secret {
                request = request.with_client_secret(secret.expose().as_str());
            }
        }
        if let Some(url) = &self.config.client_metadata_url {
            request = request.with_client_metadata_url(url);
        }
        let before = self.tokens.load().await?.map(|it| it.granted_scopes).unwrap_or_default();
        let mut scopes = self.config.scopes.clone();
        if !before.is_empty() || !scopes.is_empty() {
            for scope in before.into_iter().chain(manager.select_scopes(None, &[])) {
                if !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
        }
        Ok(request.with_scopes(scopes))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::ErrorKind,
        net::TcpListener,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use hanok_core::{Chain, Secret};

    use super::*;
    use crate::connection::http_client;

    /// P44: what a server says about authorization is fetched from public addresses alone, and nobody is shown a page of it.
    #[tokio::test]
    async fn a_challenge_leads_to_no_address_of_this_machine() {
        let inside = TcpListener::bind("127.0.0.1:0").unwrap();
        inside.set_nonblocking(true).unwrap();
        let address = inside.local_addr().unwrap();
        let shown = Arc::new(AtomicUsize::new(0));
        let pages = shown.clone();
        let sign_in = SignIn::new(move |_| {
            pages.fetch_add(1, Ordering::SeqCst);
        });
        let authorizer = Authorizer { sign_in: Some(sign_in), tokens: None };
        // A name that nobody has: what the server itself says beside the challenge is out of reach.
        let config = HttpConfig {
            url: Secret::new("http://mcp.invalid/mcp".to_owned()),
            headers: Vec::new(),
            oauth: Some(OAuthConfig::default()),
        };
        let http = http_client(&config).unwrap();
        let authorization = Authorization::of("web", &config, &authorizer, http).unwrap().unwrap();
        for host in [address.to_string(), format!("localhost:{}", address.port())] {
            authorization.challenged(&format!("Bearer resource_metadata=\"http://{host}/about\""));
            let error = authorization.answer_challenge().await.unwrap_err();
            let words = Chain(&error).to_string();
            assert!(words.starts_with("nobody is signed in to the server"), "{words}");
            assert!(!authorization.is_challenged());
        }
        assert_eq!(shown.load(Ordering::SeqCst), 0);
        assert_eq!(inside.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
