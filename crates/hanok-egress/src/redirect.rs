//! Where a redirect leads.

use crate::{
    EgressError,
    target::{Target, shown_text},
};

/// The target of `location`, given by the server of `from`, for a request that carries `secrets`.
pub(crate) fn next(
    from: &Target,
    location: &str,
    secrets: &[String],
) -> Result<Target, EgressError> {
    let refuse = |why| Err(refused(location, why, secrets));
    let Some(text) = absolute(from, location) else {
        return refuse("it is no address of the web");
    };
    let to = match Target::read(&text) {
        Ok(to) => to,
        Err(EgressError::Url { why, .. }) => return refuse(why),
        Err(error) => return Err(error),
    };
    if from.is_secure() && !to.is_secure() {
        return refuse("it leaves https for http");
    }
    // A server that knows the key may say it to another one in this way.
    if !to.has_origin_of(from) && secrets.iter().any(|secret| text.contains(secret.as_str())) {
        return refuse("it hands a key to another host");
    }
    Ok(to)
}

/// That `location` is not followed, told without any of `secrets`.
pub(crate) fn refused(location: &str, why: &'static str, secrets: &[String]) -> EgressError {
    let cut = |text: String, secret: &String| text.replace(secret.as_str(), "…");
    EgressError::Redirect { to: shown_text(&secrets.iter().fold(location.to_owned(), cut)), why }
}

/// `location` as a whole URL.
fn absolute(from: &Target, location: &str) -> Option<String> {
    if location.starts_with("//") {
        return Some(format!("{}:{location}", from.url.scheme()));
    }
    if has_scheme(location) {
        return Some(location.to_owned());
    }
    // Leads nowhere but to the same host: what could name another one was taken above.
    let joined = from.url.join(location).ok()?;
    (joined.origin() == from.url.origin()).then(|| joined.to_string())
}

fn has_scheme(location: &str) -> bool {
    let scheme = location.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn led(from: &str, location: &str) -> Result<String, String> {
        let from = Target::read(from).unwrap();
        let secrets = ["geheim+1".to_owned(), "geheim%2B1".to_owned()];
        match next(&from, location, &secrets) {
            Ok(to) => Ok(to.url.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_redirect_is_read_as_the_standard_says() {
        for (from, location, to) in [
            ("http://a.b/c/d?e", "f", "http://a.b/c/f"),
            ("http://a.b/c/d", "/f?g#h", "http://a.b/f?g"),
            ("http://a.b/c", "?g", "http://a.b/c?g"),
            ("https://a.b/c", "//x.y/z", "https://x.y/z"),
            ("http://a.b/c", "https://x.y/z", "https://x.y/z"),
            ("https://a.b/c", "/wiki/a:b", "https://a.b/wiki/a:b"),
            ("https://a.b/c", "/x?key=geheim%2B1", "https://a.b/x?key=geheim%2B1"),
        ] {
            assert_eq!(led(from, location), Ok(to.to_owned()), "{location}");
        }
    }

    /// P39
    #[test]
    fn a_redirect_leaves_neither_the_web_nor_https_nor_with_a_key() {
        for (location, why) in [
            ("http://a.b/c", "it leaves https for http"),
            ("http://x.y/", "it leaves https for http"),
            ("file:///etc/passwd", "it does not begin with http:// or https://"),
            ("gopher://x.y/", "it does not begin with http:// or https://"),
            ("javascript:alert(1)", "it does not begin with http:// or https://"),
            ("https:x.y", "it does not begin with http:// or https://"),
            ("https://me@x.y/", "it holds a user or a password"),
            ("//2130706433/", "its host is written in an unusual form"),
            ("\\\\x.y\\", "it is no address of the web"),
            ("https://x.y/?k=geheim%2B1", "it hands a key to another host"),
            ("https://x.y/geheim+1", "it hands a key to another host"),
            ("http://a.b/geheim%2B1", "it leaves https for http"),
            ("ftp://geheim+1.x.y/", "it does not begin with http:// or https://"),
        ] {
            let error = led("https://a.b/c", location).unwrap_err();
            assert!(error.ends_with(why), "{location}: {error}");
            assert!(!error.contains("geheim"), "{error}");
        }
    }
}
