use hanok::tool;

struct Calculator;

impl Calculator {
    /// Adds.
    #[tool]
    async fn add(&self, a: u32) -> String {
        a.to_string()
    }
}

fn main() {}
