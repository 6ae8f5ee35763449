//! Where the items lie.

/// The tables of the items, which came with format 2.
///
/// - An item's id is the version of the write that left it so: a write makes a new row, and no id comes twice.
/// - A namespace is the bytes of its labels, so that a prefix is one range. The value stands last: what is read of a row
///   without it does not touch the pages that it flows over to.
/// - `texts` has the terms of an item, each behind the number of its tenant and a point, so that no search walks through
///   the items of others. All signs of such a term are token characters, and it is one token.
pub(crate) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS tenants (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL COLLATE BINARY UNIQUE
    ) STRICT;
    CREATE TABLE IF NOT EXISTS items (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant_id INTEGER NOT NULL,
        namespace BLOB NOT NULL,
        key TEXT NOT NULL COLLATE BINARY,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        ttl INTEGER,
        expires INTEGER,
        terms INTEGER NOT NULL,
        value BLOB NOT NULL,
        UNIQUE (tenant_id, namespace, key)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS items_that_expire ON items (expires) WHERE expires IS NOT NULL;
    CREATE INDEX IF NOT EXISTS items_with_terms ON items (tenant_id, namespace, expires, terms)
        WHERE terms > 0;
    CREATE TABLE IF NOT EXISTS vectors (
        tenant_id INTEGER NOT NULL,
        item_id INTEGER NOT NULL,
        nth INTEGER NOT NULL,
        model TEXT NOT NULL COLLATE BINARY,
        vector BLOB NOT NULL,
        UNIQUE (tenant_id, item_id, nth)
    ) STRICT;
    CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5 (
        terms, detail = none, columnsize = 0, tokenize = \"ascii tokenchars '.'\"
    );
    INSERT INTO texts (texts, rank) VALUES ('secure-delete', 1);
";
