//! The tests of hanok-sqlite that know what differs between versions of SQLite.

#[path = "../../../../crates/hanok-sqlite/tests/it/closing.rs"]
mod closing;
#[path = "../../../../crates/hanok-sqlite/tests/it/conforms.rs"]
mod conforms;
#[path = "../../../../crates/hanok-sqlite/tests/it/damage.rs"]
mod damage;
#[path = "../../../../crates/hanok-sqlite/tests/it/files.rs"]
mod files;
#[path = "../../../../crates/hanok-sqlite/tests/it/items.rs"]
mod items;
#[path = "../../../../crates/hanok-sqlite/tests/it/read_only.rs"]
mod read_only;
