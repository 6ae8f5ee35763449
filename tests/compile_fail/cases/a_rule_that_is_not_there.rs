use hanok::{List, State};

#[derive(State, Clone, Default)]
struct Agent {
    #[reduce(apend)]
    log: List<String>,
}

fn main() {}
