use hanok_state::State;

#[derive(State, Clone, Default)]
struct Agent {
    #[reduce(append)]
    count: u32,
}

fn main() {}
