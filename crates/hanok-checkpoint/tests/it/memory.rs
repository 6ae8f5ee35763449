//! The store in memory does what every store does.

use hanok_checkpoint::InMemoryCheckpointer;

hanok_testkit::checkpointer_conforms!(InMemoryCheckpointer::new());
