//! The head of a thread.

use hanok_core::{Position, ThreadKey};
use serde::{Deserialize, Serialize};

use crate::{
    chain::{HeadSeal, Link, Tip},
    claim::{Claim, Epoch},
    error::CheckpointError,
    life::Life,
};

/// The head of a thread: its newest position, and its owner. A store may keep it in any format of serde's.
///
/// ```
/// # use hanok_checkpoint::*;
/// # use hanok_core::Position;
/// let json = r#"{"life":"0000000000000000000000000000002a","position":7,"floor":0,"epoch":3,"claim":null,"link":null,"seal":null}"#;
/// let head: Head = serde_json::from_str(json)?;
/// assert_eq!((head.life, head.position), (Life::new(42), Position(7)));
/// assert_eq!(serde_json::to_string(&head)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The thread's life.
    pub life: Life,
    /// The position of the last record.
    pub position: Position,
    /// The position up to which records were cut off; the base stands there. [`Position::START`] for a whole log.
    pub floor: Position,
    /// The number of the newest claim there was.
    pub epoch: Epoch,
    /// The claim that holds now.
    pub claim: Option<Claim>,
    /// The link of the newest record; `None` where records are not chained.
    pub link: Option<Link>,
    /// The proof that the head belongs to that record; `None` without a key.
    pub seal: Option<HeadSeal>,
}

impl Head {
    /// Refuses a call that expects a thread here, if it is in `life` and at `actual`. Every store asks this within the
    /// transaction.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`], [`CheckpointError::OtherLife`].
    pub fn admit(
        &self,
        thread: &ThreadKey,
        life: Life,
        actual: Position,
    ) -> Result<(), CheckpointError> {
        life.admit(thread, self.life)?;
        if self.position == actual {
            return Ok(());
        }
        Err(CheckpointError::conflict(thread, self.position, actual))
    }
}

impl Life {
    /// Refuses what belongs to the life `expected` of a thread that is in this one.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Tenant, ThreadKey};
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// assert!(Life::new(1).admit(&thread, Life::new(1)).is_ok());
    /// assert!(Life::new(1).admit(&thread, Life::new(2)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::OtherLife`].
    pub fn admit(self, thread: &ThreadKey, expected: Self) -> Result<(), CheckpointError> {
        if self == expected {
            return Ok(());
        }
        Err(CheckpointError::OtherLife { thread: thread.clone(), expected, actual: self })
    }
}

impl Tip {
    /// The end of a thread that is at `head`.
    pub fn of(head: &Head) -> Self {
        Self { life: head.life, position: head.position, link: head.link }
    }
}
