//! Cuts out of a server's words what it was told and nobody else is to read.

use std::fmt;

/// The shortest text that is cut out: with a shorter one words would go.
const SHORTEST: usize = 8;

/// The texts that are cut out.
#[derive(Clone, Default)]
pub(crate) struct Redact(Vec<String>);

impl Redact {
    /// Cuts out these texts, and the last word of each: the key behind `Bearer`.
    pub(crate) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut forms = Vec::new();
        for secret in secrets {
            let last = secret.rsplit(' ').next().unwrap_or_default().to_owned();
            forms.extend([secret, last].into_iter().filter(|form| form.len() >= SHORTEST));
        }
        // The longest first: a shorter one may be its beginning.
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self(forms)
    }

    /// `text` without them.
    pub(crate) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, form| text.replace(form, "…"))
    }
}

impl fmt::Debug for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redact")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P55
    #[test]
    fn secrets_are_cut_out_whole_and_as_the_word_behind_their_kind() {
        let redact = Redact::new([
            "Bearer sk-12345678".to_owned(),
            "sk-12345678-long".to_owned(),
            "short".to_owned(),
        ]);
        let text = "<Bearer sk-12345678> <sk-12345678-long> <sk-12345678> short";
        assert_eq!(redact.text(text), "<…> <…> <…> short");
        assert_eq!(format!("{redact:?}"), "Redact");
    }
}
