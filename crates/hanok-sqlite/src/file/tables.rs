//! The tables of a store.

/// The tables of the threads. Rows of a rowid table fill pages better than those of a table without: those cannot share a page with
/// another row from 1 KB on, and a record of 1.5 KB would take 4.6.
pub(crate) const THREADS: &str = "
    CREATE TABLE threads (
        id INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL COLLATE BINARY,
        thread TEXT NOT NULL COLLATE BINARY,
        life BLOB NOT NULL,
        head INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        run BLOB,
        holder BLOB,
        beat INTEGER,
        floor INTEGER NOT NULL DEFAULT 0,
        origin TEXT COLLATE BINARY,
        expires INTEGER,
        link BLOB,
        seal BLOB,
        updated INTEGER,
        UNIQUE (tenant, thread)
    ) STRICT;
    CREATE INDEX claimed ON threads (tenant, thread) WHERE run IS NOT NULL;
    CREATE INDEX forks ON threads (tenant, origin) WHERE origin IS NOT NULL;
    CREATE INDEX expiring ON threads (expires) WHERE expires IS NOT NULL;
    CREATE TABLE records (
        thread_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        append_id BLOB NOT NULL,
        bytes BLOB NOT NULL,
        UNIQUE (thread_id, position)
    ) STRICT;
    CREATE TABLE labels (
        thread_id INTEGER NOT NULL,
        name TEXT NOT NULL COLLATE BINARY,
        value TEXT NOT NULL COLLATE BINARY,
        PRIMARY KEY (thread_id, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX labelled ON labels (name, value);
    CREATE TABLE snapshots (
        thread_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        UNIQUE (thread_id, position)
    ) STRICT;
    CREATE TABLE outbox (
        cursor INTEGER PRIMARY KEY AUTOINCREMENT,
        topic TEXT NOT NULL COLLATE BINARY,
        thread_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE INDEX outbox_topics ON outbox (topic, cursor);
    CREATE INDEX outbox_threads ON outbox (thread_id);
    CREATE TABLE consumers (
        topic TEXT NOT NULL COLLATE BINARY,
        consumer TEXT NOT NULL COLLATE BINARY,
        done INTEGER NOT NULL,
        PRIMARY KEY (topic, consumer)
    ) STRICT, WITHOUT ROWID;
";

/// The tables of the items, which came with format 2.
///
/// - An item's id is the version of the write that left it so: a write makes a new row, and no id comes twice.
/// - A namespace is the bytes of its labels, so that a prefix is one range. The value stands last: what is read of a row
///   without it does not touch the pages that it flows over to.
/// - `texts` has the terms of an item, each behind the number of its tenant and a point, so that no search walks through
///   the items of others. All signs of such a term are token characters, and it is one token.
pub(crate) const ITEMS: &str = "
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
