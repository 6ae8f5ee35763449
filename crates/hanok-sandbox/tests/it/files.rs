//! Files behind one interface: in a folder, in a store and in the state, and the tools of them.

#![cfg(all(feature = "files", feature = "store", unix))]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    sync::{Arc, Mutex},
};

use hanok_checkpoint::{
    Batch, Batched, InMemoryCheckpointer, InMemoryStore, Namespaces, Page, Put, Search,
    SharedStore, Store, StoreError,
};
use hanok_core::{
    Ask, AskError, BoxError, BoxFuture, Call, Effect, ItemKey, Labels, Need, Request, RequestId,
    Stored, Tenant, ThreadKey, Timestamp,
};
use hanok_graph::{Context, Doubt, END, Graph, Outcome, START, Snapshot};
use hanok_model::{FromCall, Services, Tool, ToolError, ToolOutput};
use hanok_sandbox::{
    FileAccess, FileChange, FileDecision, FilePath, FileRequest, FileRule, FileRules, FileTools,
    FileWrite, Files, FolderFiles, SharedFiles, StateFiles, StoreFiles, TextEdit,
};
use hanok_state::{Map, State};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::call;

#[derive(State, Clone, Debug, Default)]
struct Desk {
    #[reduce(merge)]
    files: Map<String, String>,
    #[reduce(merge)]
    old_files: BTreeMap<String, String>,
    last: String,
}

fn in_state() -> StateFiles {
    StateFiles::new(
        |desk: &Desk| &desk.files,
        |change| match change {
            FileChange::Write { path, text } => Desk::update().insert_files(path, text),
            FileChange::Remove { path } => Desk::update().remove_files(path),
        },
    )
}

fn in_a_tree() -> StateFiles {
    StateFiles::new(
        |desk: &Desk| &desk.old_files,
        |change| match change {
            FileChange::Write { path, text } => Desk::update().insert_old_files(path, text),
            FileChange::Remove { path } => Desk::update().remove_old_files(path),
        },
    )
}

fn path(path: &str) -> FilePath {
    FilePath::new(path).unwrap()
}

/// Files, with the state in which they may be.
struct World {
    files: SharedFiles,
    desk: Desk,
    folder: Option<TempDir>,
}

impl World {
    fn each() -> [Self; 4] {
        let folder = TempDir::new().unwrap();
        let store = SharedStore::new(InMemoryStore::new());
        let labels = Labels::new(["files", "kim"]).unwrap();
        let world = |files, folder| Self { files, desk: Desk::default(), folder };
        [
            world(SharedFiles::new(FolderFiles::open(folder.path()).unwrap()), Some(folder)),
            world(SharedFiles::new(StoreFiles::new(store, labels)), None),
            world(SharedFiles::new(in_state()), None),
            world(SharedFiles::new(in_a_tree()), None),
        ]
    }

    fn call(&self) -> Call {
        call().provide(Arc::new(self.desk.clone()))
    }

    fn apply(&mut self, written: Result<FileWrite, ToolError>) -> Result<(), ToolError> {
        if let Some(write) = written?.update {
            let update = write.read(&self.desk, &[], &"tools".into()).unwrap();
            self.desk.reduce(vec![("tools".into(), update)]).unwrap();
        }
        Ok(())
    }

    async fn write(&mut self, name: &str, text: &str) {
        let written = self.files.write(&path(name), text.to_owned(), &self.call()).await;
        self.apply(written).unwrap();
    }

    async fn read(&self, name: &str) -> String {
        match self.files.read(&path(name), &self.call()).await {
            Ok(text) => text,
            Err(error) => error.report(),
        }
    }

    async fn list(&self) -> Vec<(String, u64)> {
        let files = self.files.list(&self.call()).await.unwrap();
        files.into_iter().map(|file| (file.path, file.size)).collect()
    }
}

#[tokio::test]
async fn files_are_written_read_edited_and_removed_wherever_they_are() {
    for mut world in World::each() {
        assert_eq!(world.list().await, []);
        world.write("b.md", "연차는 15일").await;
        world.write("notes/deep/a.md", "one").await;
        world.write("notes/deep/a.md", "one two").await;
        let want = [("b.md".to_owned(), 15), ("notes/deep/a.md".to_owned(), 7)];
        assert_eq!(world.list().await, want);

        let edit = |old: &str, new: &str| TextEdit { old: old.into(), new: new.into() };
        let a = path("notes/deep/a.md");
        let edited = world.files.edit(&a, &edit("two", "2"), &world.call()).await;
        world.apply(edited).unwrap();
        assert_eq!(world.read("notes/deep/a.md").await, "one 2");
        for (old, want) in [
            ("three", "the text to replace does not stand in `notes/deep/a.md`"),
            ("", "the text to replace does not stand in `notes/deep/a.md`"),
        ] {
            let error = world.files.edit(&a, &edit(old, ""), &world.call()).await.unwrap_err();
            assert!(error.report().ends_with(want), "{}", error.report());
        }
        world.write("b.md", "aXaXa").await;
        let twice = world.files.edit(&path("b.md"), &edit("X", ""), &world.call()).await;
        let want = "the text to replace stands 2 times, and has to stand once: give more of what is around it, in `b.md`";
        assert!(twice.unwrap_err().report().ends_with(want));
        assert_eq!(world.read("b.md").await, "aXaXa");

        let removed = world.files.remove(&a, &world.call()).await;
        world.apply(removed).unwrap();
        let again = world.files.remove(&a, &world.call()).await.unwrap_err();
        assert!(matches!(&again, ToolError::Arguments(_)), "{again:?}");
        assert_eq!(world.list().await, [("b.md".to_owned(), 5)]);
        assert!(world.read("c.md").await.contains("there is no file `c.md`"));
        let large = "x".repeat(1024 * 1024 + 1);
        let error = world.files.write(&path("b.md"), large, &world.call()).await.unwrap_err();
        assert!(error.report().contains("`b.md` would have 1048577 bytes"), "{}", error.report());
        assert_eq!(world.read("b.md").await, "aXaXa");
        drop(world.folder);
    }
}

#[tokio::test]
async fn what_is_outside_of_a_folder_is_neither_written_nor_removed() {
    let around = TempDir::new().unwrap();
    let inside = around.path().join("in");
    fs::create_dir(&inside).unwrap();
    fs::write(around.path().join("secret"), "secret").unwrap();
    symlink(around.path().join("secret"), inside.join("link")).unwrap();
    symlink(around.path(), inside.join("out")).unwrap();
    symlink(around.path().join("nowhere"), inside.join("dangling")).unwrap();
    fs::hard_link(around.path().join("secret"), inside.join("hard")).unwrap();
    fs::create_dir(inside.join("folder")).unwrap();
    let files = FolderFiles::open(&inside).unwrap();
    for name in ["link", "out/secret", "out/new", "dangling", "hard", "folder", "hard/x"] {
        let written = files.write(&path(name), "mine".into(), &call()).await;
        assert!(written.is_err(), "{name}");
        assert!(files.remove(&path(name), &call()).await.is_err(), "{name}");
        assert!(files.read(&path(name), &call()).await.is_err(), "{name}");
    }
    assert_eq!(fs::read_to_string(around.path().join("secret")).unwrap(), "secret");
    assert_eq!(names(around.path()), ["in", "secret"]);
    assert_eq!(names(&inside), ["dangling", "folder", "hard", "link", "out"]);
    assert_eq!(files.list(&call()).await.unwrap(), []);
    for out in ["../x", "/etc/x", "a/../../x", "~/x", "C:\\x", "a\0b", "..", ".", "x/"] {
        assert!(FilePath::new(out).is_err(), "{out:?}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_written_file_keeps_its_permissions_and_leaves_nothing_beside_it() {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("run.sh");
    fs::write(&script, "old").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    let files = FolderFiles::open(folder.path()).unwrap();
    let _ = files.write(&path("run.sh"), "new".into(), &call()).await.unwrap();
    assert_eq!(fs::read_to_string(&script).unwrap(), "new");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(names(folder.path()), ["run.sh"]);
}

/// A store in which somebody else writes after each read.
#[derive(Debug)]
struct Busy(InMemoryStore);

impl Store for Busy {
    async fn batch(&self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        let keys: Vec<_> = batch.reads.iter().map(|read| read.key.clone()).collect();
        let batched = self.0.batch(batch, now).await?;
        for key in keys {
            let put = Put::new(Stored::encode(&json!({"text": "theirs"})).unwrap());
            self.0.put(&key, put, now).await?;
        }
        Ok(batched)
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        self.0.search(search, now).await
    }

    async fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        self.0.namespaces(query, now).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.0.sweep(now, limit).await
    }
}

#[tokio::test]
async fn an_edit_of_a_file_that_somebody_else_changes_is_refused() {
    let labels = Labels::new(["files"]).unwrap();
    let store = SharedStore::new(Busy(InMemoryStore::new()));
    let files = StoreFiles::new(store.clone(), labels.clone());
    let _ = files.write(&path("a"), "mine".into(), &call()).await.unwrap();
    let edit = TextEdit { old: "mine".into(), new: "mine 2".into() };
    let error = files.edit(&path("a"), &edit, &call()).await.unwrap_err();
    assert!(error.report().contains("`a` was changed meanwhile: read it again"));
    let key = ItemKey::new(Tenant::default(), labels, "a").unwrap();
    let item = store.get(&key, Timestamp(0)).await.unwrap().unwrap();
    assert_eq!(item.value.decode::<Value>().unwrap(), json!({"text": "theirs"}));
}

#[tokio::test]
async fn a_state_holds_so_many_files_and_no_more() {
    let files = (0..1000).map(|n| (format!("f{n}"), String::new())).collect();
    let call = call().provide(Arc::new(Desk { files, ..Desk::default() }));
    let files = in_state().max_file(3);
    let error = files.write(&path("new"), "x".into(), &call).await.unwrap_err();
    assert_eq!(
        error.report(),
        "there are 1000 files, and no more are made: write one that is there"
    );
    assert!(files.write(&path("f7"), "abc".into(), &call).await.unwrap().update.is_some());
    let error = files.write(&path("f7"), "abcd".into(), &call).await.unwrap_err();
    assert!(
        error.report().ends_with("`f7` would have 4 bytes, more than the 3 that a file may have")
    );
}

#[derive(Debug)]
struct App {
    user: &'static str,
}

#[tokio::test]
async fn users_and_tenants_have_files_of_their_own_in_one_store() {
    let store = SharedStore::new(InMemoryStore::new());
    let files = StoreFiles::per_call(store.clone(), |call| {
        let app = Services::<App>::from_call(call)?;
        Labels::new(["files", app.user]).map_err(ToolError::failed)
    });
    let of = |user, tenant: &str| {
        call().provide(Arc::new(App { user })).tenant_of(Tenant::new(tenant).unwrap())
    };
    let (kim, lee, kim_there) = (of("kim", "one"), of("lee", "one"), of("kim", "two"));
    let _ = files.write(&path("a"), "kim's".into(), &kim).await.unwrap();
    assert_eq!(files.read(&path("a"), &kim).await.unwrap(), "kim's");
    for other in [&lee, &kim_there] {
        assert!(files.read(&path("a"), other).await.is_err());
        assert_eq!(files.list(other).await.unwrap(), []);
    }
    assert!(matches!(files.list(&call()).await, Err(ToolError::NotProvided { .. })));
    // A namespace below is another one.
    let below = StoreFiles::new(store, Labels::new(["files", "kim", "old"]).unwrap());
    let _ = below.write(&path("b"), "older".into(), &kim).await.unwrap();
    let listed = files.list(&kim).await.unwrap();
    assert_eq!(listed.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a"]);
}

/// Answers each question with what it has, and keeps the questions.
#[derive(Clone, Default)]
struct Person {
    answers: Arc<Mutex<Vec<FileDecision>>>,
    questions: Arc<Mutex<Vec<FileRequest>>>,
}

impl Ask for Person {
    fn ask(&self, request: Request) -> BoxFuture<'_, Result<Stored, AskError>> {
        self.questions.lock().unwrap().push(request.payload.decode().unwrap());
        let answer = self.answers.lock().unwrap().pop();
        Box::pin(async move {
            match answer {
                Some(answer) => {
                    let answer = Stored::encode(&answer).unwrap();
                    request.check.unwrap().read(&answer).unwrap();
                    Ok(answer)
                }
                None => Err(AskError::Waiting(RequestId("q".into()))),
            }
        })
    }
}

async fn run(tool: &impl Tool, arguments: Value, call: &Call) -> Result<ToolOutput, ToolError> {
    tool.run(&arguments.into(), call).await
}

#[tokio::test]
async fn rules_allow_deny_and_ask_before_anything_is_done() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.key"), "secret").unwrap();
    fs::write(folder.path().join("plan.md"), "old").unwrap();
    let rules = FileRules::new().deny("**/*.key").unwrap().allow("drafts/**").unwrap();
    let rules = rules.rule(FileAccess::Write, "fixed.md", FileRule::Deny).unwrap();
    let tools = FileTools::new(FolderFiles::open(folder.path()).unwrap()).rules(rules);
    let (ls, read, write, edit) =
        (tools.ls().unwrap(), tools.read().unwrap(), tools.write().unwrap(), tools.edit().unwrap());
    let person = Person::default();
    let call = call().ask(Arc::new(person.clone()));

    let text = |path: &str, text: &str| json!({"path": path, "text": text});
    let written = run(&write, text("drafts/a.md", "hi"), &call).await.unwrap();
    assert_eq!(written.text, "`drafts/a.md` is written: 2 bytes");
    let _ = run(&write, text("drafts/.x/b.md", "hi"), &call).await.unwrap();
    for (folder, want) in [
        ("drafts/.x/", "drafts/.x/b.md (2 bytes)\n"),
        ("./drafts", "drafts/.x/b.md (2 bytes)\ndrafts/a.md (2 bytes)\n"),
        ("draft", "(there are no files)"),
    ] {
        assert_eq!(run(&ls, json!({"folder": folder}), &call).await.unwrap().text, want);
    }
    fs::remove_dir_all(folder.path().join("drafts/.x")).unwrap();
    for (tool, arguments, want) in [
        (&read, json!({"path": "a.key"}), "refused: a rule forbids to read `a.key`"),
        (&read, json!({"path": "./A.KEY"}), "refused: a rule forbids to read `A.KEY`"),
        (&write, text("x/b.Key", ""), "refused: a rule forbids to write `x/b.Key`"),
        (&write, text("fixed.md", ""), "refused: a rule forbids to write `fixed.md`"),
        (
            &edit,
            json!({"path": "a.key", "old": "secret", "new": ""}),
            "refused: a rule forbids to edit `a.key`",
        ),
    ] {
        assert_eq!(run(tool, arguments, &call).await.unwrap_err().report(), want);
    }
    assert_eq!(
        run(&ls, json!({}), &call).await.unwrap().text,
        "drafts/a.md (2 bytes)\nplan.md (3 bytes)\n"
    );
    assert_eq!(
        run(&ls, json!({"folder": "drafts"}), &call).await.unwrap().text,
        "drafts/a.md (2 bytes)\n"
    );
    assert_eq!(run(&read, json!({"path": "plan.md"}), &call).await.unwrap().text, "old\n");
    assert_eq!(person.questions.lock().unwrap().len(), 0);

    // Nobody has answered yet.
    let replace = json!({"path": "plan.md", "old": "old", "new": "new"});
    let waiting = run(&edit, replace.clone(), &call).await.unwrap_err();
    assert!(matches!(waiting, ToolError::Waiting(AskError::Waiting(_))), "{waiting:?}");
    let reject = |message: Option<&str>| FileDecision::Reject { message: message.map(Into::into) };
    for (answer, want) in [
        (reject(None), "refused: a person rejected it"),
        (reject(Some("Not this one.")), "refused: a person rejected it. Not this one."),
    ] {
        person.answers.lock().unwrap().push(answer);
        let error = run(&edit, replace.clone(), &call).await.unwrap_err();
        assert_eq!(error.report(), want);
    }
    assert_eq!(fs::read_to_string(folder.path().join("plan.md")).unwrap(), "old");
    person.answers.lock().unwrap().push(FileDecision::Approve);
    assert_eq!(run(&edit, replace, &call).await.unwrap().text, "`plan.md` is edited");
    assert_eq!(fs::read_to_string(folder.path().join("plan.md")).unwrap(), "new");

    let questions = person.questions.lock().unwrap().clone();
    let [first, .., last] = questions.as_slice() else { panic!("{questions:?}") };
    // The same question each time, or its answer would not be found.
    assert_eq!(first, last);
    assert_eq!((first.tool.as_str(), first.path.as_str()), ("edit", "plan.md"));
    assert_eq!(first.edit, Some(TextEdit { old: "old".into(), new: "new".into() }));
    assert_eq!(first.call, call.key().to_string());
}

#[tokio::test]
async fn no_error_names_what_may_not_be_read() {
    for mut world in World::each() {
        for name in ["d/plan.key", "d/plan.md", "secrets/plan"] {
            world.write(name, "text").await;
        }
        let rules = FileRules::new().deny("**/*.key").unwrap().deny("secrets/**").unwrap();
        let rules = rules.allow("**").unwrap();
        let tools = FileTools::new(world.files.clone()).rules(rules);
        let call = world.call();
        let (read, write) = (tools.read().unwrap(), tools.write().unwrap());
        for wrong in ["d/plan.mdx", "d/plan.ke", "d", "secret/plan", "secret", "."] {
            let text = json!({"path": wrong});
            let error = run(&read, text, &call).await.unwrap_err().report();
            assert!(!error.contains("plan.key") && !error.contains("secrets"), "{error}");
            assert!(wrong != "d/plan.mdx" || error.ends_with("plan.md`?"), "{error}");
        }
        let text = json!({"path": "d", "text": ""});
        if let Err(error) = run(&write, text, &call).await {
            assert!(error.report().ends_with("`d` is a folder; it holds `plan.md`"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let tools = FileTools::new(FolderFiles::open(folder.path()).unwrap());
    let write = tools.write().unwrap();
    let error = run(&write, json!({"path": "a", "text": "b"}), &call()).await.unwrap_err();
    assert_eq!(
        error.report(),
        "refused: a person has to approve the `write` of `a`, and nobody can be asked here: the call was made outside a graph"
    );
    assert_eq!(names(folder.path()), Vec::<String>::new());
    let none = run(&tools.ls().unwrap(), json!({}), &call()).await.unwrap();
    assert_eq!(none.text, "(there are no files)");
}

#[tokio::test]
async fn tools_say_what_they_do_to_the_world_and_what_they_need() {
    let folder = TempDir::new().unwrap();
    let in_folder = FileTools::new(FolderFiles::open(folder.path()).unwrap());
    let in_state = FileTools::new(in_state());
    let effects = |tools: &FileTools| {
        let tools = [tools.ls(), tools.read(), tools.write(), tools.edit()];
        tools.map(|tool| tool.unwrap().effect())
    };
    use Effect::{AtMostOnce, Idempotent, Pure};
    assert_eq!(effects(&in_folder), [Pure, Pure, Idempotent, AtMostOnce]);
    assert_eq!(effects(&in_state), [Pure; 4]);
    assert_eq!(in_state.write().unwrap().needs(), [Need::of::<Desk>()]);
    assert_eq!(in_folder.write().unwrap().needs(), []);
    let all = in_state.all().unwrap();
    let names: Vec<_> = all.iter().map(|tool| tool.spec().name().to_owned()).collect();
    assert_eq!(names, ["ls", "read", "write", "edit"]);
}

/// The tools of a run, and what it calls.
struct Run {
    tools: FileTools,
}

async fn edit(_: Snapshot<Desk>, context: Context<Run>) -> Result<DeskUpdate, BoxError> {
    let tool = context.services().tools.edit()?;
    let arguments = json!({"path": "a", "old": "b", "new": "bb"}).to_string();
    let made = context
        .once("edit", &arguments, Doubt::Ask, async |call| {
            tool.run(&arguments.as_str().into(), &call).await.map(|output| output.text)
        })
        .await;
    Ok(match made {
        Ok(text) => Desk::update().last(text),
        Err(error) if error.to_string().contains("rejected") => Desk::update().last("rejected"),
        Err(error) => return Err(error.into()),
    })
}

#[tokio::test]
async fn a_run_stops_for_a_person_and_the_edit_is_made_once() {
    let graph = Graph::builder("desk").node("edit", edit).edge(START, "edit").edge("edit", END);
    let app = graph.build().unwrap().checkpointer(InMemoryCheckpointer::new());
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a"), "b").unwrap();
    let services = || Run { tools: FileTools::new(FolderFiles::open(folder.path()).unwrap()) };
    let thread = app.thread(ThreadKey::new(Tenant::default(), "t").unwrap());
    let outcome = thread.invoke(Desk::update(), services()).await.unwrap();
    let Outcome::Interrupted(questions) = outcome else { panic!("it asks") };
    let [question] = questions.as_slice() else { panic!("one question") };
    let request: FileRequest = question.payload().unwrap();
    assert_eq!((request.tool.as_str(), request.path.as_str()), ("edit", "a"));
    assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "b");

    let outcome = thread.answer(question.id.clone(), &FileDecision::Approve, services()).await;
    assert_eq!(outcome.unwrap().done().unwrap().last, "`a` is edited");
    assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "bb");
}
