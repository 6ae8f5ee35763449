//! Damaged and hostile PDFs cost their file, never the caller.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use crate::options;
use hanok_documents::{Library, LoadOptions, SkipReason};
use lopdf::{Document, Object, Stream, dictionary};

const SAMPLE: &[u8] = include_bytes!("../samples/정보보안지침.pdf");

/// Xorshift (Marsaglia 2003): the same damage on every machine.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// Bytes changed, a piece doubled, a piece cut out, or the end cut off.
fn damaged(whole: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let at = rng.below(bytes.len());
    let until = (at + 1 + rng.below(400)).min(bytes.len());
    match rng.below(8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..until)),
        2 => {
            let piece = bytes[at..until].to_vec();
            bytes.splice(at..at, piece);
        }
        _ => {
            for _ in 0..1 + rng.below(40) {
                let at = rng.below(bytes.len());
                bytes[at] = u8::try_from(rng.below(256)).unwrap();
            }
        }
    }
    bytes
}

/// The sample with its streams laid open, so that damage meets structure and not only zlib, and
/// without the fonts, whose bytes nothing reads.
fn plain() -> Vec<u8> {
    let mut pdf = Document::load_mem(SAMPLE).unwrap();
    pdf.decompress();
    for object in pdf.objects.values_mut() {
        if let Object::Stream(stream) = object
            && stream.content.len() > 20_000
            && stream.dict.has(b"Length1")
        {
            stream.set_content(vec![0; 16]);
        }
    }
    let mut bytes = Vec::new();
    pdf.save_to(&mut bytes).unwrap();
    bytes
}

fn open(folder: &Path, options: LoadOptions) -> Library {
    Library::open(options, folder).unwrap()
}

fn skip_of(bytes: &[u8], options: LoadOptions) -> Option<SkipReason> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pdf"), bytes).unwrap();
    open(folder.path(), options).report().skipped.first().map(|skipped| skipped.reason.clone())
}

#[test]
fn three_hundred_damaged_copies_are_text_or_a_reason_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng(0x9E37_79B9_7F4A_7C15);
    for (name, whole, copies) in [("packed", SAMPLE, 100), ("plain", &plain(), 220)] {
        for copy in 0..copies {
            let path = folder.path().join(format!("{name}{copy:03}.pdf"));
            fs::write(path, damaged(whole, &mut rng)).unwrap();
        }
    }

    let began = Instant::now();
    let library = open(folder.path(), options());
    let report = library.report();
    println!("{} read, {} skipped, {:?}", report.documents, report.skipped.len(), began.elapsed());
    assert_eq!(report.documents + report.skipped.len(), 320);
    for skipped in &report.skipped {
        assert!(!skipped.reason.to_string().contains("panicked"), "{skipped}");
    }
}

/// A PDF of `pages` pages that all show `content`.
fn pdf(content: Stream, pages: usize) -> Vec<u8> {
    let mut pdf = Document::with_version("1.5");
    let tree = pdf.new_object_id();
    let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" };
    let font = pdf.add_object(font);
    let resources = pdf.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let content = pdf.add_object(content);
    let kids: Vec<Object> = (0..pages)
        .map(|_| {
            let page = dictionary! {
                "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
            };
            pdf.add_object(page).into()
        })
        .collect();
    let count = i64::try_from(pages).unwrap();
    let root = dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count };
    pdf.objects.insert(tree, Object::Dictionary(root));
    let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    pdf.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    pdf.save_to(&mut bytes).unwrap();
    bytes
}

fn shown(content: &str) -> Stream {
    Stream::new(dictionary! {}, content.as_bytes().to_vec())
}

#[test]
fn every_limit_is_a_reason() {
    let text = pdf(shown("BT /F1 12 Tf 72 700 Td (Leave policy) Tj ET"), 3);
    let limited = options();
    let slow = Duration::ZERO;
    let size = u64::try_from(text.len()).unwrap() - 1;
    for (name, bytes, options, want) in [
        ("whole", text.clone(), limited.clone(), None),
        (
            "pages",
            text.clone(),
            limited.clone().max_pdf_pages(2),
            Some(SkipReason::TooManyPages { limit: 2 }),
        ),
        (
            "time",
            text.clone(),
            limited.clone().max_decode_time(slow),
            Some(SkipReason::TooSlow { limit: slow }),
        ),
        (
            "size",
            text.clone(),
            limited.clone().max_file_bytes(size),
            Some(SkipReason::TooLarge { limit: size }),
        ),
        ("scan", pdf(shown("q Q"), 1), limited.clone(), Some(SkipReason::Empty)),
    ] {
        assert_eq!(skip_of(&bytes, options), want, "{name}");
    }
    let damaged = skip_of(b"not a pdf at all", limited);
    assert!(matches!(damaged, Some(SkipReason::Damaged { .. })), "{damaged:?}");
}

#[test]
fn a_decompression_bomb_is_refused_before_it_grows() {
    let mut bomb = Stream::new(dictionary! {}, vec![b' '; 20 * 1024 * 1024]);
    bomb.compress().unwrap();
    let reason = skip_of(&pdf(bomb, 1), options());
    assert!(matches!(reason, Some(SkipReason::Damaged { .. })), "{reason:?}");
}

#[test]
fn lines_are_told_by_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, want) in [
        // One block, moved with Td: extractors that look at blocks only glue these lines.
        (
            "td",
            "BT /F1 10 Tf 72 700 Td (The quick brown fox jumps over the lazy) Tj 0 -12 Td (dog and sleeps.) Tj 0 -40 Td (Next.) Tj ET",
            "The quick brown fox jumps over the lazy dog and sleeps.\n\nNext.",
        ),
        // Words placed one by one on a line, and a word in two pieces.
        (
            "tm",
            "BT /F1 10 Tf 1 0 0 1 72 700 Tm (Annual) Tj 1 0 0 1 130 700 Tm (lea) Tj (ve) Tj [( is) -300 (paid)] TJ ET",
            "Annual leave is paid",
        ),
        (
            "quote",
            "BT /F1 10 Tf 14 TL 72 700 Td (First) Tj (- second) ' (- third) ' ET",
            "First\n- second\n- third",
        ),
    ] {
        fs::write(folder.path().join("a.pdf"), pdf(shown(content), 1)).unwrap();
        let library = open(folder.path(), options());
        let text = library.documents().next().map(|document| document.text.clone());
        assert_eq!(text.as_deref(), Some(want), "{name}");
    }
}

/// A page that shows `string` in a font that is not embedded, whose codes are those of the predefined map `encoding`.
fn with_predefined_map(encoding: &str, string: Vec<u8>) -> Vec<u8> {
    let mut pdf = Document::with_version("1.5");
    let pages = pdf.new_object_id();
    let descendant = pdf.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "CIDFontType0", "BaseFont" => "HYSMyeongJo-Medium",
        "CIDSystemInfo" => dictionary! {
            "Registry" => Object::string_literal("Adobe"), "Ordering" => Object::string_literal("Korea1"), "Supplement" => 1,
        },
    });
    let font = pdf.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "HYSMyeongJo-Medium", "Encoding" => encoding,
        "DescendantFonts" => vec![descendant.into()],
    });
    let shown = string.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    let content = format!("BT /F1 12 Tf 72 700 Td <{shown}> Tj ET");
    let content = pdf.add_object(Stream::new(dictionary! {}, content.into_bytes()));
    let page = pdf.add_object(dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content,
        "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
        "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
    });
    let tree = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
    pdf.objects.insert(pages, Object::Dictionary(tree));
    let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    pdf.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    pdf.save_to(&mut bytes).unwrap();
    bytes
}

#[test]
fn korean_in_a_font_that_is_not_embedded_is_read() {
    let text = "제3조(세척) 물통은 사흘마다 세척한다.";
    let unicode = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let legacy = encoding_rs::EUC_KR.encode(text).0.into_owned();
    for (encoding, string) in [("UniKS-UCS2-H", unicode), ("KSCms-UHC-H", legacy)] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.pdf"), with_predefined_map(encoding, string)).unwrap();
        let library = open(folder.path(), options());
        let hits = library.search("물통 세척", 1);
        assert!(hits[0].passage.text.contains("사흘마다"), "{encoding}: {hits:?}");
    }
}

#[test]
fn the_pdf_reads_as_the_text_it_was_made_from() {
    let made_from = include_str!("../../../../examples/rag/documents/정보보안지침.txt");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/정보보안지침.pdf");
    let pdf = hanok_documents::open(path, &options()).unwrap();

    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&pdf.text), words(made_from));

    // And line by line, but for one that ends where its page's lines do.
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let (read, made) = (lines(&pdf.text), lines(made_from));
    let whole = made.iter().filter(|line| read.contains(line)).count();
    assert!(whole * 100 >= made.len() * 95, "{whole} of {}", made.len());
}
