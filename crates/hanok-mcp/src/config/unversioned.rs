//! Packages that are started without their version: what runs today is not what runs tomorrow.

/// The package that a command line fetches and starts in whatever version there is.
pub(super) fn package<'a>(command: &str, arguments: &[&'a str]) -> Option<&'a str> {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.trim_end_matches(".cmd").trim_end_matches(".exe");
    let (arguments, is_npm) = match (name, arguments) {
        ("npx" | "bunx", all) => (all, true),
        ("npm" | "pnpm" | "yarn", ["exec" | "dlx" | "x", rest @ ..]) => (rest, true),
        ("uvx", all) | ("uv", ["tool", "run", all @ ..]) | ("pipx", ["run", all @ ..]) => {
            (all, false)
        }
        _ => return None,
    };
    let package = named(arguments)?;
    let has_version = match is_npm {
        // The first `@` of `@scope/name@1` begins the scope.
        true => {
            package.get(1..).is_some_and(|rest| rest.contains('@') && !rest.ends_with("@latest"))
        }
        false => package.contains("==") || (package.contains('@') && !package.ends_with("@latest")),
    };
    (!has_version).then_some(package)
}

/// The package that the options name, or else the first argument that is no option.
fn named<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    let mut rest = arguments.iter();
    let mut first = None;
    while let Some(argument) = rest.next() {
        match *argument {
            "-p" | "--package" | "--from" | "--spec" => return rest.next().copied(),
            "--python" | "--with" | "--index-url" | "--registry" => {
                rest.next();
            }
            option if option.starts_with('-') => {}
            package => {
                first = Some(package);
                break;
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_its_version_is_named() {
        for (line, want) in [
            ("npx -y @scope/server", Some("@scope/server")),
            ("npx -y @scope/server@latest", Some("@scope/server@latest")),
            ("npx -y @scope/server@1.2.3 /data", None),
            ("npx server@1", None),
            ("npx -p server@1 run", None),
            ("uvx mcp-server-time", Some("mcp-server-time")),
            ("uvx mcp-server-time==1.0", None),
            ("uvx mcp-server-time@1.0 --zone x", None),
            ("uvx --from mcp-server-git git", Some("mcp-server-git")),
            ("uv tool run x", Some("x")),
            ("pnpm dlx x", Some("x")),
            ("node server.js", None),
        ] {
            let words: Vec<_> = line.split(' ').collect();
            assert_eq!(package(words[0], &words[1..]), want, "{line}");
        }
    }
}
