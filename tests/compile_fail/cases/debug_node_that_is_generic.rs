use hanok::{BoxError, Context, Snapshot, State, debug_node};

#[derive(State, Clone, Default)]
struct Agent {
    iteration: u32,
}

#[debug_node]
async fn node<C>(_: Snapshot<Agent>, _: Context<C>) -> Result<(), BoxError> {
    Ok(())
}

#[debug_node]
async fn any(_: Snapshot<Agent>, _: impl Sized) -> Result<(), BoxError> {
    Ok(())
}

fn main() {}
