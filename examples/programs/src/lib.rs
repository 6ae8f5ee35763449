//! Small programs, each about one thing that a graph does. Run one with `cargo run --example approval`; `README.md` says what
//! each shows, and how long it is beside one that does the same on LangGraph.

#[cfg(test)]
mod tests {
    /// The programs of this folder, by name.
    const PROGRAMS: [(&str, &str); 12] = [
        ("approval", include_str!("../approval.rs")),
        ("evolve", include_str!("../evolve.rs")),
        ("fan_out", include_str!("../fan_out.rs")),
        ("hand_off", include_str!("../hand_off.rs")),
        ("map_reduce", include_str!("../map_reduce.rs")),
        ("nested", include_str!("../nested.rs")),
        ("plan_and_execute", include_str!("../plan_and_execute.rs")),
        ("quick_start", include_str!("../quick_start.rs")),
        ("reflection", include_str!("../reflection.rs")),
        ("resilience", include_str!("../resilience.rs")),
        ("swarm", include_str!("../swarm.rs")),
        ("teams", include_str!("../teams.rs")),
    ];

    /// A program of this folder says what it has to say on a page.
    #[test]
    fn no_program_is_longer_than_100_lines() {
        for (name, text) in PROGRAMS {
            let lines = text.lines().count();
            assert!(lines <= 100, "{name} has {lines} lines");
        }
    }

    /// Teams of teams are wiring: `docs/guides/agents.md` says so.
    #[test]
    fn teams_are_twenty_lines_of_code() {
        let lines = include_str!("../teams.rs").lines().map(str::trim);
        let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        assert!(code.count() <= 20);
    }

    /// The README's table has every program, with the lines of code that it has.
    #[test]
    fn the_table_tells_how_long_each_program_is() {
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
        let lines = |text: &str| text.lines().map(str::trim).filter(is_code).count();
        let mut in_fact: Vec<_> = PROGRAMS
            .iter()
            .map(|&(name, text)| (name.to_owned(), lines(text).to_string()))
            .collect();
        let mut in_table: Vec<_> = include_str!("../README.md")
            .lines()
            .filter_map(|line| line.strip_prefix("| [")?.split_once(']'))
            .map(|(name, rest)| {
                let cells: Vec<_> = rest.split('|').map(str::trim).collect();
                (name.to_owned(), cells[2].to_owned())
            })
            .collect();
        in_fact.sort();
        in_table.sort();
        assert_eq!(in_table, in_fact, "the README's table, and the programs");
    }
}
