use hanok::State;

#[derive(State, Clone, Default)]
struct Agent {
    #[reduce(append)]
    count: u32,
}

fn main() {}
