//! The development profile of the workspace's manifest, as Cargo takes it on its command line.

/// The settings of `manifest` for what is built in development, but for those of packages that are members.
pub(crate) fn settings(manifest: &str, is_member: impl Fn(&str) -> bool) -> Vec<String> {
    let mut table = None;
    let mut settings = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = Some(name).filter(|name| is_of_development(name, &is_member));
        } else if let (Some(table), Some((key, value))) = (table, line.split_once('='))
            && !line.starts_with('#')
        {
            settings.push(format!("{table}.{}={}", key.trim(), value.trim()));
        }
    }
    settings
}

fn is_of_development(table: &str, is_member: impl Fn(&str) -> bool) -> bool {
    match table.strip_prefix("profile.dev") {
        Some("") => true,
        Some(rest) => rest.strip_prefix(".package.").is_some_and(|name| !is_member(name)),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::settings;

    #[test]
    fn the_settings_of_development_are_read_and_those_of_members_left_out() {
        let manifest = r#"
            [workspace]
            members = ["a"]

            [profile.dev]
            # A word on it = none.
            debug = "line-tables-only"

            [profile.dev.package."*"]
            debug = false

            [profile.dev.package.own]
            opt-level = 1

            [profile.dev.package.serde]
            opt-level = 2

            [profile.release]
            debug = true
        "#;
        assert_eq!(
            settings(manifest, |name| name == "own"),
            [
                r#"profile.dev.debug="line-tables-only""#,
                r#"profile.dev.package."*".debug=false"#,
                "profile.dev.package.serde.opt-level=2",
            ]
        );
    }
}
