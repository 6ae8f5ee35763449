//! Python in its jail, with programs that want out. Where no jail can be made the tests say so.

#![cfg(all(feature = "python", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Command,
    time::{Duration, SystemTime},
};

use hanok_core::{Cancellation, Effect, Timestamp};
use hanok_model::{Tool, ToolError, ToolOutput};
use hanok_sandbox::{JailError, PythonRepl, PythonReplBuilder};
use hanok_state::Arguments;
use serde_json::json;

use crate::support::call;

/// Why there is no jail here, found out without the tool: a tool that does not work is no reason to skip its tests.
fn missing() -> Option<String> {
    for program in ["/usr/bin/bwrap", "/usr/bin/python3", "/usr/bin/prlimit", "/usr/bin/setpriv"] {
        if !Path::new(program).exists() {
            return Some(format!("{program} is not there"));
        }
    }
    // Root's jail is another user's, anyone else's is their own.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let bwrap = ["/usr/bin/bwrap", "--unshare-user", "--unshare-pid", "--unshare-net"];
    let trivial = ["--disable-userns", "--ro-bind", "/", "/", "/usr/bin/true"];
    let words = [if is_root { &nobody[..] } else { &[] }, &bwrap, &trivial].concat();
    let (program, arguments) = words.split_first().unwrap();
    let tried = Command::new(program).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
    (!tried.status.success()).then_some(said)
}

/// A tool with short limits, or `None` where there is no jail.
fn python(change: impl FnOnce(PythonReplBuilder) -> PythonReplBuilder) -> Option<PythonRepl> {
    if let Some(why) = missing() {
        eprintln!("skipped: there is no jail for Python here: {why}");
        return None;
    }
    let builder = PythonRepl::builder().time(Duration::from_secs(60)).memory(256 * 1024 * 1024);
    Some(change(builder).build().unwrap())
}

async fn run(tool: &PythonRepl, code: &str) -> Result<ToolOutput, ToolError> {
    tool.run(&Arguments::from_value(&json!({"code": code})).unwrap(), &call()).await
}

async fn text(tool: &PythonRepl, code: &str) -> String {
    match run(tool, code).await {
        Ok(output) => output.text,
        Err(error) => error.report(),
    }
}

/// Whether a process of this machine has `mark` among its arguments.
fn runs(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).split('\0').any(|argument| argument == mark)
    })
}

/// Waits until no process is marked `mark`; one that stays is waited for until the test is ended.
fn is_gone(mark: &str) {
    while runs(mark) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test]
async fn a_program_is_run_and_what_it_says_is_read() {
    let Some(python) = python(|builder| builder) else { return };
    assert_eq!((python.spec().name(), python.effect()), ("python_repl", Effect::Pure));
    python.check(&call()).await.unwrap();
    for (code, want) in [
        ("print('안녕', 6 * 7)", "안녕 42"),
        ("x = 20\nx * 2 + 2", "42"),
        ("x = 1", "(the program printed nothing)"),
        ("import sys; print('a'); print('b', file=sys.stderr); print('c')", "a\nb\nc"),
        ("def f(n):\n    return n if n < 2 else f(n-1) + f(n-2)\nf(20)", "6765"),
        (
            "x",
            "Traceback (most recent call last):\n  File \"<program>\", line 1, in <module>\n    x\nNameError: name 'x' is not defined\n[exit code 1]",
        ),
        ("import sys; sys.exit(3)", "\n[exit code 3]"),
        ("input()", "EOFError: EOF when reading a line\n[exit code 1]"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\x1b[2J'); None", "\u{fffd}\\u{1b}[2J"),
        ("", "(the program printed nothing)"),
    ] {
        let seen = text(&python, code).await;
        assert!(seen == want || seen.ends_with(&format!("\n{want}")), "{code:?}: {seen}");
    }
    let wrong = text(&python, "print(").await;
    assert!(wrong.contains("SyntaxError"), "{wrong}");
    let failed = run(&python, "1 / 0").await.unwrap();
    assert_eq!(failed.data.unwrap().0, json!({"exit_code": 1}));
    let long = text(&python, &"#".repeat(100_000)).await;
    assert!(long.ends_with("the program has 100000 bytes, more than 65536"), "{long}");
}

/// P37
#[tokio::test]
async fn nothing_of_the_host_is_there() {
    let Some(python) = python(|builder| builder) else { return };
    let planted = tempfile::NamedTempFile::new().unwrap();
    fs::write(planted.path(), "geheim").unwrap();
    // Whatever runs this test has set it.
    let own = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let planted = planted.path().display();
    for path in [
        "/etc/passwd",
        "/etc/shadow",
        "/root",
        "/home",
        "/proc/1/environ",
        "/proc",
        "/sys",
        "/run",
        &own,
    ] {
        let code = format!("import os\nprint(os.path.lexists({path:?}))");
        assert_eq!(text(&python, &code).await, "False", "{path}");
    }
    let code = format!("import os\nprint(os.path.exists('{planted}'), os.listdir('/tmp'))");
    assert_eq!(text(&python, &code).await, "False []");
    let seen = text(&python, "import os\nprint(sorted(os.environ), os.getuid())").await;
    assert!(seen.starts_with("['HOME', 'LANG'"), "{seen}");
    let seen = text(&python, "import os\nprint(dict(os.environ), os.uname())").await;
    assert!(!seen.contains(&own) && seen.contains("nodename='jail'"), "{seen}");
    // What the host has open, and does not keep to itself, is not.
    let left_open = fs::File::open("/proc/self/environ").unwrap();
    rustix::io::fcntl_setfd(&left_open, rustix::io::FdFlags::empty()).unwrap();
    let code = "import os\ndef is_open(fd):\n    try:\n        os.fstat(fd)\n        return True\n    except OSError:\n        return False\n[fd for fd in range(3, 1000) if is_open(fd)]";
    assert_eq!(text(&python, code).await, "[]");
    drop(left_open);
    // Nothing is left for the next one.
    assert_eq!(text(&python, "open('/tmp/left', 'w').write('x')").await, "1");
    assert_eq!(text(&python, "import os\nos.path.exists('/tmp/left')").await, "False");
}

/// P37
#[tokio::test]
async fn there_is_no_network_and_no_way_to_the_kernels_back_doors() {
    let Some(python) = python(|builder| builder) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let code = format!("import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)");
    let seen = text(&python, &code).await;
    assert!(seen.contains("PermissionError"), "{seen}");
    assert!(listener.accept().is_err());
    let seen = text(&python, "import socket\nsocket.getaddrinfo('example.com', 80)").await;
    assert!(seen.contains("gaierror"), "{seen}");
    for (what, attempt) in [
        ("sockets of the machine", "import socket; socket.socket(40, socket.SOCK_STREAM)"),
        ("sockets of the kernel", "import socket; socket.socket(16, socket.SOCK_RAW)"),
        ("memory that is not counted", "import os; os.memfd_create('x')"),
        ("shared memory", "refuse(libc.shmget(0, 4096, 0o1600))"),
        ("user namespaces", "refuse(libc.unshare(0x10000000))"),
        (
            "user namespaces with a process",
            "refuse(libc.syscall({'x86_64': 56, 'aarch64': 220}[os.uname().machine], 0x10000011, 0, 0, 0, 0))",
        ),
        ("mounts", "refuse(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))"),
        ("tracing", "refuse(libc.ptrace(0, 0, 0, 0))"),
        ("another root", "import os; os.chroot('/tmp')"),
        ("more rights", "import os; os.setuid(0)"),
        (
            "more processes",
            "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))",
        ),
        ("device nodes", "import os; os.mknod('/tmp/sda', 0o60666, 0x800)"),
    ] {
        let code = format!(
            "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\ndef refuse(result):\n    if result < 0: raise OSError(ctypes.get_errno(), 'refused')\n{attempt}\nprint('got it')"
        );
        let seen = text(&python, &code).await;
        let refused = seen.contains("Error") && !seen.contains("got it");
        assert!(refused, "{what}: {seen}");
    }
}

/// P37
#[tokio::test]
async fn each_limit_ends_what_passes_it() {
    let Some(python) = python(|builder| {
        builder.time(Duration::from_secs(100)).cpu(Duration::from_secs(2)).scratch(1024 * 1024)
    }) else {
        return;
    };
    python.check(&call()).await.unwrap();
    for (what, code, want) in [
        ("CPU", "while True: pass", "[killed, by a limit of memory or CPU time]"),
        ("memory", "bytearray(10**10)", "MemoryError"),
        ("memory in pieces", "x = []\nwhile True: x.append(bytearray(10**6))", "MemoryError"),
        ("a file", "f = open('/tmp/x', 'wb')\nwhile True: f.write(b'x' * 100000)", "Error"),
        (
            "files",
            "import itertools\nfor i in itertools.count(): open(f'/tmp/{i}', 'wb').write(b'x' * 100000)",
            "No space left on device",
        ),
        ("the other places", "open('/dev/shm/x', 'wb')", "Read-only file system"),
        (
            "output",
            "while True: print('x' * 1000)",
            "the program was stopped because it wrote more than 16777216 bytes",
        ),
        (
            "errors",
            "import sys\nwhile True: sys.stderr.write('x' * 1000)",
            "the program was stopped because it wrote more than 16777216 bytes",
        ),
        ("nesting", "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()", "["),
        ("open files", "x = [open('/dev/null') for _ in range(999)]", "Too many open files"),
    ] {
        let seen = text(&python, code).await;
        assert!(seen.contains(want) && seen.len() < 40_000, "{what}: {seen}");
    }
    let long = text(&python, "print('ㄱ' * 5000 + 'ㄴ' * 100000 + 'ㄷ' * 5000)").await;
    assert!(long.starts_with("ㄱㄱ") && long.ends_with("ㄷㄷ") && long.len() < 20_000);
    assert!(long.contains(" bytes left out …]\n"));
}

/// P37
#[tokio::test]
async fn a_program_that_waits_is_stopped() {
    let Some(python) = python(|builder| builder.time(Duration::from_secs(2))) else { return };
    python.check(&call()).await.unwrap();
    let deaf = "import signal, time\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\ntime.sleep(99)";
    for code in ["import time\ntime.sleep(99)", deaf] {
        let want = "the program was stopped after 2s; it had written nothing";
        assert_eq!(text(&python, code).await, want);
    }
}

/// P37
#[tokio::test]
async fn a_fork_bomb_is_bounded_and_leaves_nothing() {
    let Some(python) = python(|builder| builder.time(Duration::from_secs(4))) else { return };
    let mark = "31337.71";
    let bomb = format!(
        "import os, time\nn = 0\ntry:\n    while True:\n        if os.fork() == 0:\n            os.execv('/bin/sleep', ['sleep', '{mark}'])\n        n += 1\nexcept OSError:\n    print('stopped below', 17 if n < 17 else n)\n"
    );
    assert_eq!(text(&python, &bomb).await, "stopped below 17");
    is_gone(mark);

    let wild =
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n";
    let error = run(&python, wild).await;
    assert!(!matches!(&error, Ok(output) if output.text.contains("printed nothing")), "{error:?}");
    assert_eq!(text(&python, "6 * 7").await, "42");
}

/// P37
#[tokio::test]
async fn what_a_program_starts_ends_with_it() {
    let Some(python) = python(|builder| builder) else { return };
    let mark = "31337.72";
    let code = format!(
        "import subprocess\nsubprocess.Popen(['/bin/sleep', '{mark}'], start_new_session=True)\nprint('gone')"
    );
    assert_eq!(text(&python, &code).await, "gone");
    is_gone(mark);
}

/// P37
#[tokio::test]
async fn signals_stay_in_the_jail() {
    let Some(python) = python(|builder| builder) else { return };
    for (code, want) in [
        ("import os\nos.kill(1, 9)\nprint('still here')", "still here"),
        ("import os\nos.kill(-1, 9)", "ProcessLookupError"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "[ended by signal 11]"),
    ] {
        let seen = text(&python, code).await;
        assert!(seen.contains(want), "{code}: {seen}");
    }
}

/// P37
#[tokio::test]
async fn a_call_that_is_stopped_dropped_or_late_leaves_nothing() {
    let Some(python) = python(|builder| builder) else { return };
    python.check(&call()).await.unwrap();
    let sleep = |mark: &str| {
        let code = format!("import subprocess\nsubprocess.run(['/bin/sleep', '{mark}'])");
        Arguments::from_value(&json!({"code": code})).unwrap()
    };
    let stop = Cancellation::default();
    let arguments = sleep("31337.73");
    let stopped = call().cancellation(stop.clone());
    let (ended, ()) = futures::future::join(python.run(&arguments, &stopped), async {
        while !runs("31337.73") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stop.cancel();
    })
    .await;
    assert!(matches!(ended, Err(ToolError::Cancelled)), "{ended:?}");
    is_gone("31337.73");

    let arguments = sleep("31337.74");
    let call = call();
    let late = tokio::time::timeout(Duration::from_secs(3), python.run(&arguments, &call)).await;
    assert!(late.is_err());
    is_gone("31337.74");

    let soon = Timestamp::from(SystemTime::now()).plus(Duration::from_secs(1));
    let late = python.run(&sleep("31337.75"), &call.deadline(soon)).await.unwrap_err().report();
    assert!(late.starts_with("the program was stopped after"), "{late}");
    is_gone("31337.75");
}

/// P37
#[tokio::test]
async fn without_a_jail_that_holds_nothing_is_run() {
    let folder = tempfile::tempdir().unwrap();
    // As others see it who are not root.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let ran = folder.path().join("ran");
    let code = format!("open({:?}, 'w')", ran.display().to_string());
    let refused = async |python: PythonRepl| {
        let error = run(&python, &code).await.unwrap_err();
        assert!(matches!(error, ToolError::Refused { .. }), "{error:?}");
        assert!(!ran.exists());
        error.report()
    };
    let builder = PythonRepl::builder;
    let seen = refused(builder().bubblewrap("/nowhere/bwrap").build().unwrap()).await;
    let missing = "refused: Python runs in a jail only, and `/nowhere/bwrap` is not there; install bubblewrap (Debian: `apt-get install bubblewrap`)";
    assert_eq!(seen, missing);
    let seen = refused(builder().bubblewrap("/bin/false").build().unwrap()).await;
    assert!(seen.contains("none can be made here (exit code 1"), "{seen}");
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("skipped: a jail that does not hold, without Python");
        return;
    }
    // One that only looks like a jail.
    let open = folder.path().join("open");
    fs::write(&open, "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n")
        .unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    let seen = refused(builder().bubblewrap(&open).build().unwrap()).await;
    assert!(seen.contains("files of the system are there"), "{seen}");
    assert!(seen.contains("sockets can be made"), "{seen}");
    let cgroup = builder().cgroup("/nowhere/at/all").build().unwrap();
    let error = cgroup.check(&call()).await.unwrap_err();
    let expected =
        !Path::new("/usr/bin/bwrap").exists() || matches!(error, JailError::Cgroup { .. });
    assert!(expected, "{error:?}");
}

/// P37
#[tokio::test]
async fn a_control_group_bounds_all_of_a_program() {
    let parent = format!("/sys/fs/cgroup/pids/hanok-test-{}", std::process::id());
    if missing().is_some() || fs::create_dir(&parent).is_err() {
        eprintln!("skipped: no jail, or no control groups of version 1 that may be written to");
        return;
    }
    let python = python(|builder| builder.cgroup(&parent).processes(12)).unwrap();
    python.check(&call()).await.unwrap();
    let code = "import time\ntime.sleep(2)\nprint('seen')";
    let (seen, members) = futures::future::join(text(&python, code), async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let groups = fs::read_dir(&parent).unwrap().flatten();
            let group = groups.map(|entry| entry.path()).find(|path| path.is_dir());
            let Some(group) = group else { continue };
            let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            if members.lines().count() >= 3 {
                return fs::read_to_string(group.join("pids.max")).unwrap();
            }
        }
    })
    .await;
    assert_eq!((seen.as_str(), members.trim()), ("seen", "16"));
    // It is removed with the program, so that the one above can be.
    fs::remove_dir(&parent).unwrap();
}
