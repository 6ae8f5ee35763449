//! Meeting rooms.

use rusqlite::Row;

use super::{Directory, DirectoryError, MOST};

/// A meeting room.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Room {
    /// The name.
    pub name: String,
    /// The floor it is on.
    pub floor: i64,
    /// How many can sit in it.
    pub seats: i64,
    /// What is in it, by name.
    pub equipment: Vec<String>,
}

/// What a room has to be like. Default: any room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Its name, or a part of it.
    pub name: Option<String>,
    /// How many have to have a seat.
    pub seats: Option<u32>,
    /// What it has to have: `화상회의`.
    pub equipment: Option<String>,
}

impl Directory {
    /// At most ten rooms that are as `wanted`, the smallest first.
    ///
    /// # Errors
    ///
    /// [`DirectoryError::Unusable`] when the file can no longer be read.
    pub fn rooms(&self, wanted: &Wanted) -> Result<Vec<Room>, DirectoryError> {
        let sql = format!(
            "SELECT name, floor, seats,
                (SELECT group_concat(equipment, char(10) ORDER BY equipment)
                    FROM room_equipment WHERE room_id = id)
            FROM room
            WHERE (?1 IS NULL OR instr(name, ?1) > 0) AND seats >= ?2 AND (?3 IS NULL OR EXISTS (
                SELECT 1 FROM room_equipment WHERE room_id = id
                    AND (instr(equipment, ?3) > 0 OR instr(?3, equipment) > 0)))
            ORDER BY seats, name LIMIT {MOST}"
        );
        let name = wanted.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let equipment = wanted.equipment.as_deref().map(closed_up).filter(|what| !what.is_empty());
        self.rows(&sql, &[&name, &wanted.seats.unwrap_or(0), &equipment], room)
    }
}

fn room(row: &Row<'_>) -> rusqlite::Result<Room> {
    let equipment: Option<String> = row.get(3)?;
    let equipment = equipment.unwrap_or_default().lines().map(str::to_owned).collect();
    Ok(Room { name: row.get(0)?, floor: row.get(1)?, seats: row.get(2)?, equipment })
}

/// `빔 프로젝터` as the file writes it.
fn closed_up(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
