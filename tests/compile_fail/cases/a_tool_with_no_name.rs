use hanok::tool;

/// Adds.
#[tool]
async fn 더하기(a: u32) -> String {
    a.to_string()
}

/// Adds.
#[tool(name = "add two")]
async fn add(a: u32) -> String {
    a.to_string()
}

fn main() {}
