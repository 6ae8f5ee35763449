use hanok::State;

#[derive(State, Clone, Default)]
struct Agent {
    #[state(private, ephemeral)]
    #[state(private)]
    plan: String,
}

fn main() {}
