use hanok::State;

fn longer(value: &String, write: String) -> usize {
    value.len().max(write.len())
}

#[derive(State, Clone, Default)]
struct Agent {
    #[reduce(with = longer)]
    name: String,
}

fn main() {}
