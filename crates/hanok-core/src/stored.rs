//! One value as bytes: canonical msgpack, whose equal values are equal bytes.
//!
//! `encode` is the one way in which a value becomes bytes, with `compound` for its lists and maps; `value` holds them, `msgpack`
//! reads and writes them piece by piece, `json` and `display` show them, `serialize` and
//! `deserialize` write and read them in any form of serde's. A `shared` value is encoded once for all its places.

pub(crate) mod compound;
pub(crate) mod deserialize;
pub(crate) mod display;
pub(crate) mod encode;
pub(crate) mod error;
pub(crate) mod json;
pub(crate) mod msgpack;
pub(crate) mod serialize;
pub(crate) mod shared;
pub(crate) mod value;
