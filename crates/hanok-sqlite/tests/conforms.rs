//! The store in SQLite does what every store does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

#[macro_use]
#[path = "../../hanok-checkpoint/tests/conformance/mod.rs"]
mod conformance;

mod in_a_file {
    use std::cell::Cell;

    use futures::executor::block_on;
    use hanok_sqlite::Sqlite;
    use tempfile::TempDir;

    use crate::conformance;

    thread_local! {
        /// Goes with the test's thread.
        static FOLDER: TempDir = tempfile::tempdir().unwrap();
        static FILES: Cell<usize> = const { Cell::new(0) };
    }

    fn store() -> Sqlite {
        let file = format!("{}.db", FILES.replace(FILES.get() + 1));
        FOLDER.with(|folder| block_on(Sqlite::open(folder.path().join(file)))).unwrap()
    }

    conforms!(store());
}

mod in_memory {
    use futures::executor::block_on;
    use hanok_sqlite::Sqlite;

    use crate::conformance;

    conforms!(block_on(Sqlite::in_memory()).unwrap());
}
