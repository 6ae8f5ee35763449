use hanok::model::ToolError;
use hanok::tool;

/// Adds.
#[tool]
async fn add(a: u32, b: u32) -> u32 {
    a + b
}

/// Adds.
#[tool]
async fn add_checked(a: u32, b: u32) -> Result<u32, ToolError> {
    a.checked_add(b).ok_or_else(|| ToolError::failed("too much"))
}

/// Adds.
#[tool]
async fn add_silently(a: u32) {
    drop(a);
}

fn main() {}
