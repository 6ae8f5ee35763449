//! Cuts the key out of what others say.

use std::fmt;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The forms of the key that must not be seen.
#[derive(Clone, Default)]
pub(crate) struct Redact(Vec<String>);

impl Redact {
    pub(crate) fn new(key: Option<&str>) -> Self {
        let key = key.map(str::trim).filter(|key| !key.is_empty());
        Self(key.map(forms).unwrap_or_default())
    }

    /// Also cuts out `secret`, unless it is so short that words would go with it.
    #[cfg(feature = "config")]
    pub(crate) fn add(&mut self, secret: &str) {
        const SHORTEST: usize = 8;
        let secret = secret.trim();
        if secret.len() >= SHORTEST {
            self.0.extend(forms(secret));
            self.0.sort_by_key(|form| std::cmp::Reverse(form.len()));
            self.0.dedup();
        }
    }

    /// `text` without the key.
    pub(crate) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, form| text.replace(form, "…"))
    }
}

impl fmt::Debug for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redact")
    }
}

/// The longest first: a shorter one may be its beginning.
fn forms(key: &str) -> Vec<String> {
    let bearer = format!("Bearer {key}");
    let mut forms = vec![key.to_owned(), utf8_percent_encode(key, NON_ALPHANUMERIC).to_string()];
    for text in [key, &bearer] {
        forms.extend([STANDARD_NO_PAD.encode(text), URL_SAFE_NO_PAD.encode(text)]);
    }
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P55
    #[test]
    fn the_key_is_cut_out_in_each_of_its_forms() {
        let redact = Redact::new(Some("sk-한옥/secret+1"));
        for form in &redact.0 {
            assert_eq!(redact.text(&format!("bad key <{form}>!")), "bad key <…>!");
        }
        assert_eq!(Redact::new(None).text("as it was"), "as it was");
    }
}
