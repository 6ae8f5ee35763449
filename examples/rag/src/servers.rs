//! The tools of MCP servers, which `external_agent` has beside its own.

use hanok_model::SharedTool;
use kit::{Screen, failure::Failure};

use crate::Options;

/// The servers that the options name, if they name any. They end with the program.
#[derive(Debug, Default)]
pub struct Servers {
    #[cfg(feature = "mcp")]
    client: Option<hanok_mcp::McpClient>,
}

#[cfg(feature = "mcp")]
impl Servers {
    /// Connects to them. What nobody has approved of their tools is told and not used; a server that is not there costs its own tools.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for a file that cannot be used, [`Failure::Unusable`] for a server that is required and cannot be reached.
    pub async fn connect(options: &Options, screen: &Screen) -> Result<Self, Failure> {
        let Some(path) = &options.mcp else { return Ok(Self::default()) };
        let config = hanok_mcp::McpConfig::read(path).map_err(usage)?;
        let client = hanok_mcp::McpClient::builder(config).connect().await;
        let what = "도구의 서버를";
        let client = client.map_err(|error| Failure::Unusable { what, source: error.into() })?;
        if options.accept {
            client.approve(&client.pending()).map_err(usage)?;
        }
        for change in client.pending() {
            let about = change.description().and_then(|about| about.lines().next());
            let (tool, about) = (change.tool(), about.unwrap_or_default());
            screen.tell(&format!("승인하지 않은 도구 {tool}: {about} (--accept로 승인합니다)"));
        }
        for status in client.status() {
            let (server, Some(error)) = (status.server, status.error) else { continue };
            screen.tell(&format!("서버 `{server}`을(를) 쓸 수 없습니다: {error}"));
        }
        Ok(Self { client: Some(client) })
    }

    /// Their tools that somebody has approved.
    pub fn tools(&self) -> Vec<SharedTool> {
        self.client.as_ref().map(hanok_mcp::McpClient::tools).unwrap_or_default()
    }

    /// Ends them.
    pub async fn close(self) {
        if let Some(client) = self.client {
            client.close().await;
        }
    }
}

#[cfg(feature = "mcp")]
fn usage(error: impl std::error::Error + 'static) -> Failure {
    Failure::Usage(hanok_core::Chain(&error).to_string())
}

#[cfg(not(feature = "mcp"))]
#[expect(clippy::unused_async, reason = "they stand in the place of those that connect")]
impl Servers {
    /// Refuses to: this build has no MCP.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] with the feature to build with, where servers are named.
    pub async fn connect(options: &Options, _: &Screen) -> Result<Self, Failure> {
        match &options.mcp {
            Some(_) => Err(Failure::not_built("--mcp", "mcp")),
            None => Ok(Self::default()),
        }
    }

    /// None.
    pub fn tools(&self) -> Vec<SharedTool> {
        Vec::new()
    }

    /// Has nothing to end.
    pub async fn close(self) {}
}
