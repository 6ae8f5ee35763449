use hanok::tool;

struct App;

/// Greets.
#[tool]
async fn greet(name: String, _app: App) -> String {
    name
}

fn main() {}
