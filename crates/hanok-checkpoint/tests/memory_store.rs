//! The store across threads in memory does what every such store does.

use hanok_checkpoint::MemoryStore;

hanok_testkit::store_conforms!(MemoryStore::new());
