use hanok::tool;

/// Adds.
#[tool]
async fn add<T: ToString>(a: T) -> String {
    a.to_string()
}

/// Adds.
#[tool]
async fn add_any(a: impl ToString) -> String {
    a.to_string()
}

fn main() {}
