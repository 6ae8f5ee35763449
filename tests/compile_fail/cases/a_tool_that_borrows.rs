use hanok::tool;

/// Greets.
#[tool]
async fn greet(name: &str) -> String {
    name.to_owned()
}

/// Greets several.
#[tool]
async fn greet_all(names: Vec<&str>) -> String {
    names.concat()
}

fn main() {}
