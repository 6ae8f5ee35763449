//! Small programs, each about one thing that a graph does. Run one with `cargo run --example approval`.
//!
//! - `approval`: a person edits and approves a payment, in another process than the one that asked.
//! - `fan_out`: a fan-out, a join and a partial failure that costs nobody else their work.
//! - `nested`: a graph within a graph, whose progress streams with its path.
//! - `hand_off`: an agent that hands the conversation to another.
//! - `teams`: two teams of two agents under one supervisor.

#[cfg(test)]
mod tests {
    /// A program of this folder says what it has to say on a page.
    #[test]
    fn no_program_is_longer_than_80_lines() {
        for (name, text) in [
            ("approval", include_str!("../approval.rs")),
            ("fan_out", include_str!("../fan_out.rs")),
            ("nested", include_str!("../nested.rs")),
            ("hand_off", include_str!("../hand_off.rs")),
            ("teams", include_str!("../teams.rs")),
        ] {
            let lines = text.lines().count();
            assert!(lines <= 80, "{name} has {lines} lines");
        }
    }

    /// Teams of teams are wiring: `docs/guides/agents.md` says so.
    #[test]
    fn teams_are_twenty_lines_of_code() {
        let lines = include_str!("../teams.rs").lines().map(str::trim);
        let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        assert!(code.count() <= 20);
    }
}
