use std::rc::Rc;

use hanok::tool;

/// Adds.
#[tool]
async fn add(a: u32) -> String {
    let shared = Rc::new(a);
    std::future::ready(()).await;
    shared.to_string()
}

fn main() {}
