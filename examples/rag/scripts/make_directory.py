#!/usr/bin/env python3
"""Makes ../data/directory.sqlite of ../data/directory.sql.

Needs Python 3.11 with its own sqlite3, nothing else. The same text gives the same file.
"""

import sqlite3
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"


def main() -> None:
    target = DATA / "directory.sqlite"
    target.unlink(missing_ok=True)
    connection = sqlite3.connect(target)
    try:
        # Before the first table: the file stays small.
        connection.execute("PRAGMA page_size = 4096")
        connection.executescript((DATA / "directory.sql").read_text(encoding="utf-8"))
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise SystemExit(f"rows that name no other: {broken}")
        connection.execute("VACUUM")
    finally:
        connection.close()
    print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
