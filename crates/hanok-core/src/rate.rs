//! What successes and failures say of a rate.

/// The quantile of the normal distribution for 95 % on both sides.
const Z: f64 = 1.959_963_984_540_054;

/// The lower and the upper bound of the rate of success, by Wilson's interval at 95 % (E. B. Wilson, "Probable Inference, the Law of
/// Succession, and Statistical Inference", 1927); `None` without one of either.
///
/// ```
/// use hanok_core::rate_bounds;
///
/// assert_eq!(rate_bounds(0, 0), None);
/// let (lower, upper) = rate_bounds(90, 10).ok_or("some")?;
/// assert!(lower > 0.8 && upper < 0.95);
/// # Ok::<(), &str>(())
/// ```
pub fn rate_bounds(successes: u64, failures: u64) -> Option<(f64, f64)> {
    let count = successes.saturating_add(failures) as f64;
    if count == 0.0 {
        return None;
    }
    let (rate, square) = (successes as f64 / count, Z * Z);
    let spread = Z * (rate * (1.0 - rate) / count + square / (4.0 * count * count)).sqrt();
    let (middle, scale) = (rate + square / (2.0 * count), 1.0 + square / count);
    Some((((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0)))
}
