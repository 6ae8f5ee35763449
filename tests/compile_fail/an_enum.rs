use hanok_state::State;

#[derive(State, Clone)]
enum Mode {
    Idle,
}

fn main() {}
