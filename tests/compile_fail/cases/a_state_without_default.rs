use hanok::{State};

#[derive(State, Clone)]
struct Agent {
    iteration: u32,
}

fn main() {}
