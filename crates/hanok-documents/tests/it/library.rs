//! A folder as people leave it: links, junk, odd encodings, changes while it is open.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::{
    fs::{self, File, FileTimes},
    io,
    path::Path,
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use hanok_documents::{
    Deadline, FileReader, FileText, Library, LoadError, LoadOptions, SkipReason,
};
use hanok_retrieval::{Changes, Query, Retriever, SharedRetriever};

const RULE: &str = "# 인사규정\n\n## 제12조(연차휴가)\n1년 이상 근속자는 연 15일이다.\n";

fn open(folder: &Path) -> Library {
    Library::open(LoadOptions::new(), folder).unwrap()
}

fn skipped(library: &Library) -> Vec<(&str, &SkipReason)> {
    library.report().skipped.iter().map(|s| (s.path.as_str(), &s.reason)).collect()
}

fn sources(library: &Library) -> Vec<&str> {
    library.documents().map(|document| document.source.as_str()).collect()
}

/// Old enough for its time to be trusted.
fn age(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(3600);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_times(FileTimes::new().set_modified(then))
        .unwrap();
}

/// What is ready at once needs no runtime.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("not ready"),
    }
}

#[test]
fn reads_what_it_knows_in_order_and_reports_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("하위/더")).unwrap();
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".git/config.txt"), "비밀").unwrap();
    for (name, bytes) in [
        ("하위/더/c.md", RULE.as_bytes()),
        ("b.TXT", "휴가".as_bytes()),
        ("a.md", RULE.as_bytes()),
        // 규정 in NFD, as macOS stores names.
        ("\u{1100}\u{1172}\u{110c}\u{1165}\u{11bc}.md", RULE.as_bytes()),
        ("사진.jpg", b"\xFF\xD8"),
        ("이름만", b"x"),
        ("그림.txt", b"\x89PNG\0\0"),
        ("라틴.txt", b"caf\xE9 au lait"),
        ("빈.md", b" \n"),
        ("옛.hwp", b"x"),
    ] {
        fs::write(root.join(name), bytes).unwrap();
    }

    let library = open(root);

    assert_eq!(sources(&library), ["a.md", "b.TXT", "규정.md", "하위/더/c.md"]);
    assert_eq!(
        skipped(&library),
        [
            (".git", &SkipReason::Hidden),
            ("그림.txt", &SkipReason::Binary),
            ("라틴.txt", &SkipReason::Encoding),
            ("빈.md", &SkipReason::Empty),
            ("사진.jpg", &SkipReason::Unsupported),
            ("옛.hwp", &SkipReason::OldFormat { instead: ".hwpx" }),
            ("이름만", &SkipReason::Unsupported),
        ]
    );
}

#[test]
fn a_kind_of_document_without_a_reader_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.docx", "b.html", "c.hwpx", "d.PDF"] {
        fs::write(folder.path().join(name), "x").unwrap();
    }
    let library = open(folder.path());
    let shown: Vec<String> = library.report().skipped.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["docx", "html", "hwpx", "pdf"]
            .iter()
            .zip(["a.docx", "b.html", "c.hwpx", "d.PDF"])
            .map(|(kind, name)| format!("{name}: no reader of .{kind} files was added"))
            .collect::<Vec<_>>()
    );
}

/// Reads in capitals; panics at `!`, and never ends at `?`.
#[derive(Debug)]
struct Loud;

impl FileReader for Loud {
    fn extensions(&self) -> &[&str] {
        &["loud", "md"]
    }

    fn read(
        &self,
        bytes: Vec<u8>,
        _: &LoadOptions,
        deadline: Deadline,
    ) -> Result<FileText, SkipReason> {
        let text = String::from_utf8(bytes).map_err(|_cause| SkipReason::Encoding)?;
        assert!(!text.contains('!'), "no reader is perfect");
        while text.contains('?') {
            deadline.check()?;
        }
        Ok(FileText::new(text.to_uppercase()))
    }
}

#[test]
fn a_reader_reads_its_kinds_and_a_bad_one_costs_only_the_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("a.loud", "abc"), ("b.md", "def"), ("c.LOUD", "!"), ("e.txt", "ghi")] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let hour = std::time::Duration::from_hours(1);
    let options = LoadOptions::new().reader(Loud).max_decode_time(hour);
    let library = Library::open(options, folder.path()).unwrap();
    let texts: Vec<&str> = library.documents().map(|document| document.text.as_str()).collect();
    assert_eq!(texts, ["ABC", "DEF", "ghi"]);
    assert_eq!(skipped(&library), [("c.LOUD", &SkipReason::damaged("the decoder panicked"))]);
}

#[test]
fn a_reader_that_does_not_end_costs_only_its_time() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("d.loud"), "?").unwrap();
    let limit = std::time::Duration::from_millis(200);
    let options = LoadOptions::new().reader(Loud).max_decode_time(limit);
    let library = Library::open(options, folder.path()).unwrap();
    assert_eq!(skipped(&library), [("d.loud", &SkipReason::TooSlow { limit })]);
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere() {
    use std::os::unix::fs::symlink;

    let (outside, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("secret.txt"), "비밀").unwrap();
    symlink(outside.path().join("secret.txt"), folder.path().join("a.txt")).unwrap();
    symlink(outside.path(), folder.path().join("b")).unwrap();
    symlink(folder.path(), folder.path().join("loop")).unwrap();

    let library = open(folder.path());

    assert_eq!(library.report().documents, 0);
    let link = &SkipReason::Symlink;
    assert_eq!(skipped(&library), [("a.txt", link), ("b", link), ("loop", link)]);
}

#[cfg(target_os = "linux")]
#[test]
fn of_two_names_that_look_alike_one_is_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("가.md"), "휴가").unwrap();
    fs::write(folder.path().join("\u{1100}\u{1161}.md"), "출장").unwrap();
    let library = open(folder.path());
    assert_eq!(library.report().documents, 1);
    assert_eq!(skipped(&library), [("가.md", &SkipReason::SameName)]);
}

#[test]
fn a_wrong_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("없는 폴더");
    let error = Library::open(LoadOptions::new(), &missing).unwrap_err();
    assert!(matches!(&error, LoadError::NoFolder { path } if *path == missing), "{error:?}");
    assert!(error.to_string().contains("없는 폴더"));

    let file = folder.path().join("a.txt");
    fs::write(&file, "휴가").unwrap();
    let error = Library::open(LoadOptions::new(), &file).unwrap_err();
    assert!(matches!(&error, LoadError::Folder { path, .. } if *path == file), "{error:?}");
}

#[test]
fn every_limit_of_a_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("x/y")).unwrap();
    fs::write(root.join("x/y/deep.md"), RULE).unwrap();
    fs::write(root.join("a.md"), RULE).unwrap();
    fs::write(root.join("b.md"), RULE).unwrap();
    let (text, bytes) = (RULE.len(), u64::try_from(RULE.len()).unwrap());

    let error = Library::open(LoadOptions::new().max_files(4), root).unwrap_err();
    assert!(matches!(error, LoadError::TooManyFiles { limit: 4, .. }), "{error:?}");

    let budget = |limit| SkipReason::TextBudget { bytes: text, limit };
    let large = SkipReason::TooLarge { limit: bytes - 1 };
    for (options, want) in [
        (LoadOptions::new().max_depth(1), vec![("x/y", SkipReason::TooDeep { limit: 1 })]),
        (LoadOptions::new().max_text_bytes(2 * text), vec![("x/y/deep.md", budget(2 * text))]),
        (
            LoadOptions::new().max_file_bytes(bytes - 1),
            vec![("a.md", large.clone()), ("b.md", large.clone()), ("x/y/deep.md", large)],
        ),
    ] {
        let library = Library::open(options, root).unwrap();
        let got: Vec<_> = skipped(&library).into_iter().map(|(p, r)| (p, r.clone())).collect();
        assert_eq!(got, want);
    }
}

fn changes(of: [usize; 4]) -> impl Fn(&Changes) -> bool {
    move |c| [c.added, c.changed, c.removed, c.unchanged] == of
}

#[test]
fn a_refresh_sees_what_changed_and_leaves_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let (rule, other) = (folder.path().join("인사규정.md"), folder.path().join("다른.txt"));
    fs::write(&rule, RULE).unwrap();
    fs::write(&other, "출장 여비").unwrap();
    let mut library = open(folder.path());
    let before = library.index();
    assert!(changes([0, 0, 0, 2])(&library.refresh().unwrap()));
    assert!(std::sync::Arc::ptr_eq(&before, &library.index()));

    // One digit, the same size, within the grain of the file's time.
    fs::write(&rule, RULE.replace("15", "16")).unwrap();
    assert!(changes([0, 1, 0, 1])(&library.refresh().unwrap()));
    assert!(library.search("휴가 며칠", 1)[0].passage.text.contains("16일"));

    fs::remove_file(&other).unwrap();
    fs::write(folder.path().join("새.md"), "새 문서").unwrap();
    assert!(changes([1, 0, 1, 1])(&library.refresh().unwrap()));
    assert!(library.search("출장", 1).is_empty());

    fs::remove_dir_all(folder.path()).unwrap();
    assert!(library.refresh().is_err());
    assert_eq!(library.report().documents, 2);
    assert_eq!(library.search("휴가", 1).len(), 1);
}

#[test]
fn an_unchanged_file_is_not_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let rule = folder.path().join("인사규정.md");
    fs::write(&rule, RULE).unwrap();
    age(&rule);
    let mut library = open(folder.path());

    // Other bytes under the same size and time: only reading could tell, and it does not read.
    let stamp = fs::metadata(&rule).unwrap().modified().unwrap();
    fs::write(&rule, RULE.replace("15", "16")).unwrap();
    let file = File::options().write(true).open(&rule).unwrap();
    file.set_times(FileTimes::new().set_modified(stamp)).unwrap();
    drop(file);
    assert!(changes([0, 0, 0, 1])(&library.refresh().unwrap()));

    age(&rule);
    assert!(changes([0, 1, 0, 0])(&library.refresh().unwrap()));
}

#[test]
fn a_text_that_did_not_fit_comes_in_when_another_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.md"), folder.path().join("b.md"));
    fs::write(&a, RULE).unwrap();
    fs::write(&b, RULE).unwrap();
    let options = LoadOptions::new().max_text_bytes(RULE.len());
    let mut library = Library::open(options, folder.path()).unwrap();
    assert_eq!(sources(&library), ["a.md"]);

    fs::remove_file(&a).unwrap();
    assert!(changes([1, 0, 1, 0])(&library.refresh().unwrap()));
    fs::write(&a, RULE).unwrap();
    assert!(changes([1, 0, 1, 0])(&library.refresh().unwrap()));
    assert_eq!(sources(&library), ["a.md"]);
}

#[test]
fn one_handle_asks_any_store() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("인사규정.md"), RULE).unwrap();
    let library = open(folder.path());
    let index = SharedRetriever::new(library.index());
    let shared = SharedRetriever::new(library);
    let query = Query::new("휴가");
    assert_eq!(now(index.search(&query)).unwrap(), now(shared.search(&query)).unwrap());

    for (question, hits) in [
        ("휴가", 1),
        // NFD, as it is typed on macOS.
        ("\u{1112}\u{1172}\u{1100}\u{1161}", 1),
        ("점심 메뉴", 0),
        ("", 0),
        ("AND (휴가 OR \"~*", 1),
    ] {
        let found = now(shared.clone().search(&Query::new(question))).unwrap();
        assert_eq!(found.len(), hits, "{question}");
    }
    assert_eq!(now(shared.search(&Query::new("휴가").limit(0))).unwrap(), []);
}

#[test]
fn equal_scores_keep_the_order_of_the_sources() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["c.md", "a.md", "b.md"] {
        fs::write(folder.path().join(name), "휴가").unwrap();
    }
    let hits = open(folder.path()).search("휴가", 2);
    let order: Vec<_> = hits.iter().map(|hit| hit.passage.source.as_str()).collect();
    assert_eq!(order, ["a.md", "b.md"]);
}

#[test]
fn one_file_is_read_as_a_library_reads_it_or_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let options = LoadOptions::new().max_file_bytes(1_000);
    let text = at("a.md", "# 규정\n\n제1조(목적) 정한다.".as_bytes());
    let library = Library::open(options.clone(), folder.path()).unwrap();
    let opened = hanok_documents::open(&text, &options).unwrap();
    assert_eq!(Some(&opened), library.documents().next());

    let refused =
        |path: std::path::PathBuf| hanok_documents::open(path, &options).unwrap_err().reason;
    assert_eq!(refused(at("b.txt", b" \n")), SkipReason::Empty);
    assert_eq!(refused(at("c.txt", &[b'a'; 1_001])), SkipReason::TooLarge { limit: 1_000 });
    assert_eq!(refused(at("d.jpg", b"x")), SkipReason::Unsupported);
    assert_eq!(
        refused(folder.path().join("e.txt")),
        SkipReason::Unreadable { kind: io::ErrorKind::NotFound }
    );
    fs::create_dir(folder.path().join("f.md")).unwrap();
    assert_eq!(refused(folder.path().join("f.md")), SkipReason::NotAFile);
    assert_eq!(refused(std::path::PathBuf::from("/")), SkipReason::Unsupported);
}
