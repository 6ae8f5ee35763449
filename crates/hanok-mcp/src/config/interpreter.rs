//! Command lines that are programs themselves: `sh -c`, `node -e`.

/// The interpreters, with the options after which code follows.
const INTERPRETERS: &[(&[&str], &[&str])] = &[
    (&["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox"], &["c", "command"]),
    (&["cmd"], &["c", "k", "r"]),
    (&["powershell", "pwsh"], &["c", "command", "e", "ec", "encodedcommand", "commandwithargs"]),
    (&["node", "nodejs", "bun", "tsx", "ts-node"], &["e", "eval", "p", "print"]),
    (&["deno"], &["eval"]),
    (&["python", "pypy"], &["c"]),
    (&["perl"], &["e"]),
    (
        &["ruby", "lua", "luajit", "osascript", "rscript", "groovy", "elixir", "julia"],
        &["e", "eval"],
    ),
    (&["php"], &["r", "run"]),
    (&["npx", "bunx", "npm", "pnpm", "yarn"], &["c", "call", "shell-mode"]),
    (&["env"], &["s", "split-string"]),
];

/// Programs that start the program which their arguments name.
const WRAPPERS: &[&str] = &[
    "env", "nice", "nohup", "setsid", "stdbuf", "sudo", "doas", "time", "timeout", "xargs",
    "ionice", "chroot", "unshare", "uv", "uvx", "pipx", "poetry", "npx", "bunx", "npm", "pnpm",
    "yarn", "busybox", "cmd", "exec", "docker", "podman", "bwrap", "firejail", "strace", "watch",
];

/// The part of a command line that is code for an interpreter, such as `sh -c`.
pub(super) fn inline_code<'a>(command: &'a str, arguments: &[&'a str]) -> Option<String> {
    let name = program(command);
    // `npm exec` is `npx`, and its options stand behind that word.
    let (program, arguments) = match (versionless(&name), arguments) {
        ("npm" | "pnpm" | "yarn", ["exec" | "x" | "dlx", rest @ ..]) => (name.as_str(), rest),
        ("bun", ["x", rest @ ..]) => ("bunx", rest),
        _ => (name.as_str(), arguments),
    };
    let of = INTERPRETERS.iter().find(|known| known.0.contains(&versionless(program)));
    if let Some((_, options)) = of
        && let Some(option) = before_script(arguments, program)
            .find(|argument| takes_code(argument, options, program))
    {
        return Some(format!("{program} {option}"));
    }
    if !WRAPPERS.contains(&versionless(program)) {
        return None;
    }
    // Whatever a wrapper makes of its own options, a program among its arguments is judged by what follows it.
    (0..arguments.len()).find_map(|at| {
        let (command, after) = arguments.get(at..)?.split_first()?;
        is_interpreter(command).then(|| inline_code(command, after)).flatten()
    })
}

/// The arguments that are the interpreter's own: those before a script, whose arguments are its own. What follows an option may be
/// its value, so it is taken for a script only where no option stands before it.
fn before_script<'a>(
    arguments: &'a [&'a str],
    program: &str,
) -> impl Iterator<Item = &'a &'a str> + use<'a> {
    let is_deno = versionless(program) == "deno";
    let is_option = |argument: &str| argument.starts_with(['-', '/', '+']);
    let scripts = (0..arguments.len()).find(|at| {
        let argument = arguments.get(*at).copied().unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| arguments.get(before)).copied();
        before == Some("-m") || (!is_option(argument) && !before.is_some_and(is_option))
    });
    let own = scripts.map_or(arguments.len(), |at| if is_deno { at + 1 } else { at });
    arguments.iter().take(own)
}

fn is_interpreter(command: &str) -> bool {
    let program = program(command);
    let name = versionless(&program);
    INTERPRETERS.iter().any(|known| known.0.contains(&name)) || WRAPPERS.contains(&name)
}

/// The name of a program without its folder and its ending, in lower case.
fn program(command: &str) -> String {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat", ".com"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned()
}

/// `python3.12` is Python.
fn versionless(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

/// True for an option after which code follows, alone (`-c`), with others (`-lc`) or with the code (`--eval=…`, `-cprint()`).
fn takes_code(argument: &str, options: &[&str], program: &str) -> bool {
    let lower = argument.to_ascii_lowercase();
    if versionless(program) == "deno" {
        return lower == "eval";
    }
    if program == "env" {
        return splits(argument);
    }
    if let Some(slash) = lower.strip_prefix('/') {
        return program == "cmd" && options.iter().any(|option| slash.starts_with(option));
    }
    if let Some(long) = lower.strip_prefix("--") {
        return options.contains(&long.split('=').next().unwrap_or_default());
    }
    let Some(short) = lower.strip_prefix('-').filter(|short| !short.is_empty()) else {
        return false;
    };
    if options.iter().any(|option| option.len() > 1 && short == *option) {
        return true;
    }
    // PowerShell's options are words that may be shortened, others have letters that may stand together.
    match versionless(program) {
        "powershell" | "pwsh" => {
            options.iter().any(|option| option.starts_with(short) || short == *option)
        }
        "npx" | "bunx" | "npm" | "pnpm" | "yarn" => short == "c",
        _ => {
            let letters = short.chars().take_while(char::is_ascii_alphabetic);
            options
                .iter()
                .filter(|option| option.len() == 1)
                .any(|option| letters.clone().take(4).any(|letter| option.starts_with(letter)))
        }
    }
}

/// True for an option by which `env` makes a command line of one argument: `-S`, alone, with others (`-iS`) or with the line
/// (`-Ssh`), or its long form, which may be shortened.
fn splits(argument: &str) -> bool {
    if let Some(long) = argument.strip_prefix("--") {
        let long = long.split('=').next().unwrap_or_default();
        return !long.is_empty() && "split-string".starts_with(long);
    }
    // Behind the letter of an option with a value stands that value.
    let letters = argument.strip_prefix('-').unwrap_or_default().chars();
    letters.take_while(|c| !matches!(c, 'a' | 'u' | 'C' | 'L' | 'P' | 'U')).any(|c| c == 'S')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P44: a command line is a program and its arguments, and no program itself.
    #[test]
    fn code_on_a_command_line_is_found() {
        for (line, want) in [
            ("sh -c x", Some("sh -c")),
            ("/bin/bash -lc x", Some("bash -lc")),
            ("node -e x", Some("node -e")),
            ("node --eval=x", Some("node --eval=x")),
            ("node -pe x", Some("node -pe")),
            ("python3.12 -c x", Some("python3.12 -c")),
            ("python -cprint()", Some("python -cprint()")),
            ("npx -c x", Some("npx -c")),
            ("npx --call x", Some("npx --call")),
            ("npm exec -c x", Some("npm -c")),
            ("npm x --call=x", Some("npm --call=x")),
            ("npm exec --package=tool@1 -c x", Some("npm -c")),
            ("pnpm exec -c x", Some("pnpm -c")),
            ("pnpm dlx --shell-mode x", Some("pnpm --shell-mode")),
            ("yarn dlx -c x", Some("yarn -c")),
            ("bun x -c x", Some("bunx -c")),
            ("bun x sh -c x", Some("sh -c")),
            ("bun -e x", Some("bun -e")),
            ("deno eval x", Some("deno eval")),
            ("C:\\Windows\\cmd.exe /C x", Some("cmd /C")),
            ("pwsh -Command x", Some("pwsh -Command")),
            ("pwsh -enc x", Some("pwsh -enc")),
            ("env A=1 sh -c x", Some("sh -c")),
            ("env -S sh", Some("env -S")),
            ("env -iS sh", Some("env -iS")),
            ("env -Ssh", Some("env -Ssh")),
            ("/usr/bin/env --split-string=sh", Some("env --split-string=sh")),
            ("env --split-string sh", Some("env --split-string")),
            ("env -C /srv -S sh", Some("env -S")),
            ("nice env -S sh", Some("env -S")),
            ("env -uSHELL server", None),
            ("env A=1 server -S x", None),
            ("npm exec server@1 -c config", None),
            ("bun x -p server@1 run", None),
            ("bun x server@1 -p 3000", None),
            ("uv run python -c x", Some("python -c")),
            ("cmd /c x", Some("cmd /c")),
            ("npx -y @modelcontextprotocol/server-memory@1.0.0", None),
            ("uvx mcp-server-time==1 --local-timezone Asia/Seoul", None),
            ("python -m mcp_server_git --repository .", None),
            ("node server.js --config c", None),
            ("server-files -c config.toml", None),
            ("docker run -i image", None),
            ("node --title x -e code", Some("node -e")),
            ("node server.js -p 3000", None),
            ("node /srv/server.js -e production", Some("node -e")),
            ("python -m server -c config", None),
            ("python server.py -c config", None),
        ] {
            let words: Vec<_> = line.split(' ').collect();
            assert_eq!(inline_code(words[0], &words[1..]).as_deref(), want, "{line}");
        }
    }
}
