//! The rooms of a crate: which file stands in which, and what imports upwards.

use std::collections::BTreeMap;

use super::finding::{Check, Finding};
use super::modules::{Arrow, Crate, is_root};
use super::plan::{self, Rooms};
use crate::fault::Fault;

/// The place of a file, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Room {
    /// `lib.rs` and the programs.
    Roof,
    /// The room of that place in the plan.
    Planned(usize),
    Ground,
}

impl Rooms {
    /// The room of a file by its path in `src`, none in a folder that the plan does not have.
    pub(super) fn room(&self, path: &str) -> Option<Room> {
        if is_root(path) {
            return Some(Room::Roof);
        }
        let (first, is_in_folder) = match path.split_once('/') {
            Some((folder, _)) => (folder, true),
            None => (path.trim_end_matches(".rs"), false),
        };
        match self.rooms.iter().position(|room| *room == first) {
            Some(place) => Some(Room::Planned(place)),
            None => (!is_in_folder).then_some(Room::Ground),
        }
    }

    pub(super) fn name(&self, room: Room) -> &'static str {
        match room {
            Room::Roof => "roof",
            Room::Planned(place) => self.rooms.get(place).copied().unwrap_or_default(),
            Room::Ground => "ground",
        }
    }

    /// The room at each end of an arrow.
    pub(super) fn ends(&self, of: &Crate, arrow: &Arrow) -> Option<(Room, Room)> {
        Some((self.room(of.path_in_src(arrow.from))?, self.room(of.path_in_src(arrow.to))?))
    }

    /// The number of imports from each room to each other one; those of the roof are not counted.
    pub(super) fn imports(&self, of: &Crate) -> BTreeMap<(Room, Room), usize> {
        let mut imports = BTreeMap::new();
        for (from, to) in of.arrows.iter().filter_map(|arrow| self.ends(of, arrow)) {
            if from != to && from != Room::Roof {
                *imports.entry((from, to)).or_default() += 1;
            }
        }
        imports
    }
}

/// The imports from a room to one above it.
pub(super) fn upward(of: &Crate, rooms: &Rooms) -> Vec<Finding> {
    let upwards = of.arrows.iter().filter_map(|arrow| {
        let (from, to) = rooms.ends(of, arrow)?;
        if to >= from || from == Room::Roof {
            return None;
        }
        let what = format!(
            "`{}` of `{}` is imported from the room above (`{}` imports `{}`), move it down or hand it in",
            arrow.name,
            of.path_in_src(arrow.to),
            rooms.name(from),
            rooms.name(to),
        );
        let path = &of.files.get(arrow.from)?.path;
        Some(Finding::new(&of.name, Check::Upward, Fault::new(path, arrow.line, what)))
    });
    upwards.collect()
}

/// The differences between the plan and the folders of a crate.
pub(super) fn check_plan(of: &Crate, rooms: &Rooms) -> Vec<Fault> {
    let paths = || (0..of.files.len()).map(|file| of.path_in_src(file));
    let mut faults = BTreeMap::new();
    for (file, path) in of.files.iter().zip(paths()) {
        if rooms.room(path).is_none() {
            let folder = path.split('/').next().unwrap_or_default();
            faults.entry(folder).or_insert_with(|| {
                let what = format!(
                    "the folder `{folder}` has no place among the rooms of `{}`, give it one in `{}`",
                    of.name,
                    plan::PATH
                );
                Fault::new(&file.path, 1, what)
            });
        }
    }
    for (place, room) in rooms.rooms.iter().enumerate() {
        if !paths().any(|path| rooms.room(path) == Some(Room::Planned(place))) {
            let what = format!("`{}` has no room `{room}`, take it out of the plan", of.name);
            faults.insert(room, Fault::new(plan::PATH, 1, what));
        }
    }
    faults.into_values().collect()
}
