//! The sample MCP server by itself, for any client's `mcpServers`.

fn main() -> std::io::Result<()> {
    desk::serve()
}
