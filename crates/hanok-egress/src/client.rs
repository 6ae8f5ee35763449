//! The one way by which tools reach the network.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hanok_core::Call;
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{
        ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST,
        HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT, WWW_AUTHENTICATE,
    },
};
use url::Position;

use crate::{
    EgressBuilder, EgressError, Fetch, Fetched, Limits, Resolve, Waited, exchange, redirect,
};
use crate::{
    exchange::Exchange,
    policy::Policy,
    target::Target,
    unpack::{Bounds, Packing, Unpacked, Unpacking},
    wait::{bounded, within},
};

/// How long a name may take, and a connection to all of its addresses.
const CONNECT: Duration = Duration::from_secs(8);

/// How many addresses of a name are tried. All are checked.
const TRIED: usize = 4;

/// How much larger than sent an answer may be when it is unpacked.
const RATIO: u64 = 100;

/// The one way by which tools reach the network: public addresses only, bounded in size and time. P39
///
/// - `http` and `https` alone; a URL that could be read in two ways is refused.
/// - A name is resolved once for each request, *every* address of it is checked, and what was checked is what is connected
///   to. An address of this machine, of a local network, of a cloud's metadata, or one that wraps such, is refused.
/// - A redirect is a new request with all of its checks; there are at most five, none leaves https for http.
/// - Headers and keys go to the origin that they were meant for and to no other. There are no cookies, and no `Referer`.
/// - Answers are bounded in the size of head and body, the ratio to which they unpack, and time.
/// - No proxy is used, whatever the environment says: a proxy would resolve the names itself.
///
/// Clones share the settings. Each request has a connection of its own.
///
/// ```
/// use hanok_egress::Egress;
///
/// let egress = Egress::builder().only(["ko.wikipedia.org"]).build()?;
/// # Ok::<(), hanok_egress::EgressError>(())
/// ```
#[derive(Clone)]
pub struct Egress {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) policy: Policy,
    pub(crate) resolver: Box<dyn Resolve>,
    pub(crate) agent: HeaderValue,
    /// A machine without certificates still speaks http.
    pub(crate) tls: Result<Arc<rustls::ClientConfig>, rustls::Error>,
}

/// What one request led to.
enum Answer {
    Redirect(String),
    Fetched(Fetched),
}

impl Egress {
    /// A client that reaches every public host.
    pub fn builder() -> EgressBuilder {
        EgressBuilder::default()
    }

    /// What stands at `url`, of whatever status.
    ///
    /// # Errors
    ///
    /// [`EgressError`]. None holds a key or a value of a query.
    pub async fn get(
        &self,
        call: &Call,
        url: &str,
        limits: Limits,
    ) -> Result<Fetched, EgressError> {
        self.fetch(call, &Fetch::get(url).limits(limits)).await
    }

    /// The answer to `fetch`, of whatever status.
    ///
    /// # Errors
    ///
    /// [`EgressError`]. None holds a key or a value of a query.
    pub async fn fetch(&self, call: &Call, fetch: &Fetch) -> Result<Fetched, EgressError> {
        bounded(call, fetch.limits.total, self.follow(call, fetch)).await
    }

    async fn follow(&self, call: &Call, fetch: &Fetch) -> Result<Fetched, EgressError> {
        let secrets = fetch.secrets();
        let mut target = Target::read(&fetch.url)?;
        // Once it was left, the first origin gets no keys either: it did not ask for what another one thought of.
        let mut is_first = true;
        for _ in 0..=fetch.limits.redirects {
            let to = match self.ask(call, &target, fetch, is_first).await? {
                Answer::Redirect(to) => to,
                Answer::Fetched(fetched) => return Ok(fetched.without(&secrets, &target.shown())),
            };
            if fetch.body.is_some() {
                let why = "a request that carries data is not sent on";
                return Err(redirect::refused(&to, why, &secrets));
            }
            let next = redirect::next(&target, &to, &secrets)?;
            is_first &= next.has_origin_of(&target);
            target = next;
        }
        Err(EgressError::Redirects { limit: fetch.limits.redirects })
    }

    async fn ask(
        &self,
        call: &Call,
        target: &Target,
        fetch: &Fetch,
        with_keys: bool,
    ) -> Result<Answer, EgressError> {
        let request = self.request(target, fetch, with_keys)?;
        let addresses = self.addresses(call, target).await?;
        let connecting = async {
            let stream = exchange::connect(target, &addresses).await?;
            let stream: Box<dyn exchange::Stream> = match target.is_secure() {
                true => exchange::secured(target, stream, self.tls(target)?).await?,
                false => Box::new(stream),
            };
            Exchange::open(target, stream).await
        };
        let mut exchange = within(call, CONNECT, Waited::Connection, connecting).await?;
        let silence = fetch.limits.silence;
        let sending = exchange.send(target, request);
        let answer = within(call, silence, Waited::Silence, sending).await?;
        if let Some(location) = redirected(&answer) {
            return Ok(Answer::Redirect(location));
        }
        let (head, incoming) = answer.into_parts();
        let bounds = Bounds { size: fetch.limits.body, ratio: RATIO };
        expected(fetch, head.status, &head.headers)?;
        let unpacked = unpacked(&head.headers, bounds)?;
        let reading = Reading { call, target, silence, bounds };
        Ok(Answer::Fetched(Fetched {
            url: target.url.to_string(),
            status: head.status.as_u16(),
            content_type: text(&head.headers, &CONTENT_TYPE),
            challenge: text(&head.headers, &WWW_AUTHENTICATE),
            retry_after: text(&head.headers, &RETRY_AFTER)
                .and_then(|seconds| Some(Duration::from_secs(seconds.trim().parse().ok()?))),
            body: reading.body(&mut exchange, incoming, unpacked).await?,
        }))
    }

    /// The addresses of `target` to connect to. Each is allowed.
    async fn addresses(
        &self,
        call: &Call,
        target: &Target,
    ) -> Result<Vec<SocketAddr>, EgressError> {
        let (policy, host) = (&self.inner.policy, &target.host);
        policy.host(host)?;
        let found: Vec<IpAddr> = match target.address {
            Some(address) => vec![address],
            None => {
                let unresolved = |source| EgressError::Unresolved { host: host.clone(), source };
                let resolving =
                    async { self.inner.resolver.resolve(host).await.map_err(unresolved) };
                within(call, CONNECT, Waited::Name, resolving).await?
            }
        };
        for address in &found {
            policy.address(host, *address, target.port)?;
        }
        Ok(found.into_iter().take(TRIED).map(|ip| SocketAddr::new(ip, target.port)).collect())
    }

    fn request(
        &self,
        target: &Target,
        fetch: &Fetch,
        with_keys: bool,
    ) -> Result<Request<String>, EgressError> {
        let mut url = target.url.clone();
        let authority = url[Position::BeforeHost..Position::AfterPort].to_owned();
        let accept = if fetch.json_wanted { "application/json" } else { "*/*" };
        let mut request = Request::builder()
            .header(HOST, authority)
            .header(USER_AGENT, self.inner.agent.clone())
            .header(ACCEPT, accept)
            .header(ACCEPT_ENCODING, "gzip, deflate")
            .header(CONNECTION, "close");
        if with_keys {
            for (name, value) in &fetch.query {
                url.query_pairs_mut().append_pair(name, value.expose());
            }
            for (name, value) in &fetch.headers {
                request = request.header(*name, key(name, value.expose())?);
            }
        }
        let path = url[Position::BeforePath..Position::AfterQuery].to_owned();
        let request = match &fetch.body {
            Some(body) => request
                .method("POST")
                .uri(path)
                .header(CONTENT_TYPE, body.content_type)
                .body(body.text.expose().clone()),
            None => request.uri(path).body(String::new()),
        };
        request.map_err(|error| EgressError::Setting { what: format!("no request ({error})") })
    }

    fn tls(&self, target: &Target) -> Result<Arc<rustls::ClientConfig>, EgressError> {
        self.inner.tls.clone().map_err(|error| EgressError::Tls {
            host: target.host.clone(),
            source: format!("no certificates to judge by ({error}); install the system's").into(),
        })
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress")
            .field("policy", &self.inner.policy)
            .field("resolver", &self.inner.resolver)
            .finish_non_exhaustive()
    }
}

/// How a body is read.
struct Reading<'a> {
    call: &'a Call,
    target: &'a Target,
    silence: Duration,
    bounds: Bounds,
}

impl Reading<'_> {
    async fn body(
        &self,
        exchange: &mut Exchange,
        mut incoming: Incoming,
        mut unpacked: Unpacked,
    ) -> Result<Vec<u8>, EgressError> {
        loop {
            let next = exchange.bytes(self.target, &mut incoming);
            let Some(bytes) = within(self.call, self.silence, Waited::Silence, next).await? else {
                return unpacked.end().map_err(|why| self.refused(why));
            };
            unpacked.push(&bytes).map_err(|why| self.refused(why))?;
        }
    }

    fn refused(&self, why: Unpacking) -> EgressError {
        match why {
            Unpacking::TooLarge => EgressError::TooLarge { limit: self.bounds.size },
            Unpacking::Ratio => EgressError::Ratio { limit: self.bounds.ratio },
            Unpacking::Broken(error) => {
                EgressError::Garbled { wanted: "body packed as it says", source: error.into() }
            }
        }
    }
}

/// Where an answer sends, if it does.
fn redirected(answer: &Response<Incoming>) -> Option<String> {
    let is_redirect = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = answer.headers().get(LOCATION).filter(|_| is_redirect)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// An answer of success is of the kind that was asked for; what says nothing of its kind is let through.
fn expected(fetch: &Fetch, status: StatusCode, headers: &HeaderMap) -> Result<(), EgressError> {
    let Some(kind) = text(headers, &CONTENT_TYPE).filter(|_| fetch.json_wanted) else {
        return Ok(());
    };
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !status.is_success() || essence.ends_with("/json") || essence.ends_with("+json") {
        return Ok(());
    }
    let got = essence.chars().take(80).flat_map(char::escape_debug).collect();
    Err(EgressError::ContentType { got, wanted: "JSON" })
}

/// Where the body goes. One that says that it is too large is not begun.
fn unpacked(headers: &HeaderMap, bounds: Bounds) -> Result<Unpacked, EgressError> {
    let size = text(headers, &CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if size.is_some_and(|size| size > bounds.size) {
        return Err(EgressError::TooLarge { limit: bounds.size });
    }
    let encodings = headers.get_all(CONTENT_ENCODING).iter();
    let encodings: Vec<_> =
        encodings.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    Ok(Unpacked::new(Packing::read(&encodings.join(", "))?, bounds))
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// A header whose value is not shown.
fn key(name: &str, value: &str) -> Result<HeaderValue, EgressError> {
    let Ok(mut value) = HeaderValue::try_from(value) else {
        let what = format!("the value of the header `{name}` holds characters that no header can");
        return Err(EgressError::Setting { what });
    };
    value.set_sensitive(true);
    Ok(value)
}
