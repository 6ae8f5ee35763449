//! Text that is told piece by piece.

/// Text of one kind, trimmed, and how much of it was told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    text: String,
    /// Behind the last letter that is no white space.
    solid: usize,
    announced: usize,
    /// A piece goes on.
    open: bool,
}

impl Flow {
    /// More of the piece. White space before it is left out, and a line break stands between two pieces.
    pub(crate) fn push(&mut self, text: &str) {
        let text = if self.open { text } else { text.trim_start() };
        if text.is_empty() {
            return;
        }
        if !self.open && !self.text.is_empty() {
            self.text.push('\n');
        }
        self.open = true;
        self.text.push_str(text);
        let trimmed = text.trim_end().len();
        if trimmed > 0 {
            self.solid = self.text.len() - (text.len() - trimmed);
        }
    }

    /// Ends a piece. White space at its end is left out.
    pub(crate) fn cut(&mut self) {
        if self.open {
            self.text.truncate(self.solid);
            self.open = false;
        }
    }

    /// Whether something was not told yet.
    pub(crate) fn has_news(&self) -> bool {
        self.announced != self.solid
    }

    /// What was not told yet.
    pub(crate) fn news(&mut self) -> &str {
        let news = self.text.get(self.announced..self.solid).unwrap_or_default();
        self.announced = self.solid;
        news
    }

    pub(crate) fn into_text(mut self) -> String {
        self.text.truncate(self.solid);
        self.text
    }
}

/// Text that may lose marks at its end when it is whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    pub(crate) text: String,
    /// Behind the last letter that stays whatever follows.
    pub(crate) solid: usize,
}

impl Run {
    /// More text. White space before it is left out.
    pub(crate) fn push(&mut self, text: &str) {
        let text = if self.text.is_empty() { text.trim_start() } else { text };
        self.text.push_str(text);
        let kept = text.trim_end_matches(|letter: char| {
            letter.is_whitespace() || matches!(letter, '*' | '_' | '`')
        });
        if !kept.is_empty() {
            self.solid = self.text.len() - (text.len() - kept.len());
        }
    }
}
