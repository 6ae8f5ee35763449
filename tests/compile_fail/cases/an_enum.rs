use hanok::State;

#[derive(State, Clone)]
enum Mode {
    Idle,
}

fn main() {}
