//! Where the items of the server stand, and the ids by which clients name them.

use hanok_core::{InvalidName, ItemKey, Labels, RunId, Tenant, ThreadKey};
use uuid::Uuid;

/// The tenant of what belongs to the server: no caller is of it.
pub(crate) const SERVER: &str = "hanok:server";

const RUNS: &str = "hanok:runs";
const QUEUES: &str = "hanok:queues";
const THREADS: &str = "hanok:served";
const ONCE: &str = "hanok:once";

/// The namespace of UUIDs that derive from a name, as LangGraph's clients know them.
const NAMES: Uuid = Uuid::from_u128(0x6ba7_b821_9dad_11d1_80b4_00c0_4fd4_30c8);

/// The UUID by which clients know what is called `name`: the name itself, where it is one.
pub fn public_id(name: &str) -> Uuid {
    Uuid::try_parse(name).unwrap_or_else(|_| Uuid::new_v5(&NAMES, name.as_bytes()))
}

/// The run with this UUID.
pub(crate) fn run_of(id: Uuid) -> RunId {
    RunId(id.as_u128())
}

/// The namespace of all queues.
pub(crate) fn queues() -> Result<(Tenant, Labels), InvalidName> {
    Ok((Tenant::new(SERVER)?, Labels::new([QUEUES])?))
}

/// The queue of `thread`.
pub(crate) fn queue(thread: &ThreadKey) -> Result<ItemKey, InvalidName> {
    let (server, labels) = queues()?;
    // No name holds the zero.
    let name = format!("{}\0{}", thread.tenant(), thread.thread());
    ItemKey::new(server, labels, &Uuid::new_v5(&NAMES, name.as_bytes()).to_string())
}

/// The namespace of the runs of `thread`.
pub(crate) fn runs(thread: &ThreadKey) -> Result<Labels, InvalidName> {
    Labels::new([RUNS, &public_id(thread.thread()).to_string()])
}

/// A run of `thread`. Later ids come first.
pub(crate) fn run(thread: &ThreadKey, run: RunId) -> Result<ItemKey, InvalidName> {
    ItemKey::new(thread.tenant().clone(), runs(thread)?, &RunId(!run.0).to_string())
}

/// The namespace of a tenant's threads.
pub(crate) fn threads() -> Result<Labels, InvalidName> {
    Labels::new([THREADS])
}

/// The thread of `tenant` with this UUID.
pub(crate) fn thread(tenant: &Tenant, id: Uuid) -> Result<ItemKey, InvalidName> {
    ItemKey::new(tenant.clone(), threads()?, &id.to_string())
}

/// What `principal` has begun under an idempotency key.
pub(crate) fn once(tenant: &Tenant, principal: &str, key: &str) -> Result<ItemKey, InvalidName> {
    let name = digest([principal.as_bytes(), key.as_bytes()]);
    ItemKey::new(tenant.clone(), Labels::new([ONCE])?, &name.to_string())
}

/// A digest of texts.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Uuid {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    Uuid::new_v5(&NAMES, &bytes)
}
