//! The lines of one page, by where its content stream shows text (ISO 32000-1, 9.4).

use std::{collections::BTreeMap, rc::Rc};

use lopdf::{
    Document, Object, ObjectId,
    content::{Content, Operation},
};

use super::{Encodings, MAX_STREAM, cmap::Coding, lines::Line};

/// The encodings of a document's fonts, each parsed once.
pub(crate) struct Fonts<'a> {
    pdf: &'a Document,
    known: Encodings<'a>,
}

type PageFonts<'a> = BTreeMap<Vec<u8>, Rc<Coding<'a>>>;

impl<'a> Fonts<'a> {
    pub(crate) fn new(pdf: &'a Document) -> Self {
        Self { pdf, known: Encodings::new() }
    }

    fn of(&mut self, page: ObjectId) -> lopdf::Result<PageFonts<'a>> {
        let pdf = self.pdf;
        let fonts = pdf.get_page_fonts(page)?;
        let encoding = |(name, font): (Vec<u8>, &'a lopdf::Dictionary)| {
            // A font whose encoding cannot be read shows nothing; the page's other fonts do.
            let parse = || Coding::of(font, pdf).map(Rc::new);
            let known = self.known.entry(std::ptr::from_ref(font));
            let encoding = known.or_insert_with(parse).clone();
            encoding.map(|encoding| (name, encoding))
        };
        Ok(fonts.into_iter().filter_map(encoding).collect())
    }
}

/// An affine map: (x, y) to (a x + c y + e, b x + d y + f).
#[derive(Debug, Clone, Copy)]
struct Matrix {
    a: f32,
    b: f32,
    c: f32,
    d: f32,
    e: f32,
    f: f32,
}

impl Matrix {
    const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    fn shift(e: f32, f: f32) -> Self {
        Self { e, f, ..Self::IDENTITY }
    }

    fn read(operands: &[Object]) -> Option<Self> {
        let [a, b, c, d, e, f] = operands else { return None };
        let number = |object: &Object| object.as_float().ok();
        Some(Self {
            a: number(a)?,
            b: number(b)?,
            c: number(c)?,
            d: number(d)?,
            e: number(e)?,
            f: number(f)?,
        })
    }

    /// First `self`, then `next`.
    fn then(self, next: Self) -> Self {
        Self {
            a: self.a * next.a + self.b * next.c,
            b: self.a * next.b + self.b * next.d,
            c: self.c * next.a + self.d * next.c,
            d: self.c * next.b + self.d * next.d,
            e: self.e * next.a + self.f * next.c + next.e,
            f: self.e * next.b + self.f * next.d + next.f,
        }
    }
}

/// How many graphics states a page may save. Real pages nest a handful.
const MAX_SAVED: usize = 256;

/// Reads pages one at a time.
pub(crate) struct Page<'a, 'f> {
    pdf: &'a Document,
    fonts: &'f mut Fonts<'a>,
    saved: Vec<Matrix>,
    /// Of the page.
    base: Matrix,
    /// Of the line's start, and of the next character.
    line: Matrix,
    text: Matrix,
    size: f32,
    leading: f32,
    encoding: Option<Rc<Coding<'a>>>,
    lines: Vec<Line>,
    /// The baseline of the last line.
    y: f32,
}

impl<'a, 'f> Page<'a, 'f> {
    pub(crate) fn new(pdf: &'a Document, fonts: &'f mut Fonts<'a>) -> Self {
        Self {
            pdf,
            fonts,
            saved: Vec::new(),
            base: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            text: Matrix::IDENTITY,
            size: 1.0,
            leading: 0.0,
            encoding: None,
            lines: Vec::new(),
            y: 0.0,
        }
    }

    /// The lines of the page `id`, in the order in which it draws them.
    pub(crate) fn lines(mut self, id: ObjectId) -> lopdf::Result<Vec<Line>> {
        let fonts = self.fonts.of(id)?;
        let bytes = self.pdf.get_page_content_with_limit(id, MAX_STREAM)?;
        for operation in &Content::decode(&bytes)?.operations {
            self.apply(operation, &fonts);
        }
        Ok(self.lines)
    }

    fn apply(&mut self, operation: &Operation, fonts: &PageFonts<'a>) {
        let operands = operation.operands.as_slice();
        match (operation.operator.as_str(), operands) {
            ("q", _) if self.saved.len() < MAX_SAVED => self.saved.push(self.base),
            ("Q", _) => self.base = self.saved.pop().unwrap_or(self.base),
            ("cm", _) => {
                if let Some(matrix) = Matrix::read(operands) {
                    self.base = matrix.then(self.base);
                }
            }
            ("BT", _) => self.place(Matrix::IDENTITY),
            ("Tf", [name, size]) => {
                self.encoding = name.as_name().ok().and_then(|name| fonts.get(name).cloned());
                self.size = size.as_float().unwrap_or(self.size);
            }
            ("TL", [leading]) => self.leading = leading.as_float().unwrap_or(self.leading),
            ("Tm", _) => {
                if let Some(matrix) = Matrix::read(operands) {
                    self.place(matrix);
                }
            }
            ("Td", [x, y]) => self.shift(x, y),
            ("TD", [x, y]) => {
                self.leading = y.as_float().map_or(self.leading, |y| -y);
                self.shift(x, y);
            }
            ("T*", _) => self.next_line(),
            ("Tj" | "TJ", [shown]) => self.show(shown),
            ("'", [shown]) | ("\"", [_, _, shown]) => {
                self.next_line();
                self.show(shown);
            }
            _ => {}
        }
    }

    fn place(&mut self, matrix: Matrix) {
        self.line = matrix;
        self.text = matrix;
    }

    fn shift(&mut self, x: &Object, y: &Object) {
        if let (Ok(x), Ok(y)) = (x.as_float(), y.as_float()) {
            self.place(Matrix::shift(x, y).then(self.line));
        }
    }

    fn next_line(&mut self) {
        self.place(Matrix::shift(0.0, -self.leading).then(self.line));
    }

    fn show(&mut self, shown: &Object) {
        let text = self.decode(shown);
        if text.is_empty() {
            return;
        }
        let at = self.text.then(self.base);
        let width = text.chars().map(em).sum::<f32>() * self.size;
        self.text = Matrix::shift(width, 0.0).then(self.text);
        let end = self.text.then(self.base).e;
        let height = (at.c.hypot(at.d) * self.size).abs();

        match self.lines.last_mut() {
            Some(line) if (at.f - self.y).abs() < height * 0.4 => {
                // Widths are guesses, so the longer the line, the wider a gap must be.
                let gap = at.e - line.end;
                if gap > height * 0.2 + (line.end * 0.02).abs() && !line.text.ends_with(' ') {
                    line.text.push(' ');
                }
                line.text.push_str(&text);
                line.end = end;
            }
            last => {
                let step = if last.is_some() { self.y - at.f } else { 0.0 };
                self.lines.push(Line { text, step, end });
                self.y = at.f;
            }
        }
    }

    fn decode(&self, shown: &Object) -> String {
        let mut text = String::new();
        let Some(encoding) = &self.encoding else { return text };
        let parts = match shown {
            Object::Array(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        for part in parts {
            match part {
                Object::String(bytes, _) => {
                    // A string that its font cannot decode is left out, not the whole page.
                    if let Some(piece) = encoding.decode(bytes) {
                        text.push_str(&piece);
                    }
                }
                // Thousandths of an em; kerning moves less, a space between words more.
                number if number.as_float().is_ok_and(|moved| moved < -180.0) => text.push(' '),
                _ => {}
            }
        }
        text
    }
}

/// How wide a character is, in em, where the font is not asked: near enough to tell a full line
/// from a short one.
fn em(c: char) -> f32 {
    match c {
        ' ' => 0.3,
        _ if c.is_ascii() => 0.52,
        _ => 0.92,
    }
}
