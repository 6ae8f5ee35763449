//! A file that is no store.

use std::fs;

use hanok::sqlite::Sqlite;

use crate::runtime_mistakes::Page;

#[tokio::test]
async fn a_file_that_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("threads")).unwrap();
    fs::write(at("notes.txt"), "Buy bread. ".repeat(200)).unwrap();
    let store = Sqlite::open(at("right.db")).await.unwrap();
    store.close().await.unwrap();

    let mut page = Page::default();
    for (mistake, name) in [
        ("a folder", "threads"),
        ("a folder that is not there", "missing/threads.db"),
        ("a text", "notes.txt"),
        ("an empty name", ""),
    ] {
        let error = Sqlite::open(match name {
            "" => std::path::PathBuf::new(),
            name => at(name),
        })
        .await
        .map(|_| ())
        .unwrap_err();
        page.tell(mistake, &error);
    }
    let told = page.0.replace(&folder.path().display().to_string(), "FOLDER");
    insta::assert_snapshot!(told, @r#"
    # a folder
    HNK-111 `FOLDER/threads` is not a readable store: it is a folder: unable to open database file: FOLDER/threads: Error code 14: unable to open database file
    # a folder that is not there
    HNK-111 `FOLDER/missing/threads.db` is not a readable store: its folder does not exist: unable to open database file: FOLDER/missing/threads.db: Error code 14: unable to open database file
    # a text
    HNK-111 `FOLDER/notes.txt` is not a readable store: file is not a database: Error code 26: file is not a database
    # an empty name
    HNK-111 `` is not a readable store: cannot make an empty path absolute
    "#);
}
