//! The store does everything that a store of threads has to do.

hanok_testkit::checkpointer_conforms!(store::Maps::new());
