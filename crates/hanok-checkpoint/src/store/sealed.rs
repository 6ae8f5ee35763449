//! Values that stand in a store sealed as the records of a log are.

use hanok_core::{ItemKey, Position, Reader, Stored, ThreadKey, Writer};

use crate::{
    codec::Codec,
    error::CheckpointError,
    format::seal::{SealPlace, Sealed, seal, unseal},
    life::Life,
};

impl Codec {
    /// Seals a value for the item of `key`: compressed and encrypted as the codec says, and read under no other key.
    ///
    /// ```
    /// # use hanok_checkpoint::Codec;
    /// # use hanok_core::{ItemKey, Labels, Stored, Tenant};
    /// let (codec, labels) = (Codec::new(), Labels::new(["runs"])?);
    /// let key = ItemKey::new(Tenant::default(), labels.clone(), "a")?;
    /// let sealed = codec.seal_item(&key, &Stored::encode("secret")?)?;
    /// assert_eq!(codec.open_item(&key, &sealed)?.as_str()?, "secret");
    /// let other = ItemKey::new(Tenant::default(), labels, "b")?;
    /// assert!(codec.open_item(&other, &sealed).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Encode`] when the value cannot be compressed or encrypted.
    pub fn seal_item(&self, key: &ItemKey, value: &Stored) -> Result<Stored, CheckpointError> {
        let thread = holder(key)?;
        seal_named(self, place(&thread, Life::new(0)), &name(key), value)
    }

    /// Opens what was sealed for the item of `key`.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a value that is damaged or was sealed for another key, [`CheckpointError::Locked`] for one whose
    /// key of encryption is missing.
    pub fn open_item(&self, key: &ItemKey, sealed: &Stored) -> Result<Stored, CheckpointError> {
        let thread = holder(key)?;
        let opened = open_named(self, place(&thread, Life::new(0)), &name(key), sealed)?;
        opened.ok_or_else(|| damaged(&thread, key.key()))
    }
}

/// Stands for the thread that a record is sealed for.
fn holder(key: &ItemKey) -> Result<ThreadKey, CheckpointError> {
    let thread = ThreadKey::new(key.tenant().clone(), key.key());
    thread.map_err(|error| CheckpointError::Encode(error.into()))
}

/// The namespace and the key, which no other item has.
fn name(key: &ItemKey) -> String {
    format!("{}{}", String::from_utf8_lossy(key.labels().as_bytes()), key.key())
}

fn place(thread: &ThreadKey, life: Life) -> SealPlace<'_> {
    SealPlace { thread, life, position: Position::START }
}

/// The error of a sealed value called `name` that is damaged or not its own.
pub(crate) fn damaged(thread: &ThreadKey, name: &str) -> CheckpointError {
    let reason = format!("the item `{name}` is damaged, or belongs elsewhere");
    CheckpointError::corrupt(thread, Position::START, reason, Position::START)
}

/// Seals a value for `place`, to be read under `name` alone.
pub(crate) fn seal_named(
    codec: &Codec,
    place: SealPlace<'_>,
    name: &str,
    value: &Stored,
) -> Result<Stored, CheckpointError> {
    let failed = |error| CheckpointError::Encode(Box::new(error));
    let mut writer = Writer::new();
    writer.array(2).str(name).bin(value.as_bytes());
    let sealed = seal(codec, Sealed::Beside, place, writer.into_bytes()).map_err(failed)?;
    let mut writer = Writer::new();
    writer.bin(&sealed);
    Stored::from_bytes(writer.into_bytes()).map_err(|error| CheckpointError::Encode(error.into()))
}

/// The value that was sealed for `place` under `name`; `None` for what is no such value.
pub(crate) fn open_named(
    codec: &Codec,
    place: SealPlace<'_>,
    name: &str,
    sealed: &Stored,
) -> Result<Option<Stored>, CheckpointError> {
    let Ok(sealed) = Reader::new(sealed.as_bytes()).bin().map(<[u8]>::to_vec) else {
        return Ok(None);
    };
    let payload = unseal(codec, Sealed::Beside, place, &sealed)
        .map_err(|error| error.at(place.thread, Position::START))?;
    let read = || {
        let mut reader = Reader::new(&payload);
        reader.array().ok()?;
        let is_its = reader.str().ok()? == name;
        let value = reader.bin().ok()?;
        is_its.then(|| Stored::from_bytes(value.to_vec()).ok()).flatten()
    };
    Ok(read())
}
