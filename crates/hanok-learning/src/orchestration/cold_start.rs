//! Trust in what was seen a few times only.

/// The multiplier for the confidence in what was seen `sample_count` times: 1.0 from five on, 0.7 for three and four, 0.5 for two,
/// 0.3 for one, 0.0 for none.
///
/// ```
/// use hanok_learning::calculate_confidence_multiplier;
///
/// assert_eq!([0, 1, 2, 3, 4, 5].map(calculate_confidence_multiplier), [0.0, 0.3, 0.5, 0.7, 0.7, 1.0]);
/// ```
pub fn calculate_confidence_multiplier(sample_count: u64) -> f64 {
    match sample_count {
        0 => 0.0,
        1 => 0.3,
        2 => 0.5,
        3 | 4 => 0.7,
        _ => 1.0,
    }
}

/// The confidence `raw` in what was seen `sample_count` times: raw × (0.7 + 0.3 × multiplier).
///
/// ```
/// use hanok_learning::adjusted_confidence;
///
/// assert_eq!(adjusted_confidence(1.0, 0), 0.7);
/// assert_eq!(adjusted_confidence(0.9, 5), 0.9);
/// ```
pub fn adjusted_confidence(raw: f64, sample_count: u64) -> f64 {
    raw * (0.7 + 0.3 * calculate_confidence_multiplier(sample_count))
}
