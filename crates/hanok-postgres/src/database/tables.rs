//! The tables of the items.

/// The tables of the items, which came with format 2.
///
/// - An item's id is the version of the write that left it so: a write makes a new row, and no id comes twice.
/// - A namespace is the bytes of its labels, so that a prefix is one range.
/// - A vector is an array of plain numbers, which does not compress; pgvector, where the database has it, reads it as its own.
/// - A term stands behind the number of its tenant and a point, so that no search walks through the items of others.
pub(crate) const TABLES: &str = "
    CREATE TABLE {s}.tenants (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tenant text COLLATE \"C\" NOT NULL UNIQUE
    );
    CREATE TABLE {s}.items (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tenant_id bigint NOT NULL REFERENCES {s}.tenants (id),
        namespace bytea NOT NULL,
        key text COLLATE \"C\" NOT NULL,
        created bigint NOT NULL,
        updated bigint NOT NULL,
        ttl bigint,
        expires bigint,
        terms text[] COLLATE \"C\" NOT NULL,
        value bytea NOT NULL,
        UNIQUE (tenant_id, namespace, key)
    );
    CREATE INDEX items_that_expire ON {s}.items (expires) WHERE expires IS NOT NULL;
    CREATE INDEX items_terms ON {s}.items USING gin (terms);
    CREATE TABLE {s}.vectors (
        item_id bigint NOT NULL REFERENCES {s}.items (id) ON DELETE CASCADE,
        nth bigint NOT NULL,
        tenant_id bigint NOT NULL,
        model text COLLATE \"C\" NOT NULL,
        vector real[] NOT NULL,
        PRIMARY KEY (item_id, nth)
    );
    ALTER TABLE {s}.vectors ALTER COLUMN vector SET STORAGE EXTERNAL;
    CREATE INDEX vectors_of_tenants ON {s}.vectors (tenant_id, item_id);
";
