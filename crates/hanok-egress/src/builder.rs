//! Settings of an egress.

use std::sync::Arc;

use hyper::header::HeaderValue;
use rustls::pki_types::CertificateDer;

use crate::{
    Egress, EgressError, Resolve, SystemResolver,
    client::Inner,
    policy::{Permit, Policy, pattern},
    tls,
};

/// Settings of an [`Egress`].
#[derive(Debug, Default)]
pub struct EgressBuilder {
    ports: Option<Vec<u16>>,
    only: Option<Vec<String>>,
    permits: Vec<String>,
    roots: Vec<CertificateDer<'static>>,
    agent: Option<String>,
    resolver: Option<Box<dyn Resolve>>,
}

impl EgressBuilder {
    /// The hosts that may be asked, redirects included: `example.com`, or `*.example.com` for every name below it. Default:
    /// all.
    #[must_use]
    pub fn only<T: Into<String>>(self, hosts: impl IntoIterator<Item = T>) -> Self {
        Self { only: Some(hosts.into_iter().map(Into::into).collect()), ..self }
    }

    /// The ports of public addresses that are reached. Default: 80 and 443.
    #[must_use]
    pub fn ports(self, ports: impl IntoIterator<Item = u16>) -> Self {
        Self { ports: Some(ports.into_iter().collect()), ..self }
    }

    /// Addresses that are reached although they are not public, for a server of one's own: `127.0.0.1:8080`, `10.0.0.0/8`,
    /// `[fd00::/8]:9200`. Without a port, on every port. Default: none.
    #[must_use]
    pub fn permit(mut self, addresses: impl Into<String>) -> Self {
        self.permits.push(addresses.into());
        self
    }

    /// An authority to trust besides the system's, in DER. Default: none.
    #[must_use]
    pub fn root_certificate(mut self, der: Vec<u8>) -> Self {
        self.roots.push(der.into());
        self
    }

    /// What servers are told about who asks. Default: `hanok` and its version.
    #[must_use]
    pub fn user_agent(self, agent: impl Into<String>) -> Self {
        Self { agent: Some(agent.into()), ..self }
    }

    /// Who resolves names. Default: [`SystemResolver`].
    #[must_use]
    pub fn resolver(self, resolver: impl Resolve) -> Self {
        Self { resolver: Some(Box::new(resolver)), ..self }
    }

    /// The client.
    ///
    /// # Errors
    ///
    /// [`EgressError::Setting`] for a host, a range of addresses or a name for servers that is none.
    pub fn build(self) -> Result<Egress, EgressError> {
        let default = Policy::default();
        let only = self.only.map(|hosts| hosts.iter().map(|host| pattern(host)).collect());
        let policy = Policy {
            ports: self.ports.unwrap_or(default.ports),
            only: only.transpose()?,
            permits: self
                .permits
                .iter()
                .map(|text| Permit::parse(text))
                .collect::<Result<_, _>>()?,
        };
        let agent =
            self.agent.unwrap_or_else(|| concat!("hanok/", env!("CARGO_PKG_VERSION")).into());
        let agent = HeaderValue::try_from(agent).map_err(|error| EgressError::Setting {
            what: format!("the user agent holds characters that no header can ({error})"),
        })?;
        let resolver = self.resolver.unwrap_or_else(|| Box::new(SystemResolver));
        let tls = tls::config(self.roots).map(Arc::new);
        Ok(Egress { inner: Arc::new(Inner { policy, resolver, agent, tls }) })
    }
}
