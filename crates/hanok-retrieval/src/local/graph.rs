//! Vectors as a graph in which near ones are neighbours: HNSW (Malkov and Yashunin 2016, arXiv:1603.09320), by usearch.

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

/// The first bytes of a file: what it is, and its form.
const MAGIC: &[u8; 8] = b"hanoknr1";

/// So many may search at once; another one compares all.
const SEARCHES: usize = 32;

/// A graph of the vectors of one space. Whatever usearch cannot do is `None`: the graph is made anew then.
pub(super) struct Graph {
    index: Index,
    keys: HashSet<u64>,
    /// What came or went, and the graph does not know it yet.
    pub(super) behind: BTreeSet<u64>,
    /// How many were removed. They stay in the graph as places, until others take these.
    removed: usize,
    /// How many changes its file does not have.
    unsaved: AtomicUsize,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Graph");
        shown.field("keys", &self.keys.len()).field("removed", &self.removed).finish()
    }
}

impl Graph {
    /// A graph of `vectors`, each of `dimensions` numbers.
    pub(super) fn build<'a>(
        dimensions: usize,
        vectors: impl ExactSizeIterator<Item = (u64, &'a [f32])>,
    ) -> Option<Self> {
        let mut graph = Self::of(empty(dimensions)?, HashSet::new(), 0);
        graph.reserve(vectors.len())?;
        for (key, numbers) in vectors {
            graph.add(key, numbers)?;
        }
        Some(graph)
    }

    fn of(index: Index, keys: HashSet<u64>, removed: usize) -> Self {
        Self { index, keys, behind: BTreeSet::new(), removed, unsaved: AtomicUsize::new(0) }
    }

    fn reserve(&self, capacity: usize) -> Option<()> {
        self.index.reserve_capacity_and_threads(capacity, SEARCHES).ok()
    }

    fn add(&mut self, key: u64, numbers: &[f32]) -> Option<()> {
        let taken = self.keys.len() + self.removed;
        if taken >= self.index.capacity() {
            self.reserve((taken + 1).next_power_of_two())?;
        }
        self.index.add(key, numbers).ok()?;
        self.keys.insert(key);
        *self.unsaved.get_mut() += 1;
        Some(())
    }

    fn remove(&mut self, key: u64) -> Option<()> {
        self.index.remove(key).ok()?;
        self.keys.remove(&key);
        self.removed += 1;
        *self.unsaved.get_mut() += 1;
        Some(())
    }

    /// Takes over what came and went; `get` has the vectors that are there. `None`, too, when too many went: it finds less with
    /// every one.
    pub(super) fn settled<'a>(mut self, get: impl Fn(u64) -> Option<&'a [f32]>) -> Option<Self> {
        for key in std::mem::take(&mut self.behind) {
            match (get(key), self.keys.contains(&key)) {
                (Some(numbers), false) => self.add(key, numbers)?,
                (None, true) => self.remove(key)?,
                _ => {}
            }
        }
        (self.removed <= self.keys.len() / 5).then_some(self)
    }

    /// The keys of about `wanted` vectors near `asked`, of `among` alone, where it is given.
    pub(super) fn near(
        &self,
        asked: &[f32],
        wanted: usize,
        among: Option<&HashSet<u64>>,
    ) -> Option<Vec<u64>> {
        let found = match among {
            None => self.index.search(asked, wanted),
            Some(among) => self.index.filtered_search(asked, wanted, |key| among.contains(&key)),
        };
        Some(found.ok()?.keys)
    }

    /// Whether so much changed that its file is written again: all files together stay in proportion to what was put.
    pub(super) fn is_due(&self, closing: bool) -> bool {
        let unsaved = self.unsaved.load(Ordering::Relaxed);
        unsaved * 2 > self.keys.len() || closing && unsaved > 0
    }

    pub(super) fn was_saved(&self) {
        self.unsaved.store(0, Ordering::Relaxed);
    }

    /// Says of every key that is not in both that it came or went.
    pub(super) fn compare(&mut self, keys: &[u64]) {
        let there: HashSet<u64> = keys.iter().copied().collect();
        self.behind = self.keys.symmetric_difference(&there).copied().collect();
    }

    /// As a file: what it is, a checksum, and how many were removed, the keys, and usearch's own form.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut graph = vec![0; self.index.serialized_length()];
        self.index.save_to_buffer(&mut graph).ok()?;
        let numbers = [self.removed as u64, self.keys.len() as u64];
        let numbers = numbers.into_iter().chain(self.keys.iter().copied());
        let head: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        let sum = checksum(&[&head, &graph]);
        Some([MAGIC, sum.as_bytes().as_slice(), &head, &graph].concat())
    }

    /// The graph of a file, unless a byte of it is not as it was written, or another version of usearch wrote it: usearch itself
    /// trusts what it reads.
    pub(super) fn from_bytes(bytes: &[u8], dimensions: usize) -> Option<Self> {
        let (sum, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<32>()?;
        if checksum(&[body]) != *sum {
            return None;
        }
        let (removed, rest) = number(body)?;
        let (count, rest) = number(rest)?;
        let (keys, graph) = rest.split_at_checked(count.checked_mul(8)?)?;
        let keys = keys.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
        let index = empty(dimensions)?;
        index.load_from_buffer(graph).ok()?;
        let fits = index.dimensions() == dimensions
            && index.size() == count
            && index.metric_kind() == MetricKind::IP
            && index.scalar_kind() == ScalarKind::F32;
        let graph = Self::of(index, keys, removed);
        let whole = fits && graph.keys.iter().all(|key| graph.index.contains(*key));
        graph.reserve(graph.index.capacity())?;
        whole.then_some(graph)
    }
}

/// A graph of nothing. The vectors have length 1, so that the inner product is the cosine.
fn empty(dimensions: usize) -> Option<Index> {
    let (metric, quantization) = (MetricKind::IP, ScalarKind::F32);
    let options = IndexOptions { dimensions, metric, quantization, ..IndexOptions::default() };
    Index::new(&options).ok()
}

fn checksum(parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(usearch::version().as_bytes());
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u64::from_le_bytes(*number)).ok()?, rest))
}
