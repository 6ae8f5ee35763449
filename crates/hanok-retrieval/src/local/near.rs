//! The nearest vectors of a space, by its graph, and the files of graphs.

use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
    path::Path,
    sync::PoisonError,
};

use hanok_checkpoint::{Space, Vector};

use super::{
    approximate::Approximate,
    graph::Graph,
    vectors::{Slab, Vectors},
};
use crate::nearest::Nearest;

/// Fewer vectors are all compared.
pub(super) const LEAST: usize = 5_000;

/// With a filter that lets through less than one in so many vectors, these are all compared.
const FEW: usize = 8;

/// What the name of a graph's file ends with.
const FILE: &str = ".near";

impl Slab {
    /// The `count` most like `asked`, of `among` alone, where it is given; one may be missed. `None` where all have to be
    /// compared.
    pub(super) fn near(
        &self,
        asked: &Vector,
        among: Option<&[u64]>,
        count: usize,
        lowest: f32,
        approximate: Approximate,
    ) -> Option<Vec<(u64, f32)>> {
        let (wanted, all) =
            (approximate.wanted(count), among.map_or(self.keys.len(), <[u64]>::len));
        if all < LEAST.max(self.keys.len() / FEW) || wanted > all / 4 {
            return None;
        }
        // While it is brought up to date, nobody waits for it.
        let held = self.graph.try_read().ok()?;
        let graph = held.as_ref().filter(|graph| graph.behind.len() <= all / 4)?;
        let among: Option<HashSet<u64>> = among.map(|among| among.iter().copied().collect());
        let mut near: HashSet<u64> =
            graph.near(asked.numbers(), wanted, among.as_ref())?.into_iter().collect();
        let allowed = |key: &&u64| among.as_ref().is_none_or(|among| among.contains(key));
        near.extend(graph.behind.iter().filter(allowed));
        let (mut found, mut compared) = (Nearest::new(count, lowest), 0);
        for (key, numbers) in near.into_iter().filter_map(|key| Some((key, self.get(key)?))) {
            found.offer(key, asked.similarity_to(numbers));
            compared += 1;
        }
        // So few that there may be others.
        (compared >= wanted / 2).then(|| found.told())
    }

    /// Notes that the vector of that key came or went.
    pub(super) fn changed(&mut self, key: u64) {
        if let Some(graph) = self.graph.get_mut().unwrap_or_else(PoisonError::into_inner) {
            graph.behind.insert(key);
        }
    }

    /// Brings the graph up to date, or makes it.
    fn settle(&self) {
        let mut held = self.graph.write().unwrap_or_else(PoisonError::into_inner);
        let graph = held.take();
        // One that just grew large enough may soon be a little smaller again.
        if self.keys.len() < LEAST && (graph.is_none() || self.keys.len() < LEAST / 2) {
            return;
        }
        let vectors = self.numbers.chunks_exact(self.space.dimensions.max(1));
        *held = graph.and_then(|graph| graph.settled(|key| self.get(key))).or_else(|| {
            Graph::build(self.space.dimensions, self.keys.iter().copied().zip(vectors))
        });
    }

    /// Takes over the graph of a file, whatever vectors this was of. One that is not whole is passed over.
    fn load(&mut self, folder: &Path) {
        let bytes = fs::read(folder.join(name(&self.space))).unwrap_or_default();
        let mut graph = Graph::from_bytes(&bytes, self.space.dimensions);
        graph.iter_mut().for_each(|graph| graph.compare(&self.keys));
        *self.graph.get_mut().unwrap_or_else(PoisonError::into_inner) = graph;
    }
}

impl Vectors {
    /// From now on these are found by graphs; those whose files are in `folder` need not be made.
    pub(super) fn approximate(&mut self, approximate: Approximate, folder: &Path) {
        self.approximate = Some(approximate);
        self.slabs.iter_mut().for_each(|slab| slab.load(folder));
        self.settle();
    }

    /// Brings the graphs up to date. Searches of the time compare all.
    pub(super) fn settle(&self) {
        if self.approximate.is_some() {
            self.slabs.iter().for_each(Slab::settle);
        }
    }

    /// Writes the graphs to `folder` that changed much, or at all, when the store is `closing`. What cannot be written is
    /// made again at opening.
    pub(super) fn save(&self, folder: &Path, closing: bool) {
        if self.approximate.is_none() {
            return;
        }
        let mut names = BTreeSet::new();
        for slab in &self.slabs {
            let held = slab.graph.read().unwrap_or_else(PoisonError::into_inner);
            let Some(graph) = held.as_ref() else { continue };
            let name = name(&slab.space);
            if graph.is_due(closing) && write(folder, &name, graph).is_ok() {
                graph.was_saved();
            }
            names.insert(name);
        }
        if closing {
            drop(clean(folder, |name| names.contains(name)));
        }
    }
}

fn write(folder: &Path, name: &str, graph: &Graph) -> io::Result<()> {
    let beside = folder.join(format!(".tmp-{name}"));
    let bytes = graph.to_bytes().ok_or_else(|| io::Error::other("the graph cannot be written"))?;
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, folder.join(name)));
    if written.is_err() {
        drop(fs::remove_file(&beside));
    }
    written
}

/// Removes the graphs that do not stay.
fn clean(folder: &Path, stays: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let ours = |name: &&str| name.len() == 32 + FILE.len() && name.ends_with(FILE);
        if name.to_str().filter(ours).is_some_and(|name| !stays(name)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The name of the file with the graph of a space. By it, it is a file of the index.
fn name(space: &Space) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(space.dimensions as u64).to_le_bytes()).update(space.model.as_bytes());
    hasher.finalize().to_hex().chars().take(32).chain(FILE.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::vectors::Kept;

    const COUNT: u64 = 6_000;

    /// One that follows from its key.
    fn vector(key: u64) -> Vector {
        let mut seed = key.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let numbers = std::iter::repeat_with(|| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
        });
        Vector::new(&numbers.skip(8).take(64).collect::<Vec<_>>()).unwrap()
    }

    fn questions() -> impl Iterator<Item = Vector> {
        (0..50).map(|number| vector(1 << 40 | number))
    }

    fn put(vectors: &mut Vectors, keys: impl IntoIterator<Item = u64>) {
        keys.into_iter().for_each(|key| vectors.put(key, &Kept::from(&vector(key))));
    }

    /// Vectors that were there before, of which there may be a graph in `folder`.
    fn opened(keys: impl IntoIterator<Item = u64>, folder: &Path) -> Vectors {
        let mut vectors = Vectors::default();
        put(&mut vectors, keys);
        vectors.approximate(Approximate::new(), folder);
        vectors
    }

    /// The share of the ten nearest that is found. What is found is there, and has its own score.
    fn recall(vectors: &mut Vectors, among: impl Fn(&Vector) -> Option<Vec<u64>>) -> f64 {
        let (approximate, mut both) = (vectors.approximate, 0);
        for asked in questions() {
            let among = among(&asked);
            let mut find = |approximate| {
                vectors.approximate = approximate;
                vectors.nearest(&asked, among.as_deref(), 10, -1.0).unwrap()
            };
            let (want, found) = (find(None), find(approximate));
            assert_eq!((want.len(), found.len()), (10, 10));
            for (key, similarity) in &found {
                assert_eq!(*similarity, asked.similarity(&vector(*key)));
                assert!(among.as_ref().is_none_or(|among| among.contains(key)));
            }
            assert!(found.is_sorted_by(|a, b| a.1 >= b.1), "{found:?}");
            both += found.iter().filter(|found| want.contains(found)).count();
        }
        both as f64 / 500.0
    }

    fn shown(vectors: &Vectors) -> String {
        format!("{:?}", vectors.slabs[0].graph)
    }

    fn nowhere() -> &'static Path {
        Path::new("/nowhere")
    }

    #[test]
    fn a_graph_finds_nearly_all_that_a_scan_finds() {
        let mut vectors = opened(0..COUNT, nowhere());
        let found = recall(&mut vectors, |_| None);
        assert!(found >= 0.95, "{found}");
        vectors.approximate = Some(Approximate::new().breadth(16));
        let narrow = recall(&mut vectors, |_| None);
        assert!(narrow > 0.3 && narrow < found, "{narrow}");
        vectors.approximate = Some(Approximate::new().breadth(1_024));
        assert!(recall(&mut vectors, |_| None) > 0.999);

        let mut few = opened(0..LEAST as u64 - 1, nowhere());
        few.approximate = Some(Approximate::new().breadth(16));
        assert_eq!(recall(&mut few, |_| None), 1.0, "{few:?}");
        assert!(shown(&few).contains("None"));
    }

    #[test]
    fn a_filter_takes_from_the_graph_what_it_lets_through_and_loses_nothing_of_few() {
        let mut vectors = opened(0..COUNT, nowhere());
        vectors.approximate = Some(Approximate::new().breadth(16));
        for few in [40, 1_000, 4_999] {
            let few: Vec<u64> = (0..COUNT).rev().take(few).collect();
            assert_eq!(recall(&mut vectors, |_| Some(few.clone())), 1.0);
        }
        vectors.approximate = Some(Approximate::new());
        // All but the nearest, between which the way goes.
        let far = |asked: &Vector| {
            let mut keys: Vec<u64> = (0..COUNT).collect();
            keys.sort_by_cached_key(|key| (asked.similarity(&vector(*key)) * 1e6) as i32);
            keys.truncate(5_500);
            Some(keys)
        };
        let found = recall(&mut vectors, far);
        assert!(found >= 0.9, "{found}");
    }

    #[test]
    fn what_comes_is_found_and_what_goes_is_not_whether_or_not_the_graph_knows() {
        let mut vectors = opened(0..COUNT, nowhere());
        for round in 0..3 {
            let (gone, new) = (round * 700..(round + 1) * 700, COUNT + round * 700);
            gone.clone().for_each(|key| vectors.remove(key));
            put(&mut vectors, new..new + 700);
            put(&mut vectors, gone.clone().step_by(7));
            for settled in [false, true] {
                if settled {
                    vectors.settle();
                }
                let found = recall(&mut vectors, |_| None);
                assert!(found >= 0.95, "{round}, {settled}: {found}");
                for key in gone.clone() {
                    let [(found, _)] = vectors.nearest(&vector(key), None, 1, -1.0).unwrap()[..]
                    else {
                        panic!("{key}")
                    };
                    assert_eq!(found == key, (key - gone.start) % 7 == 0, "{key}, {settled}");
                }
            }
            // The third time too much went.
            let removed = format!("removed: {}", [600, 1_200, 0][round as usize]);
            assert!(shown(&vectors).contains(&removed), "{removed}: {}", shown(&vectors));
        }
        vectors.retain(|key| key % 7 == 1);
        vectors.settle();
        assert!(shown(&vectors).contains("None"), "few are left");
    }

    /// Whatever is in the file, or is not, what is found is the same, or as good.
    #[test]
    fn a_file_is_taken_over_brought_up_to_date_or_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut vectors = opened(0..COUNT, folder.path());
        (0..50).for_each(|key| vectors.remove(key));
        vectors.settle();
        vectors.save(folder.path(), false);
        let file = folder.path().join(name(&vector(0).space()));
        let whole = fs::read(&file).unwrap();
        let find = |vectors: &Vectors| -> Vec<_> {
            questions().map(|asked| vectors.nearest(&asked, None, 10, -1.0).unwrap()).collect()
        };
        let again = opened(50..COUNT, folder.path());
        assert!(shown(&again).contains("removed: 50"), "it is the same: {}", shown(&again));
        assert_eq!(find(&again), find(&vectors));
        again.save(folder.path(), true);
        assert!(fs::read(&file).unwrap() == whole, "nothing changed");

        let mut newer = opened(100..COUNT + 30, folder.path());
        assert!(shown(&newer).contains("removed: 100"), "it followed: {}", shown(&newer));
        assert!(recall(&mut newer, |_| None) >= 0.95);

        for at in (0..whole.len()).step_by(whole.len() / 199).chain(0..200) {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            assert!(Graph::from_bytes(&damaged, 64).is_none(), "byte {at}");
            assert!(Graph::from_bytes(&whole[..at], 64).is_none(), "{at} bytes");
        }
        assert!(Graph::from_bytes(&whole, 32).is_none(), "of another space");
        for damage in [&whole[..whole.len() / 2], b"mine"] {
            fs::write(&file, damage).unwrap();
            let mut made = opened(50..COUNT, folder.path());
            assert!(shown(&made).contains("removed: 0"), "{}", shown(&made));
            assert!(recall(&mut made, |_| None) >= 0.95);
        }
        let few = opened(0..9, folder.path());
        few.save(folder.path(), true);
        assert!(!file.exists(), "of a graph that is not needed any more");
    }
}
