//! The plan of the house: which crates have rooms, and which room stands above which.
//!
//! A *room* is a folder of a crate's `src`, with the file of its name beside it. The files that stand directly in `src` are
//! the *ground* under all rooms. A room uses what stands below it; `lib.rs` and `main.rs` are the roof and use everything.

/// The rooms of a crate, the highest first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rooms {
    pub(super) package: &'static str,
    pub(super) rooms: &'static [&'static str],
}

/// The crates that have rooms.
pub(super) const PLAN: &[Rooms] = &[
    Rooms { package: "hanok-core", rooms: &["call", "fields", "stored"] },
    Rooms {
        package: "hanok-checkpoint",
        rooms: &["thread", "backend", "format", "entry", "store"],
    },
    Rooms {
        package: "hanok-graph",
        rooms: &["thread", "run", "graph", "node", "journal", "observe"],
    },
    Rooms {
        package: "hanok-mcp",
        rooms: &[
            "serve",
            "client",
            "tool",
            "server",
            "catalogue",
            "content",
            "connection",
            "authorization",
            "elicitation",
            "config",
        ],
    },
    Rooms { package: "hanok-memory", rooms: &["orchestration", "learning"] },
    Rooms { package: "hanok-parse", rooms: &["parse", "readers", "reply", "json", "text"] },
    Rooms { package: "hanok-postgres", rooms: &["handle", "items", "log", "database", "server"] },
    Rooms {
        package: "hanok-testkit",
        rooms: &["simulation", "kills", "documents", "store", "checkpointer"],
    },
    Rooms { package: "hanok-sqlite", rooms: &["handle", "repair", "items", "log", "file"] },
    Rooms {
        package: "hanok-state",
        rooms: &["dynamic", "migration", "rules", "messages", "collections"],
    },
];

/// The file with the plan, for what is wrong with it.
pub(super) const PATH: &str = "xtask/src/house/plan.rs";
