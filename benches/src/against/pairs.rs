//! Pairs of processes: one of each build, right after each other, so that both find the machine as busy.

use crate::Result;

/// Whose process it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Build {
    /// The build that this one is compared with.
    Base,
    /// This build.
    Tree,
}

/// The figures of one process of each build.
#[derive(Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) base: Vec<f64>,
    pub(super) tree: Vec<f64>,
}

/// The order in pair `number`, counted from 0. It alternates, so that neither build gains by always being the second.
fn order(number: usize) -> [Build; 2] {
    match number % 2 {
        0 => [Build::Base, Build::Tree],
        _ => [Build::Tree, Build::Base],
    }
}

/// Has `measure` run so many pairs, one process after the other.
///
/// # Errors
///
/// The first error of `measure`.
pub(super) fn measured(
    pairs: usize,
    measure: &mut impl FnMut(Build) -> Result<Vec<f64>>,
) -> Result<Vec<Pair>> {
    let mut pair = |number| {
        let mut pair = Pair { base: Vec::new(), tree: Vec::new() };
        for build in order(number) {
            let figures = measure(build)?;
            match build {
                Build::Base => pair.base = figures,
                Build::Tree => pair.tree = figures,
            }
        }
        Ok(pair)
    };
    (0..pairs).map(&mut pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_alternate_in_their_order() {
        use Build::{Base, Tree};
        let mut order = Vec::new();
        let pairs = measured(3, &mut |build| {
            order.push(build);
            Ok(vec![if build == Base { 1.0 } else { 2.0 }])
        });
        assert_eq!(order, [Base, Tree, Tree, Base, Base, Tree]);
        let pair = || Pair { base: vec![1.0], tree: vec![2.0] };
        assert_eq!(pairs.unwrap(), [pair(), pair(), pair()]);
    }
}
