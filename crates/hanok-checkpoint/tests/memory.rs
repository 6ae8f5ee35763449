//! The store in memory does what every store does.

use hanok_checkpoint::Memory;

hanok_testkit::checkpointer_conforms!(Memory::new());
