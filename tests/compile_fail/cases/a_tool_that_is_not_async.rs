use hanok::tool;

/// Adds.
#[tool]
fn add(a: u32, b: u32) -> String {
    (a + b).to_string()
}

fn main() {}
