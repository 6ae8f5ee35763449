//! The store in SQLite does what every store does.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod in_a_file {
    use std::cell::Cell;

    use hanok_sqlite::Sqlite;
    use tempfile::TempDir;

    thread_local! {
        /// Goes with the test's thread.
        static FOLDER: TempDir = tempfile::tempdir().unwrap();
        static FILES: Cell<usize> = const { Cell::new(0) };
    }

    async fn store() -> Sqlite {
        let file = format!("{}.db", FILES.replace(FILES.get() + 1));
        let path = FOLDER.with(|folder| folder.path().join(file));
        Sqlite::open(path).await.unwrap()
    }

    hanok_testkit::checkpointer_conforms!(store().await);

    mod items {
        use super::store;

        hanok_testkit::store_conforms!(store().await);
    }
}

mod in_memory {
    use hanok_sqlite::Sqlite;

    hanok_testkit::checkpointer_conforms!(Sqlite::in_memory().await.unwrap());

    mod items {
        use super::Sqlite;

        hanok_testkit::store_conforms!(Sqlite::in_memory().await.unwrap());
    }
}
