//! Reads EBNF as XGrammar takes it, as far as the grammars have it.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) enum Expr {
    Text(String),
    /// The ranges of a class of letters, and whether they are those that it has not.
    Class(Vec<(char, char)>, bool),
    Rule(String),
    All(Vec<Expr>),
    Any(Vec<Expr>),
    Repeat(Box<Expr>, usize, Option<usize>),
}

/// A grammar: its rules, each with how deep its shortest sentence is.
#[derive(Debug)]
pub(crate) struct Ebnf {
    pub(crate) rules: BTreeMap<String, Expr>,
    pub(crate) depths: BTreeMap<String, usize>,
}

impl Ebnf {
    pub(crate) fn new(text: &str) -> Self {
        let mut rules = BTreeMap::new();
        for line in text.lines() {
            let (name, body) = line.split_once(" ::= ").unwrap_or_else(|| panic!("{line}"));
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
            assert!(
                name.chars().all(is_name)
                    && !name.starts_with(|first: char| first.is_ascii_digit()),
                "{name}"
            );
            let mut letters = Letters { letters: body.chars().collect(), at: 0 };
            let expr = letters.any();
            assert_eq!(letters.peek(), None, "{line}");
            assert!(rules.insert(name.to_owned(), expr).is_none(), "{name} stands twice");
        }
        let mut own = Self { rules, depths: BTreeMap::new() };
        loop {
            let depth = |(name, expr): (&String, &Expr)| Some((name.clone(), own.depth(expr)? + 1));
            let depths: BTreeMap<_, _> = own.rules.iter().filter_map(depth).collect();
            if depths == own.depths {
                break;
            }
            own.depths = depths;
        }
        let missing: Vec<_> =
            own.rules.keys().filter(|name| !own.depths.contains_key(*name)).collect();
        assert!(missing.is_empty(), "{missing:?} never end: {text}");
        own
    }

    /// How deep the shortest sentence of `expr` is, where that is known.
    pub(crate) fn depth(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Text(_) | Expr::Class(..) | Expr::Repeat(_, 0, _) => Some(0),
            Expr::Rule(name) => {
                assert!(self.rules.contains_key(name), "no rule {name}");
                self.depths.get(name).copied()
            }
            Expr::All(all) => all
                .iter()
                .map(|one| self.depth(one))
                .try_fold(0, |most, depth| Some(most.max(depth?))),
            Expr::Any(any) => any.iter().filter_map(|one| self.depth(one)).min(),
            Expr::Repeat(inner, ..) => self.depth(inner),
        }
    }
}

/// Whether a text is a sentence of a grammar.
pub(crate) fn accepts(ebnf: &Ebnf, text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let mut known = BTreeMap::new();
    let root = Expr::Rule("root".to_owned());
    ends(ebnf, &root, &letters, 0, &mut known).contains(&letters.len())
}

/// Where what `expr` stands for may end, if it begins at `at`.
fn ends<'e>(
    ebnf: &'e Ebnf,
    expr: &'e Expr,
    letters: &[char],
    at: usize,
    known: &mut BTreeMap<(&'e str, usize), BTreeSet<usize>>,
) -> BTreeSet<usize> {
    match expr {
        Expr::Text(text) => {
            let len = text.chars().count();
            let stands = letters[at..].iter().take(len).copied().eq(text.chars());
            stands.then_some(at + len).into_iter().collect()
        }
        Expr::Class(ranges, negated) => {
            let has = |letter: &char| ranges.iter().any(|(from, to)| (from..=to).contains(&letter));
            let stands = letters.get(at).is_some_and(|letter| has(letter) != *negated);
            stands.then_some(at + 1).into_iter().collect()
        }
        Expr::Rule(name) => {
            // No rule begins with itself.
            if let Some(ends) = known.get(&(name.as_str(), at)) {
                return ends.clone();
            }
            let all = ends(ebnf, &ebnf.rules[name], letters, at, known);
            known.insert((name, at), all.clone());
            all
        }
        Expr::All(all) => all.iter().fold(BTreeSet::from([at]), |from, one| {
            from.into_iter().flat_map(|at| ends(ebnf, one, letters, at, known)).collect()
        }),
        Expr::Any(any) => any.iter().flat_map(|one| ends(ebnf, one, letters, at, known)).collect(),
        Expr::Repeat(inner, from, to) => {
            let (mut all, mut last) = (BTreeSet::new(), BTreeSet::from([at]));
            for count in 0..=to.unwrap_or(usize::MAX) {
                if count >= *from {
                    last.retain(|at| all.insert(*at));
                }
                if last.is_empty() {
                    break;
                }
                last = last.iter().flat_map(|at| ends(ebnf, inner, letters, *at, known)).collect();
            }
            all
        }
    }
}

struct Letters {
    letters: Vec<char>,
    at: usize,
}

impl Letters {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.letters[self.at - 1]
    }

    fn blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn any(&mut self) -> Expr {
        let mut ways = vec![self.all()];
        while self.peek() == Some('|') {
            self.at += 1;
            ways.push(self.all());
        }
        if ways.len() == 1 { ways.remove(0) } else { Expr::Any(ways) }
    }

    fn all(&mut self) -> Expr {
        let mut parts = Vec::new();
        self.blanks();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            let part = self.one();
            parts.push(self.repeated(part));
            self.blanks();
        }
        assert!(!parts.is_empty(), "an empty way");
        if parts.len() == 1 { parts.remove(0) } else { Expr::All(parts) }
    }

    fn one(&mut self) -> Expr {
        match self.next() {
            '(' => {
                let inner = self.any();
                assert_eq!(self.next(), ')');
                inner
            }
            '"' => {
                let mut text = String::new();
                while self.peek() != Some('"') {
                    text.push(self.letter());
                }
                self.at += 1;
                Expr::Text(text)
            }
            '[' => {
                let negated = self.peek() == Some('^');
                self.at += usize::from(negated);
                let mut ranges = Vec::new();
                while self.peek() != Some(']') {
                    let from = self.letter();
                    let is_range = self.peek() == Some('-') && self.letters[self.at + 1] != ']';
                    self.at += usize::from(is_range);
                    let to = if is_range { self.letter() } else { from };
                    ranges.push((from, to));
                }
                self.at += 1;
                Expr::Class(ranges, negated)
            }
            first => {
                let mut name = first.to_string();
                while self.peek().is_some_and(|next| next.is_ascii_alphanumeric() || next == '-') {
                    name.push(self.next());
                }
                assert!(first.is_ascii_alphabetic(), "{name}");
                Expr::Rule(name)
            }
        }
    }

    fn letter(&mut self) -> char {
        let letter = self.next();
        if letter != '\\' {
            return letter;
        }
        match self.next() {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            kind @ ('u' | 'U') => {
                let digits = if kind == 'u' { 4 } else { 8 };
                let code: String = (0..digits).map(|_| self.next()).collect();
                char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap()
            }
            other => {
                assert!("\"\\/-[]^".contains(other), "an unknown escape {other}");
                other
            }
        }
    }

    fn repeated(&mut self, inner: Expr) -> Expr {
        let (from, to) = match self.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => {
                self.at += 1;
                let mut text = String::new();
                while self.peek() != Some('}') {
                    text.push(self.next());
                }
                let (from, to) = text.split_once(',').unwrap_or((&text, &text));
                (from.parse().unwrap(), to.parse().ok())
            }
            _ => return inner,
        };
        self.at += 1;
        Expr::Repeat(Box::new(inner), from, to)
    }
}
