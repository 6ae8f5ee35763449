use hanok::State;

#[derive(State, Clone, Default)]
struct Agent<T> {
    value: T,
}

fn main() {}
