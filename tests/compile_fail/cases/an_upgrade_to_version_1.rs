use hanok::State;
use hanok::core::{BoxError, Fields};

#[derive(State, Clone, Default)]
#[state(version = 1, upgrade = since)]
struct Account {
    cents: u64,
}

fn since(_: u32, _: &mut Fields) -> Result<(), BoxError> {
    Ok(())
}

fn main() {}
