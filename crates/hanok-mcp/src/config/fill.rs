//! `${NAME}` and `${NAME:-text}` in the texts of a configuration.

/// Reads the variables of an environment.
pub(super) type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// `text` with its variables filled in, or a sentence for each that cannot be.
pub(super) fn fill(text: &str, variables: Variables<'_>) -> Result<String, Vec<String>> {
    let (mut filled, mut faults, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inner, following)) = after.split_once('}') else {
            faults.push("a `${` has no `}`".to_owned());
            return Err(faults);
        };
        rest = following;
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        if !is_name(name) {
            let shown = inner.escape_debug();
            faults.push(format!(
                "`${{{shown}}}` is no variable; write `${{NAME}}` or `${{NAME:-text}}`"
            ));
            continue;
        }
        match (variables(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => filled.push_str(&value),
            (None, Some(default)) => filled.push_str(default),
            (None, None) => faults.push(format!("the variable `{name}` is not set")),
        }
    }
    filled.push_str(rest);
    match faults.is_empty() {
        true => Ok(filled),
        false => Err(faults),
    }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_each_that_cannot_be_is_named() {
        let variables = |name: &str| match name {
            "TOKEN" => Some("t${X}1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, want) in [
            ("plain $HOME {x}", Ok("plain $HOME {x}")),
            ("Bearer ${TOKEN}!", Ok("Bearer t${X}1!")),
            ("${NONE:-a:-b}${EMPTY:-c}[${EMPTY}]", Ok("a:-bc[]")),
            (
                "${NONE} ${env:HOME} ${ALSO}",
                Err(
                    "the variable `NONE` is not set; `${env:HOME}` is no variable; write `${NAME}` or `${NAME:-text}`; the variable `ALSO` is not set",
                ),
            ),
            ("${TOKEN", Err("a `${` has no `}`")),
        ] {
            let filled = fill(text, &variables).map_err(|faults| faults.join("; "));
            assert_eq!(filled, want.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }
}
