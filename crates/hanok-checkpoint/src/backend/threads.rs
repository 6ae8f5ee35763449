//! Lists of threads.

use std::collections::BTreeMap;

use hanok_core::{InvalidName, Position, Tenant, ThreadKey, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{backend::head::Head, claim::Epoch, life::Life};

/// A thread, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// The thread.
    pub thread: ThreadKey,
    /// The head.
    pub head: Head,
    /// The thread of the same tenant that it is a fork of.
    pub origin: Option<String>,
    /// From when on it may be swept.
    pub expires: Option<Timestamp>,
    /// When it was last appended to, as the writer's clock said.
    pub updated: Option<Timestamp>,
    /// Its labels, by name.
    pub labels: BTreeMap<String, String>,
    /// Why its row cannot be read: then nothing but its name is known, and every call for the thread is
    /// [`CheckpointError::Corrupt`](crate::CheckpointError::Corrupt). A row whose name is damaged is listed under one that says so, and that no thread has.
    pub damage: Option<String>,
}

impl ThreadInfo {
    /// A thread whose row cannot be read.
    #[must_use]
    pub fn damaged(thread: ThreadKey, damage: String) -> Self {
        let head = Head {
            life: Life::default(),
            position: Position::START,
            floor: Position::START,
            epoch: Epoch::default(),
            claim: None,
            link: None,
            seal: None,
        };
        let (origin, expires, updated, damage) = (None, None, None, Some(damage));
        Self { thread, head, origin, expires, updated, labels: BTreeMap::new(), damage }
    }

    /// A thread whose name cannot be read, in the row that is numbered `row`.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let info = ThreadInfo::unnamed("acme", "user\u{7}", 12)?;
    /// assert_eq!(info.thread.thread(), "row 12: user\u{fffd}");
    /// assert!(info.damage.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None: what is made readable of such a name is one.
    pub fn unnamed(tenant: &str, thread: &str, row: i64) -> Result<Self, InvalidName> {
        let readable = |name: &str| -> String {
            let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
            name.chars().map(plain).take(50).collect()
        };
        let tenant = Tenant::new(&readable(tenant)).unwrap_or_default();
        let thread = ThreadKey::new(tenant, &format!("row {row}: {}", readable(thread)))?;
        Ok(Self::damaged(thread, format!("the name in row {row} is damaged")))
    }
}

/// The label that says when the first open request of a thread expires: [`deadline_label`]; none if none does.
pub const DEADLINE: &str = "deadline";

/// The value of the label [`DEADLINE`]: milliseconds since the epoch, in 20 digits, so that the values are in the order of time.
///
/// ```
/// use hanok_checkpoint::deadline_label;
/// use hanok_core::Timestamp;
///
/// assert_eq!(deadline_label(Timestamp(90)), "00000000000000000090");
/// assert!(deadline_label(Timestamp(90)) < deadline_label(Timestamp(1_000)));
/// ```
pub fn deadline_label(deadline: Timestamp) -> String {
    format!("{:020}", deadline.0)
}

/// Which threads are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Those of a tenant.
    Of(Tenant),
    /// The forks of a thread.
    ForksOf(ThreadKey),
    /// Those of a tenant that have a label of this name and value.
    Labelled {
        /// The tenant.
        tenant: Tenant,
        /// The label's name.
        name: String,
        /// Its value.
        value: String,
    },
    /// Those that a run holds a claim to, of all tenants. For whoever finishes what dead processes left.
    Claimed,
    /// Those that may be swept at this time and that no run holds a claim to, of all tenants.
    Expired(Timestamp),
    /// Those with a request whose deadline is this time or an earlier one, of all tenants. For whoever goes on without an answer.
    Waiting(Timestamp),
    /// All, of all tenants. For operators.
    All,
}
