use hanok::tool;

/// Adds.
#[tool(effects = pure)]
async fn add(a: u32) -> String {
    a.to_string()
}

/// Adds.
#[tool(effect = once)]
async fn add_once(a: u32) -> String {
    a.to_string()
}

/// Adds.
#[tool(timeout = 0)]
async fn add_now(a: u32) -> String {
    a.to_string()
}

/// Adds.
#[tool(timeout = 1, timeout = 2)]
async fn add_twice(a: u32) -> String {
    a.to_string()
}

fn main() {}
