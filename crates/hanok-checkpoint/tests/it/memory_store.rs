//! The store across threads in memory does what every such store does.

use hanok_checkpoint::InMemoryStore;

hanok_testkit::store_conforms!(InMemoryStore::new());
