//! Lines of cells as a text in columns.

/// The `lines`, a column as wide as its widest cell. The first `left` columns begin at their left, the others end at their right.
pub(crate) fn aligned(lines: &[Vec<String>], left: usize) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<_> = (0..columns).map(|column| width(lines, column)).collect();
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The characters of the widest cell of `column`.
fn width(lines: &[Vec<String>], column: usize) -> usize {
    let cells = lines.iter().filter_map(|line| line.get(column));
    cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_wide_as_its_widest_cell() {
        let lines = [vec!["row", "µs", "x"], vec!["loop", "", "1.00"], vec!["keys"]];
        let lines = lines.map(|cells| cells.into_iter().map(str::to_owned).collect());
        assert_eq!(aligned(&lines, 2), "row   µs     x\nloop      1.00\nkeys");
        assert_eq!(aligned(&[], 2), "");
    }
}
