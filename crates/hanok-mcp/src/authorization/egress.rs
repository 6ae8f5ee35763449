//! Requests to addresses that a server names, by the rules of the egress client.

use hanok_core::{BoxError, Call, Secret};
use hanok_egress::{Egress, EgressError, Fetch, Limits};
use reqwest::Url;
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};

use crate::config::is_this_machine;

/// The most bytes of an answer.
const LONGEST: u64 = 1024 * 1024;

/// The headers of a request that are sent on, beside those of the client itself.
const HEADERS: [&str; 2] = ["authorization", "mcp-protocol-version"];

/// Makes the requests of an authorization: to public addresses, and to what the operator permits.
#[derive(Debug)]
pub(super) struct EgressHttp(Egress);

impl EgressHttp {
    /// A client for the server at `url`. A server of this machine may name this machine, any other may not.
    pub(super) fn new(url: &Url, permits: &[String]) -> Result<Self, EgressError> {
        let own: &[&str] = if is_this_machine(url) { &["127.0.0.0/8", "::1"] } else { &[] };
        let permits = own.iter().copied().chain(permits.iter().map(String::as_str));
        let egress = permits.fold(Egress::builder(), |egress, address| egress.permit(address));
        egress.build().map(Self)
    }

    async fn fetch(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, BoxError> {
        let (head, body) = request.request.into_parts();
        let url = head.uri.to_string();
        let fetch = match head.method {
            http::Method::GET => Fetch::get(url),
            _ => {
                let body = Secret::new(String::from_utf8(body)?);
                let content_type = head.headers.get(http::header::CONTENT_TYPE);
                match content_type.is_some_and(|it| it.as_bytes().starts_with(b"application/json"))
                {
                    true => Fetch::post_json(url, &serde_json::from_str(body.expose())?),
                    false => Fetch::post_form(url, body),
                }
            }
        };
        let mut limits = Limits::default().body(LONGEST);
        limits = request.timeout.map_or(limits, |timeout| limits.total(timeout));
        if request.redirect_policy == rmcp::transport::auth::OAuthHttpRedirectPolicy::Stop {
            limits = limits.redirects(0);
        }
        let mut fetch = fetch.limits(limits);
        for name in HEADERS {
            if let Some(value) = head.headers.get(name) {
                fetch = fetch.header(name, Secret::new(value.to_str()?.to_owned()));
            }
        }
        let fetched = self.0.fetch(&Call::detached(), &fetch).await?;
        let mut answer = http::Response::builder().status(fetched.status());
        let content_type = fetched.content_type().map(|it| (http::header::CONTENT_TYPE, it));
        let challenge = fetched.challenge().map(|it| (http::header::WWW_AUTHENTICATE, it));
        for (name, value) in content_type.into_iter().chain(challenge) {
            answer = answer.header(name, value);
        }
        Ok(answer.body(fetched.body().to_vec())?)
    }
}

impl OAuthHttpClient for EgressHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.fetch(request))
    }
}
