//! How good a list of places is. Each question has one passage that answers.

/// The places of the answers, `None` where it is not among the first ten.
#[derive(Debug, Default)]
pub(crate) struct Score {
    ranks: Vec<Option<usize>>,
}

impl Score {
    pub(crate) fn add(&mut self, rank: Option<usize>) {
        self.ranks.push(rank.filter(|rank| *rank <= 10));
    }

    pub(crate) fn count(&self) -> usize {
        self.ranks.len()
    }

    /// The share of answers among the first `k`.
    pub(crate) fn recall(&self, k: usize) -> f64 {
        self.mean(|rank| if rank <= k { 1.0 } else { 0.0 })
    }

    /// The normalised discounted cumulative gain of the first ten (Järvelin & Kekäläinen 2002).
    pub(crate) fn ndcg(&self) -> f64 {
        self.mean(|rank| 1.0 / (1.0 + rank as f64).log2())
    }

    /// The mean reciprocal rank within the first ten.
    pub(crate) fn mrr(&self) -> f64 {
        self.mean(|rank| 1.0 / rank as f64)
    }

    fn mean(&self, gain: impl Fn(usize) -> f64) -> f64 {
        let all: f64 = self.ranks.iter().flatten().map(|rank| gain(*rank)).sum();
        all / self.ranks.len().max(1) as f64
    }
}

/// How often a number of `with` is above one of `without`; equal ones count half. 0.5 is chance, 1 tells all apart.
pub(crate) fn told_apart(with: &[f32], without: &[f32]) -> f64 {
    let against = |one: &f32| {
        let point = |other: &f32| {
            if one > other {
                1.0
            } else if one < other {
                0.0
            } else {
                0.5
            }
        };
        without.iter().map(point).sum::<f64>()
    };
    with.iter().map(against).sum::<f64>() / (with.len() * without.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        let mut score = Score::default();
        [Some(1), Some(3), None, Some(11)].into_iter().for_each(|rank| score.add(rank));
        assert_eq!((score.count(), score.recall(1), score.recall(3)), (4, 0.25, 0.5));
        assert_eq!(score.ndcg(), (1.0 + 0.5) / 4.0);
        assert_eq!(score.mrr(), (1.0 + 1.0 / 3.0) / 4.0);
        assert_eq!(told_apart(&[0.9, 0.2], &[0.1, 0.2]), 0.875);
    }
}
