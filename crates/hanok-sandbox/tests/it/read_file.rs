//! Reading files: one folder, and nothing that is not a plain file in it.

#![cfg(all(feature = "files", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::{
    fs,
    io::Write,
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use hanok_core::Effect;
use hanok_model::{Tool, ToolError};
use hanok_sandbox::{FileError, ReadFile};
use hanok_state::Arguments;
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use crate::support::call;

/// Stands in every file that must not be read.
const SECRET: &str = "나라의 비밀";

/// A folder `in` beside which a secret lies.
fn folder() -> (TempDir, ReadFile) {
    let around = TempDir::new().unwrap();
    fs::create_dir_all(around.path().join("in/notes")).unwrap();
    fs::write(around.path().join("secret"), SECRET).unwrap();
    fs::write(around.path().join("in/hello.txt"), "안녕\n세상\n").unwrap();
    fs::write(around.path().join("in/notes/today.md"), "오늘").unwrap();
    let tool = ReadFile::in_folder(around.path().join("in")).unwrap();
    (around, tool)
}

async fn read(tool: &ReadFile, path: &str) -> Result<String, ToolError> {
    let arguments = Arguments::from_value(&json!({"path": path})).unwrap();
    Ok(tool.run(&arguments, &call()).await?.text)
}

/// What the model reads of a refusal.
async fn refusal(tool: &ReadFile, path: &str) -> String {
    read(tool, path).await.unwrap_err().report()
}

#[tokio::test]
async fn a_file_of_the_folder_is_read_in_pieces() {
    let (_around, tool) = folder();
    assert_eq!((tool.spec().name(), tool.effect()), ("read_file", Effect::Pure));
    assert_eq!(read(&tool, "hello.txt").await.unwrap(), "안녕\n세상\n");
    assert_eq!(read(&tool, "./notes//today.md").await.unwrap(), "오늘\n");
    for (arguments, want) in [
        (json!({"path": "hello.txt", "from_line": 2}), "세상\n"),
        (
            json!({"path": "hello.txt", "lines": 1}),
            "안녕\n[lines 1 to 1 of 2; go on with from_line 2]",
        ),
    ] {
        let arguments = Arguments::from_value(&arguments).unwrap();
        assert_eq!(tool.run(&arguments, &call()).await.unwrap().text, want);
    }
    let small = tool.clone().max_output(8);
    let cut = "안녕\n[lines 1 to 1 of 2; go on with from_line 2]";
    assert_eq!(read(&small, "hello.txt").await.unwrap(), cut);
    let tiny = tool.clone().max_output(4);
    let cut = "안…\n[line 1 of 2, cut; go on with from_line 2]";
    assert_eq!(read(&tiny, "hello.txt").await.unwrap(), cut);
}

#[tokio::test]
async fn what_is_not_there_is_said_with_what_is() {
    let (_around, tool) = folder();
    for (path, want) in [
        (
            "helo.txt",
            "the arguments do not fit the tool: there is no file `helo.txt`; did you mean `hello.txt`?",
        ),
        ("notes/zzzzzz", "the arguments do not fit the tool: there is no file `notes/zzzzzz`"),
        ("hello.txt/x", "the arguments do not fit the tool: there is no file `hello.txt/x`"),
        (".", "the arguments do not fit the tool: `.` is a folder; it holds `hello.txt`, `notes`"),
        ("notes/", "the arguments do not fit the tool: `notes/` is a folder; it holds `today.md`"),
    ] {
        assert!(refusal(&tool, path).await.starts_with(want), "{}", refusal(&tool, path).await);
    }
    let past = Arguments::from_value(&json!({"path": "hello.txt", "from_line": 9})).unwrap();
    assert_eq!(
        tool.run(&past, &call()).await.unwrap_err().report(),
        "the arguments do not fit the tool: `hello.txt` has 2 lines, and line 9 was asked for"
    );
    let nowhere = ReadFile::in_folder("/nowhere/at/all").unwrap_err();
    assert!(matches!(nowhere, FileError::Folder { .. }), "{nowhere:?}");
}

/// P36
#[tokio::test]
async fn no_path_leads_out() {
    let (around, tool) = folder();
    let absolute = around.path().join("secret").display().to_string();
    for path in [
        "../secret",
        "notes/../../secret",
        "./../secret",
        "..",
        "notes\\..\\..\\secret",
        "\\\\server\\share",
        "C:\\secret",
        "c:secret",
        "~/secret",
        "/etc/passwd",
        "//etc/passwd",
        &absolute,
        "hello.txt\0.md",
        "hello\n.txt",
        "\u{1b}[2J",
        &"a/".repeat(600),
    ] {
        let error = read(&tool, path).await.unwrap_err();
        assert!(matches!(error, ToolError::Refused { .. }), "{path:?}: {error:?}");
        assert!(!error.report().contains(char::is_control), "{path:?}");
    }
}

/// P36
#[tokio::test]
async fn links_are_not_followed_wherever_they_lead() {
    let (around, tool) = folder();
    let inside = around.path().join("in");
    for (name, to) in [
        ("out", "../secret"),
        ("absolute", "/etc/passwd"),
        ("within", "hello.txt"),
        ("dangling", "nowhere"),
        ("loop", "loop"),
        ("proc", "/proc/self/environ"),
    ] {
        symlink(to, inside.join(name)).unwrap();
        let want = format!("refused: `{name}` is a link, and links are not followed");
        assert_eq!(refusal(&tool, name).await, want);
    }
    for (name, to) in [("up", ".."), ("root", "/"), ("here", "notes")] {
        symlink(to, inside.join(name)).unwrap();
        for below in ["secret", "today.md", "etc/passwd"] {
            let said = refusal(&tool, &format!("{name}/{below}")).await;
            assert!(said.ends_with("is a link, and links are not followed"), "{said}");
        }
    }
}

/// P36: what is a file of outside by another name shows nothing of it.
#[tokio::test]
async fn a_file_with_another_name_is_refused() {
    let (around, tool) = folder();
    let inside = around.path().join("in");
    fs::hard_link(around.path().join("secret"), inside.join("hard")).unwrap();
    for path in ["hard", "./hard", "hard/"] {
        let want = format!(
            "refused: `{path}` is a hard link: the same file has another name, perhaps outside of the folder, and is not read"
        );
        assert_eq!(refusal(&tool, path).await, want);
    }
    // Its last name is its own again.
    fs::remove_file(around.path().join("secret")).unwrap();
    assert!(read(&tool, "hard").await.is_ok());
}

#[tokio::test]
async fn a_file_is_no_folder() {
    let (_around, tool) = folder();
    for path in ["hello.txt/", "hello.txt//", "hello.txt/.", "hello.txt\\", "notes/today.md/"] {
        let said = read(&tool, path).await.unwrap_err().report();
        let shown = path.escape_debug();
        let want =
            format!("`{shown}` is a file and not a folder: write it without what follows its name");
        assert!(said.contains(&want), "{said}");
    }
    assert!(read(&tool, "notes/").await.unwrap_err().report().contains("is a folder"));
}

/// P36
#[tokio::test]
async fn what_is_no_file_of_its_own_is_refused_and_blocks_nobody() {
    let (around, tool) = folder();
    let inside = around.path().join("in");
    let _listener = UnixListener::bind(inside.join("socket")).unwrap();
    assert!(Command::new("mkfifo").arg(inside.join("pipe")).status().unwrap().success());
    let kind =
        |name: &str, what: &str| format!("refused: `{name}` is {what}, not a file of its own");
    assert_eq!(refusal(&tool, "pipe").await, kind("pipe", "a pipe"));
    assert_eq!(refusal(&tool, "socket").await, kind("socket", "a socket"));

    let device = inside.join("zero");
    match Command::new("mknod").arg(&device).args(["c", "1", "5"]).output().unwrap().status {
        made if made.success() => {
            assert_eq!(refusal(&tool, "zero").await, kind("zero", "a device"));
        }
        _ => eprintln!("skipped: devices, which only root makes"),
    }
    if cfg!(target_os = "linux") {
        let dev = ReadFile::in_folder("/dev").unwrap();
        assert_eq!(refusal(&dev, "zero").await, kind("zero", "a device"));
        let proc = ReadFile::in_folder("/proc/self").unwrap();
        let made_up = "made up by the system when it is read";
        assert_eq!(refusal(&proc, "environ").await, kind("environ", made_up));
        let root = ReadFile::in_folder("/").unwrap();
        for path in ["proc/1/environ", "proc/self/environ", "sys/kernel/uevent_seqnum"] {
            assert!(read(&root, path).await.is_err(), "{path}");
        }
    }
}

/// P36
#[tokio::test]
async fn a_large_file_is_refused_however_it_came_to_be() {
    let (around, tool) = folder();
    let inside = around.path().join("in");
    let sparse = fs::File::create(inside.join("sparse")).unwrap();
    sparse.set_len(10 * 1024 * 1024 * 1024).unwrap();
    assert_eq!(
        refusal(&tool, "sparse").await,
        "`sparse` has 10737418240 bytes, more than the 4194304 that are read"
    );

    // One that grows while it is read is read up to the limit or not at all.
    let growing = tool.clone().max_file(100_000).max_output(200_000);
    let path = inside.join("growing");
    fs::write(&path, "").unwrap();
    let grown = AtomicBool::new(false);
    let mut lengths = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::File::options().append(true).open(&path).unwrap();
            while !grown.load(Ordering::SeqCst) {
                file.write_all(&[b'x'; 997]).unwrap();
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = std::thread::spawn(move || {
            runtime.unwrap().block_on(async {
                let mut seen = Vec::new();
                loop {
                    match read(&growing, "growing").await {
                        Ok(text) => seen.push(text.len()),
                        Err(error) => return (seen, error.report()),
                    }
                }
            })
        });
        let ended = runtime.join();
        grown.store(true, Ordering::SeqCst);
        let (seen, last) = ended.unwrap();
        assert!(last.contains("more than the 100000 that are read"), "{last}");
        lengths = seen;
    });
    assert!(lengths.iter().all(|length| *length <= 100_001), "{lengths:?}");
}

#[tokio::test]
async fn what_is_no_text_is_said_and_what_acts_is_written_out() {
    let (around, tool) = folder();
    let inside = around.path().join("in");
    for (bytes, want) in [
        (&b"ab\xff\xfe"[..], "`f` is no UTF-8 text: its byte 2 is not"),
        (b"ab\0", "`f` is no UTF-8 text: its byte 2 is not"),
        ("끊긴".as_bytes().split_last().unwrap().1, "`f` is no UTF-8 text: its byte 3 is not"),
    ] {
        fs::write(inside.join("f"), bytes).unwrap();
        assert_eq!(refusal(&tool, "f").await, want);
    }
    for (text, want) in [
        ("\u{feff}줄\r\n둘", "줄\n둘\n"),
        ("\u{1b}]0;x\u{7}", "\\u{1b}]0;x\\u{7}\n"),
        ("", "(the file is empty)"),
    ] {
        fs::write(inside.join("f"), text).unwrap();
        assert_eq!(read(&tool, "f").await.unwrap(), want);
    }
}

/// P36
#[tokio::test]
async fn a_name_that_changes_what_it_names_gives_nothing_away() {
    let (around, tool) = folder();
    let inside = around.path().join("in");
    let done = AtomicBool::new(false);
    let (file, link) = (inside.join("file"), inside.join("link"));
    let swap = |made: &dyn Fn(&Path), from: &Path| {
        made(from);
        fs::rename(from, inside.join("f")).unwrap();
    };
    let mut texts = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                swap(&|path| fs::write(path, "mine").unwrap(), &file);
                swap(&|path| symlink("../secret", path).unwrap(), &link);
                swap(&|path| fs::write(path, "mine").unwrap(), &file);
                swap(&|path| symlink("/proc/self/environ", path).unwrap(), &link);
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let tool = &tool;
        let reader = scope
            .spawn(move || {
                runtime.block_on(async {
                    let mut texts = 0;
                    for _ in 0..2_000 {
                        match read(tool, "f").await {
                            Ok(text) => {
                                assert_eq!(text, "mine\n");
                                texts += 1;
                            }
                            Err(error) => assert!(!error.report().contains(SECRET)),
                        }
                    }
                    texts
                })
            })
            .join();
        done.store(true, Ordering::SeqCst);
        texts = reader.unwrap();
    });
    assert!(texts > 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// P36
    #[test]
    fn no_made_up_path_reads_the_secret(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "..", ".", "in", "secret", "notes", "up", "out", "/", "//", "\\", "%2e%2e", "hello.txt", "\0",
                "proc", "self", "cwd", "~", "‥", "．．",
            ]),
            0..8,
        ),
        separator in prop::sample::select(vec!["/", "", "\\"]),
    ) {
        let (around, tool) = folder();
        symlink("..", around.path().join("in/up")).unwrap();
        symlink("../secret", around.path().join("in/out")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let said = match runtime.block_on(read(&tool, &parts.join(separator))) {
            Ok(text) => text,
            Err(error) => error.report(),
        };
        prop_assert!(!said.contains(SECRET), "{:?}", parts);
    }
}
