use hanok::tool;

struct App;

/// Greets.
#[tool]
async fn greet(name: String, #[serde(default)] _app: hanok::model::Services<App>) -> String {
    name
}

fn main() {}
