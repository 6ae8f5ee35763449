use hanok::{List, State};

#[derive(State, Clone, Default)]
struct Agent {
    #[state(transient)]
    #[reduce(append)]
    log: List<String>,
}

fn main() {}
