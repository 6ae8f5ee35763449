//! The rules on small invented crates.

use super::*;

const PLAN: &[Rooms] = &[Rooms { package: "hanok-a", rooms: &["thread", "run", "node"] }];

/// The crate `hanok-a` of these files, each a path in its `src` and a text.
fn house(files: &[(&str, &str)]) -> House {
    let path = |file: &str| format!("crates/hanok-a/src/{file}");
    House::new(files.iter().map(|(file, text)| read(&path(file), text)).collect())
}

/// The findings, without the path of the crate.
fn findings(files: &[(&str, &str)], plan: &[Rooms]) -> Vec<String> {
    let findings = house(files).findings(plan);
    let text = |finding: &Finding| finding.fault.to_string().replace("crates/hanok-a/src/", "");
    findings.iter().map(text).collect()
}

/// The arrows as `a.rs:1 -> b.rs: Name`.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let house = house(files);
    let [of] = house.crates.as_slice() else { return Vec::new() };
    let arrow = |arrow: &modules::Arrow| {
        let (from, to) = (of.path_in_src(arrow.from), of.path_in_src(arrow.to));
        format!("{from}:{} -> {to}: {}", arrow.line, arrow.name)
    };
    of.arrows.iter().map(arrow).collect()
}

const ROOT: (&str, &str) =
    ("lib.rs", "mod a;\nmod b;\npub use b::c::Deep;\npub(crate) use b::Flat as Renamed;\n");
const B: (&str, &str) = ("b.rs", "pub(crate) mod c;\npub(crate) struct Flat;\nimpl Flat {}\n");
const C: (&str, &str) = ("b/c.rs", "pub struct Deep;\npub(super) fn f() {}\n");

#[test]
fn an_arrow_goes_to_the_file_that_defines_a_name() {
    for (text, want) in [
        ("use crate::b::c::Deep;", vec!["a.rs:1 -> b/c.rs: Deep"]),
        ("use crate::Deep;", vec!["a.rs:1 -> b/c.rs: Deep"]),
        ("use crate::Renamed as R;", vec!["a.rs:1 -> b.rs: Flat"]),
        (
            "use crate::{\n    b::Flat,\n    b::c::{self, f},\n};",
            vec!["a.rs:2 -> b.rs: Flat", "a.rs:3 -> b/c.rs: c", "a.rs:3 -> b/c.rs: f"],
        ),
        ("use super::b::c::*;", vec!["a.rs:1 -> b/c.rs: c"]),
        ("use super::b::c;\nfn g() { c::f() }", vec!["a.rs:1 -> b/c.rs: c", "a.rs:2 -> b/c.rs: f"]),
        ("fn g(_: &crate::Deep) {}", vec!["a.rs:1 -> b/c.rs: Deep"]),
        ("fn g() {\n    crate::b::Flat::new()\n}", vec!["a.rs:2 -> b.rs: Flat"]),
        ("fn g() { h!(x, crate::b::c::f()) }", vec!["a.rs:1 -> b/c.rs: f"]),
        ("fn g() { use hanok_a::Deep; }", vec!["a.rs:1 -> b/c.rs: Deep"]),
        ("use crate::b::Made;", vec!["a.rs:1 -> b.rs: Made"]),
        ("pub(crate) use crate::b::Flat;", vec![]),
        ("pub(crate) use crate::b::Flat;\nfn g(_: Flat) {}", vec!["a.rs:2 -> b.rs: Flat"]),
        ("use serde::b::Flat;\nuse ::b::Flat;\nfn g() { std::b::c() }", vec![]),
        ("#[cfg(test)]\nmod tests {\n    use crate::b::Flat;\n}", vec![]),
        ("#[cfg(all(test, unix))]\nfn g(_: crate::b::Flat) {}", vec![]),
        (
            "#[serde(with = \"crate::b\")]\nstruct S;\n/// `crate::b`\nconst C: &str = \"crate::b\";",
            vec![],
        ),
    ] {
        assert_eq!(arrows(&[ROOT, ("a.rs", text), B, C]), want, "{text}");
    }
}

#[test]
fn a_parent_and_its_modules_are_files_like_others() {
    let child = "use super::Flat;\nfn f() {}\nmacro_rules! m { () => { $crate::a::g() } }\n";
    for (b, want) in [
        ("mod c;\nstruct Flat;\n", vec!["b/c.rs:3 -> a.rs: g", "b/c.rs:1 -> b.rs: Flat"]),
        (
            "mod c;\nuse c::f;\nstruct Flat;\n",
            vec!["b.rs:2 -> b/c.rs: f", "b/c.rs:3 -> a.rs: g", "b/c.rs:1 -> b.rs: Flat"],
        ),
        (
            "mod c {\n    pub(super) mod d;\n}\nfn f() { c::d::h() }\nstruct Flat;\n",
            vec!["b.rs:4 -> b/c/d.rs: h"],
        ),
        ("#[path = \"e.rs\"]\nmod c;\nfn f() { self::c::h() }\n", vec!["b.rs:3 -> e.rs: h"]),
    ] {
        let files = [
            ROOT,
            ("a.rs", "pub(crate) fn g() {}"),
            ("b.rs", b),
            ("b/c.rs", child),
            ("b/c/d.rs", "pub(super) fn h() {}\n"),
            ("e.rs", "pub(super) fn h() {}\n"),
        ];
        let mut want = want;
        want.sort_unstable();
        let mut arrows = arrows(&files);
        arrows.sort_unstable();
        assert_eq!(arrows, want, "{b}");
    }
}

#[test]
fn re_exports_and_globs_that_go_round_end() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "pub use crate::b::*;\npub use crate::b::X;\nfn f() { X; crate::a::Y::new() }\n"),
        (
            "b.rs",
            "pub use crate::a::*;\npub use crate::a::X;\n#[macro_export]\nmacro_rules! m { () => {} }\nfn g() { crate::m!() }\n",
        ),
    ];
    assert_eq!(arrows(&files), [""; 0]);
}

/// Files `0.rs` to `count.rs`, each using the next one and the last one the first.
fn ring(count: usize) -> Vec<(String, String)> {
    let modules = (0..count).map(|file| format!("mod m{file};\n")).collect();
    let file = |file: usize| {
        let next = (file + 1) % count;
        (format!("m{file}.rs"), format!("use crate::m{next}::F{next};\nstruct F{file};\n"))
    };
    let files = (0..count).map(file);
    [("lib.rs".to_owned(), modules)].into_iter().chain(files).collect()
}

#[test]
fn a_circle_of_more_than_three_files_is_found() {
    for (count, want) in [
        (3, vec![]),
        (
            4,
            vec![
                "m0.rs:1: 4 files import each other in a circle, at most 3: m0.rs, m1.rs, m2.rs, m3.rs; `cargo xtask house --files hanok-a` shows by what",
            ],
        ),
    ] {
        let ring = ring(count);
        let files: Vec<_> =
            ring.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(findings(&files, &[]), want);
    }
    let parent = "mod c;\nmod d;\nmod e;\npub(crate) use c::X;\n";
    let files = [
        ("lib.rs", "mod b;\n"),
        ("b.rs", parent),
        ("b/c.rs", "pub(crate) struct X;\nuse super::d::D;\n"),
        ("b/d.rs", "pub(super) struct D;\nuse super::e::E;\n"),
        ("b/e.rs", "pub(super) struct E;\nuse super::X;\n"),
    ];
    assert_eq!(findings(&files, &[]), [""; 0], "three files, and one that declares them");
}

#[test]
fn a_room_uses_what_stands_below_it() {
    let files = |run: &'static str, names: &'static str| {
        [
            (
                "lib.rs",
                "mod names;\nmod node;\nmod run;\nmod thread;\nuse thread::turn::Turn;\npub use run::task::Task;\n",
            ),
            ("names.rs", names),
            ("node.rs", "pub(crate) mod function;\n"),
            ("node/function.rs", "pub(crate) struct Node;\n"),
            ("run.rs", "pub(crate) mod task;\n"),
            ("run/task.rs", run),
            ("thread.rs", "pub(crate) mod turn;\n"),
            ("thread/turn.rs", "use crate::Task;\npub(crate) struct Turn;\n"),
        ]
    };
    for (run, names, want) in [
        (
            "use crate::{names::END, node::function::Node};\npub struct Task;\n",
            "const END: u8 = 0;\n",
            vec![],
        ),
        (
            "use crate::names::END;\npub struct Task;\nfn f() { crate::thread::turn::Turn::new() }\n",
            "const END: u8 = 0;\n",
            vec![
                "run/task.rs:1: 2 files import each other in a circle, and in more than one room: run/task.rs, thread/turn.rs; `cargo xtask house --files hanok-a` shows by what",
                "run/task.rs:3: `Turn` of `thread/turn.rs` is imported from the room above (`run` imports `thread`), move it down or hand it in",
            ],
        ),
        (
            "pub struct Task;\n",
            "\nuse crate::node::function::Node;\n",
            vec![
                "names.rs:2: `Node` of `node/function.rs` is imported from the room above (`ground` imports `node`), move it down or hand it in",
            ],
        ),
    ] {
        let mut found = findings(&files(run, names), PLAN);
        found.sort();
        assert_eq!(found, want, "{run}");
        assert!(findings(&files(run, names), &[]).is_empty(), "a crate without rooms");
        assert_eq!(house(&files(run, names)).faults(PLAN), []);
    }
}

#[test]
fn every_folder_has_a_place_in_the_plan_and_every_room_a_folder() {
    let files = [
        ("lib.rs", "mod attic;\nmod node;\nmod thread;\n"),
        ("attic.rs", "mod box_of_old;\n"),
        ("attic/box_of_old.rs", ""),
        ("node.rs", ""),
        ("thread.rs", ""),
    ];
    let faults = house(&files).faults(PLAN);
    assert_eq!(
        faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "crates/hanok-a/src/attic/box_of_old.rs:1: the folder `attic` has no place among the rooms of `hanok-a`, give it one in `xtask/src/house/plan.rs`",
            "xtask/src/house/plan.rs:1: `hanok-a` has no room `run`, take it out of the plan",
        ]
    );
}

#[test]
fn a_refused_word_is_no_whole_name() {
    for text in [
        "fn told() {}",
        "struct Told;",
        "enum E { Told }",
        "trait Told {}",
        "type Told = u8;",
        "mod told {}",
        "struct S { told: u8 }",
        "enum E { V { told: u8 } }",
        "trait T { fn told(&self); }",
        "impl S { fn told(&self) {} }",
        "trait T { type Told; }",
        "fn f() { fn told() {} }",
    ] {
        assert_eq!(findings(&[("lib.rs", text)], &[]).len(), 1, "{text}");
    }
    for text in [
        "fn told_apart(told: u8) { let told = told; }",
        "struct Foretold;",
        "const TOLD: u8 = 0;",
        "impl Told for S { type Told = u8; fn told(&self) {} }",
        "#[cfg(test)]\nmod tests { fn told() {} }",
        "#[test]\nfn told() {}",
    ] {
        assert_eq!(findings(&[("lib.rs", text)], &[]), [""; 0], "{text}");
    }
    assert_eq!(
        findings(&[("lib.rs", "\nstruct Kept;")], &[]),
        ["lib.rs:2: `Kept` as a name, say in the field's words what it is"]
    );
}

#[test]
fn a_function_takes_no_tuple_apart() {
    for (text, count) in [
        ("fn f((a, b): (u8, u8)) {}", 1),
        ("fn f(&(a, b): &(u8, u8), (c,): (u8,)) {}", 2),
        ("impl S { fn f(&self, (a, b): (u8, u8)) {} }", 1),
        ("trait T { fn f((a, b): (u8, u8)) {} }", 1),
        ("fn f(a: (u8, u8), Some(S { b }): Option<S>, [c, d]: [u8; 2]) {}", 0),
        ("fn f() { let g = |(a, b): (u8, u8)| a; }", 0),
    ] {
        assert_eq!(findings(&[("lib.rs", text)], &[]).len(), count, "{text}");
    }
    assert_eq!(
        findings(&[("lib.rs", "fn f(\n    (a, b): (u8, u8),\n) {}")], &[]),
        ["lib.rs:2: `f` takes a tuple apart as a parameter, name what it is or pass its parts"]
    );
}

#[test]
fn a_long_file_gives_a_reason() {
    let lines = |count: usize| "const A: u8 = 0;\n// A comment.\n\n".repeat(count);
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(9));
    for (text, want) in [
        (lines(400), vec![]),
        (lines(400) + &tests, vec![]),
        (
            lines(401),
            vec![
                "lib.rs:1: 401 lines of code, at most 400: split it by idea, or say at its head why not (`//! Long: …`)",
            ],
        ),
        ("//! Numbers.\n//!\n//! Long: one table.\n".to_owned() + &lines(401), vec![]),
    ] {
        assert_eq!(findings(&[("lib.rs", &text)], &[]), want);
    }
}

#[test]
fn names_leave_a_crate_by_being_listed() {
    for (text, want) in [
        (
            "pub mod inner;",
            vec!["1: `pub mod` in lib.rs, keep the module private and re-export by name"],
        ),
        ("\npub use inner::*;", vec!["2: a glob re-export, re-export by name"]),
        ("pub use inner::{One, two::*};", vec!["1: a glob re-export, re-export by name"]),
        ("pub use inner::{One, Two};\nmod inner;\npub(crate) mod other;\nuse other::*;", vec![]),
        ("#[doc(hidden)]\npub mod for_macros;", vec![]),
        ("mod inner { pub mod deeper {} }", vec![]),
    ] {
        let faults = house(&[("lib.rs", text)]).faults(&[]);
        let faults: Vec<_> = faults.iter().map(|it| format!("{}: {}", it.line, it.what)).collect();
        assert_eq!(faults, want, "{text}");
    }
    let inner = [("lib.rs", "mod inner;"), ("inner.rs", "pub mod deeper {}\npub use deeper::*;")];
    assert_eq!(house(&inner).faults(&[]), []);
}

#[test]
fn a_source_that_is_no_rust_is_a_fault() {
    for text in ["\nfn f( {", "\nfn \"f\"() {}"] {
        let faults = house(&[("lib.rs", text)]).faults(&[]);
        let fault = faults.first().unwrap().to_string();
        assert!(
            fault.starts_with("crates/hanok-a/src/lib.rs:2: cannot be read as Rust ("),
            "{fault}"
        );
    }
}

#[test]
fn rooms_are_drawn_with_their_imports_and_those_upwards_dotted() {
    let files = [
        ("lib.rs", "mod names;\nmod node;\nmod run;\nmod thread;\nuse run::task::Task;\n"),
        ("names.rs", "pub(crate) struct Name;\n"),
        ("node.rs", "use crate::{names::Name, run::task::Task};\n"),
        ("run.rs", "pub(crate) mod task;\n"),
        (
            "run/task.rs",
            "use crate::names::Name;\npub(crate) struct Task;\npub(crate) struct Other;\n",
        ),
        ("thread.rs", "use crate::run::task::{Other, Task};\n"),
    ];
    let house = house(&files);
    let [of] = house.crates.as_slice() else { panic!("one crate") };
    assert_eq!(
        drawing::rooms(of, &PLAN[0]),
        "```mermaid\nflowchart TB\n  thread_[\"thread\"]\n  run_[\"run\"]\n  node_[\"node\"]\n  ground_[\"ground\"]\n  \
         thread_ -->|2| run_\n  run_ -->|1| ground_\n  node_ -.->|1| run_\n  node_ -->|1| ground_\n```\n"
    );
    assert_eq!(
        listing::listing(of),
        "all imports\n  lib.rs\n    run/task.rs: Task (5)\n  node.rs\n    names.rs: Name (1)\n    run/task.rs: Task (1)\n  \
         run/task.rs\n    names.rs: Name (1)\n  thread.rs\n    run/task.rs: Other (1), Task (1)\n"
    );
}

#[test]
fn the_files_of_the_crates_and_of_the_checks_are_read() {
    for (path, want) in [
        ("crates/hanok-core/src/name.rs", Some("hanok-core")),
        ("crates/hanok-core/src/deep/name.rs", Some("hanok-core")),
        ("xtask/src/main.rs", Some("xtask")),
        ("crates/hanok-core/tests/it/name.rs", None),
        ("crates/hanok-core/src/name.md", None),
        ("examples/rag/src/main.rs", None),
    ] {
        assert_eq!(package(path), want, "{path}");
    }
}
