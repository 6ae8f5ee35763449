use hanok::State;

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

fn main() {
    let _ = Agent::update().iterations(1);
}
