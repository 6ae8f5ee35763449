//! What no single crate can show: the programs of the README and of the guides.

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// The programs of the Korean README.
#[cfg(doctest)]
#[doc = include_str!("../../README.ko.md")]
pub struct ReadmeKo;

/// The programs of the guides, with all of hanok. `cargo xtask test --only guides` compiles each with what its page adds alone.
#[cfg(all(doctest, feature = "guides"))]
pub mod guides {
    macro_rules! guides {
        ($($page:literal: $guide:ident),* $(,)?) => {$(
            #[doc = include_str!(concat!("../../docs/guides/", $page))]
            pub struct $guide;
        )*};
    }

    guides! {
        "agents.md": Agents,
        "approvals.md": Approvals,
        "coming-from-langgraph.md": ComingFromLanggraph,
        "control-flow.md": ControlFlow,
        "conversations.md": Conversations,
        "decisions.md": Decisions,
        "documents.md": Documents,
        "durability.md": Durability,
        "effects.md": Effects,
        "encryption.md": Encryption,
        "errors.md": Errors,
        "failure.md": Failure,
        "limits.md": Limits,
        "long-term-memory.md": LongTermMemory,
        "mcp.md": Mcp,
        "observability.md": Observability,
        "people-in-the-loop.md": PeopleInTheLoop,
        "postgresql.md": Postgresql,
        "retention.md": Retention,
        "state.md": State,
        "streams.md": Streams,
        "subgraphs.md": Subgraphs,
        "teams.md": Teams,
        "testing.md": Testing,
        "time-travel.md": TimeTravel,
        "tools-by-the-hundred.md": ToolsByTheHundred,
        "tools.md": Tools,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn every_guide_is_tested() {
        let this = include_str!("lib.rs");
        let pages = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guides")).unwrap();
        for page in pages {
            let page = page.unwrap().file_name().into_string().unwrap();
            // Its program is an example, `examples/programs/trip.rs`, and is run as the page shows it.
            if page == "getting-started.md" {
                continue;
            }
            assert!(this.contains(&format!("\"{page}\": ")), "{page}");
        }
    }
}
