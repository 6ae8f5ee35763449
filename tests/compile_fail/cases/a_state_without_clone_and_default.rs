use hanok::State;

#[derive(State)]
struct Agent {
    iteration: u32,
}

fn main() {}
