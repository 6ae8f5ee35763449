use hanok::tool;

struct App;

/// Greets.
#[tool]
async fn greet(name: String, #[from_call] _app: App) -> String {
    name
}

fn main() {}
