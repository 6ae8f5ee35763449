//! One crate by its files: what imports what, and where it goes round.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::circles;
use super::modules::Crate;

/// The circles of a crate with their arrows, and then all its arrows, for whoever takes a circle apart.
pub(super) fn listing(of: &Crate) -> String {
    let mut listing = String::new();
    for circle in circles::of_crate(of) {
        // Writing to a string cannot fail.
        let _ = writeln!(listing, "a circle of {} files", circle.len());
        arrows(of, &mut listing, |from, to| circle.contains(&from) && circle.contains(&to));
        listing.push('\n');
    }
    let _ = writeln!(listing, "all imports");
    arrows(of, &mut listing, |_, _| true);
    listing
}

fn arrows(of: &Crate, listing: &mut String, is_in: impl Fn(usize, usize) -> bool) {
    let mut files: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
    for arrow in of.arrows.iter().filter(|arrow| is_in(arrow.from, arrow.to)) {
        let of_file = files.entry(of.path_in_src(arrow.from)).or_default();
        let name = format!("{} ({})", arrow.name, arrow.line);
        of_file.entry(of.path_in_src(arrow.to)).or_default().push(name);
    }
    for (from, imports) in files {
        let _ = writeln!(listing, "  {from}");
        for (to, names) in imports {
            let _ = writeln!(listing, "    {to}: {}", names.join(", "));
        }
    }
}
