use hanok::tool;

/// Adds.
#[tool]
struct Add;

fn main() {}
