//! The tests of what is stored, sent and hashed.

#[path = "../../../../crates/hanok-state/tests/it/dynamic.rs"]
mod dynamic;
#[path = "../../../../crates/hanok-state/tests/it/json.rs"]
mod json;
#[path = "../../../../crates/hanok-state/tests/it/messages.rs"]
mod messages;
#[path = "../../../../crates/hanok-state/tests/it/reduce.rs"]
mod reduce;
#[path = "../../../../crates/hanok-state/tests/it/schema.rs"]
mod schema;
#[path = "../../../../crates/hanok-state/tests/it/updates.rs"]
mod updates;
#[path = "../../../../crates/hanok-checkpoint/tests/it/folds.rs"]
mod folds;
#[path = "../../../../crates/hanok-checkpoint/tests/it/gaps.rs"]
mod gaps;
#[path = "../../../../crates/hanok-checkpoint/tests/it/lines.rs"]
mod lines;
#[path = "../../../../crates/hanok-checkpoint/tests/it/memory.rs"]
mod memory;
#[path = "../../../../crates/hanok-checkpoint/tests/it/memory_store.rs"]
mod memory_store;
#[path = "../../../../crates/hanok-checkpoint/tests/it/stored.rs"]
mod stored;
#[path = "../../../../crates/hanok-model/tests/it/clock/mod.rs"]
mod clock;
#[path = "../../../../crates/hanok-model/tests/it/injected.rs"]
mod injected;
#[path = "../../../../crates/hanok-model/tests/it/model.rs"]
mod model;
#[path = "../../../../crates/hanok-model/tests/it/semantic.rs"]
mod semantic;
