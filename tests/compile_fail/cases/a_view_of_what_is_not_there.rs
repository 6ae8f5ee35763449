use hanok::state::{State, View};

#[derive(State, Clone, Default)]
struct Chat {
    plan: String,
    iteration: u32,
}

#[derive(View)]
#[view(of = Chat)]
struct Planner {
    pan: String,
    iteration: u64,
}

#[derive(View)]
struct OfNothing {
    plan: String,
}

fn main() {}
