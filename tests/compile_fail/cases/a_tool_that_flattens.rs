use hanok::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Page {
    top: u32,
}

/// Lists.
#[tool]
async fn list(#[serde(flatten)] page: Page) -> String {
    page.top.to_string()
}

fn main() {}
