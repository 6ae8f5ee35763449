//! Searches in the store across threads, and what they find.

use hanok_core::{ItemKey, Labels, Reader, StoredError, Tenant, Writer};

use super::{
    error::StoreError,
    filter::Filter,
    item::{Item, Refresh},
    vector::Vector,
};

/// The most bytes of a search's text.
const LONGEST: usize = 64 * 1024;

/// In which namespaces to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// In all of the tenant's.
    All,
    /// In this one and those below it.
    Labels(Labels),
}

impl Within {
    /// Checks whether `labels` are there.
    pub fn holds(&self, labels: &Labels) -> bool {
        match self {
            Self::All => true,
            Self::Labels(prefix) => labels.is_within(prefix),
        }
    }

    /// The bytes of [`Labels::as_bytes`] that lie in it: from the first up to, and without, the second.
    pub fn range(&self) -> (Vec<u8>, Vec<u8>) {
        match self {
            // No text has this byte.
            Self::All => (Vec::new(), vec![0xff]),
            Self::Labels(prefix) => {
                let from = prefix.as_bytes().to_vec();
                let mut to = from.clone();
                // The zero that ends the last label; nothing that begins with it is as high as this.
                if let Some(end) = to.last_mut() {
                    *end = 1;
                }
                (from, to)
            }
        }
    }
}

/// A search for items of one tenant.
///
/// Without text and vector it lists what fits the filter, by namespace and key. With one of them it ranks: by text
/// (BM25 over [`index_terms`](crate::index_terms), of any of them), by meaning (the cosine to the most similar of an item's
/// vectors), or by both ([`weight`](Search::weight)). What has none of the terms is not found by text, what has no vector
/// not by meaning. Equal ranks are in the order of namespace and key.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Whose items.
    pub tenant: Tenant,
    /// In which namespaces.
    pub within: Within,
    /// Which of them. Default: all.
    pub filter: Filter,
    /// The text to look for. Default: none.
    pub text: Option<String>,
    /// The meaning to look for. Default: none.
    pub vector: Option<Vector>,
    /// The weight of the vector where there is text too, from 0 (the text alone) to 1 (the vector alone). Default: 0.5.
    pub weight: f64,
    /// The most items to find. Default: 10.
    pub limit: usize,
    /// The place at which the page before this one ended. Default: this is the first.
    pub after: Option<Place>,
    /// The effect on the time to live of hits. Default: they live on.
    pub refresh: Refresh,
}

impl Search {
    /// Looks in `labels` and below.
    pub fn within(tenant: Tenant, labels: Labels) -> Self {
        Self::new(tenant, Within::Labels(labels))
    }

    /// Looks in every namespace of `tenant`.
    pub fn all(tenant: Tenant) -> Self {
        Self::new(tenant, Within::All)
    }

    fn new(tenant: Tenant, within: Within) -> Self {
        let (filter, text, vector, after, refresh) = Default::default();
        Self { tenant, within, filter, text, vector, weight: 0.5, limit: 10, after, refresh }
    }

    /// Which items. Default: all.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
    /// # let (store, now) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
    /// # let labels = Labels::new(["memories", "kim"])?;
    /// # let key = ItemKey::new(Tenant::default(), labels.clone(), "city")?;
    /// store.put(&key, Put::new(Stored::encode("Seoul")?), now).await?;
    /// let none = Filter::eq(["city"], "Busan")?;
    /// let page = store.search(&Search::all(Tenant::default()).filter(none), now).await?;
    /// assert!(page.hits.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Sets the text to look for: up to 256 words of its first 16 KiB. Default: none.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
    /// # let (store, now) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
    /// # let labels = Labels::new(["memories", "kim"])?;
    /// # let key = ItemKey::new(Tenant::default(), labels.clone(), "city")?;
    /// store.put(&key, Put::new(Stored::encode("lives in Seoul")?), now).await?;
    /// let page = store.search(&Search::within(Tenant::default(), labels).text("seoul"), now).await?;
    /// assert_eq!(page.hits[0].item.key.key(), "city");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..self }
    }

    /// The meaning to look for. Default: none.
    #[must_use]
    pub fn vector(self, vector: Vector) -> Self {
        Self { vector: Some(vector), ..self }
    }

    /// The weight of the vector where there is text too, from 0 (the text alone) to 1 (the vector alone). Default: 0.5.
    #[must_use]
    pub fn weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The most items to find. Default: 10.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Goes on where the page before ended. Default: begins.
    #[must_use]
    pub fn after(self, after: Option<Place>) -> Self {
        Self { after, ..self }
    }

    /// Sets whether the hits live on. Default: yes.
    #[must_use]
    pub fn refresh(self, refresh: Refresh) -> Self {
        Self { refresh, ..self }
    }

    /// Checks that a store can search for it: a text comes from a model or a client, and has a limit of 64 KiB.
    ///
    /// ```
    /// use hanok_checkpoint::{Search, StoreError};
    /// use hanok_core::Tenant;
    ///
    /// let search = Search::all(Tenant::default()).text("휴가 ".repeat(100_000));
    /// assert!(matches!(search.check(), Err(StoreError::LongText { bytes: 700_000, .. })));
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoreError::LongText`], whether the text counts or not.
    pub fn check(&self) -> Result<(), StoreError> {
        match self.text.as_deref().map(str::len) {
            Some(bytes) if bytes > LONGEST => Err(StoreError::LongText { bytes, most: LONGEST }),
            _ => Ok(()),
        }
    }

    /// The text by which it ranks.
    pub fn by_text(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.vector.is_none() || self.share() < 1.0)
    }

    /// The vector by which it ranks.
    pub fn by_vector(&self) -> Option<&Vector> {
        self.vector.as_ref().filter(|_| self.text.is_none() || self.share() > 0.0)
    }

    /// The weight, within its ends.
    pub(crate) fn share(&self) -> f64 {
        if self.weight.is_nan() { 0.5 } else { self.weight.clamp(0.0, 1.0) }
    }
}

/// An item that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The item.
    pub item: Item,
    /// The score that it is ranked by, the higher the better; `None` where items are listed. Comparable within one search.
    pub score: Option<f64>,
    /// The score of the text, by BM25.
    pub text: Option<f64>,
    /// The likeness of its meaning, from -1 to 1.
    pub similarity: Option<f32>,
}

/// A page of hits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The items, the best first.
    pub hits: Vec<Hit>,
    /// The place at which the next page begins; `None` when this is the last.
    pub next: Option<Place>,
}

/// The place at which a page ended.
///
/// Pages of a listing and of a search by meaning hold every item that stays as it is once, whatever others write in
/// between. Ranks by text depend on what else is there: their pages are such while nobody writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The rank of the last item, where items are ranked.
    pub score: Option<f64>,
    /// The last item's namespace.
    pub labels: Labels,
    /// The last item's key.
    pub key: String,
}

impl Place {
    /// The place of the item `key` with `score`.
    pub fn new(score: Option<f64>, key: &ItemKey) -> Self {
        Self { score, labels: key.labels().clone(), key: key.key().to_owned() }
    }

    /// The place as bytes, for a client to send back.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.array(3);
        match self.score {
            Some(score) => writer.uint(score.to_bits()),
            None => writer.nil(),
        };
        writer.bin(self.labels.as_bytes()).str(&self.key);
        writer.into_bytes()
    }

    /// Reads what [`Place::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoredError> {
        let mut reader = Reader::new(bytes);
        reader.array()?;
        let score = match reader.is_nil() {
            true => reader.nil().map(|()| None)?,
            false => Some(f64::from_bits(reader.uint()?)),
        };
        let labels = Labels::from_bytes(reader.bin()?);
        let labels =
            labels.ok_or(StoredError::Malformed { at: reader.at(), expected: "a namespace" })?;
        Ok(Self { score, labels, key: reader.str()?.to_owned() })
    }
}

/// A question for the namespaces of one tenant in which there are items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespaces {
    /// Whose.
    pub tenant: Tenant,
    /// The namespaces to look in.
    pub within: Within,
    /// Cuts each to so many labels, at least one; what is then equal is named once. Default: whole.
    pub depth: Option<usize>,
    /// Begins after this one. Default: with the first.
    pub after: Option<Labels>,
    /// The most to name. Default: 100.
    pub limit: usize,
}

impl Namespaces {
    /// Asks for those in `within`.
    pub fn new(tenant: Tenant, within: Within) -> Self {
        Self { tenant, within, depth: None, after: None, limit: 100 }
    }

    /// The first `labels` to show.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
    /// # let (store, now) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
    /// # let labels = Labels::new(["memories", "kim"])?;
    /// # let key = ItemKey::new(Tenant::default(), labels.clone(), "city")?;
    /// store.put(&key, Put::new(Stored::encode("Seoul")?), now).await?;
    /// let names = Namespaces::new(Tenant::default(), Within::All).depth(1);
    /// assert_eq!(store.namespaces(&names, now).await?, [Labels::new(["memories"])?]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn depth(self, depth: usize) -> Self {
        Self { depth: Some(depth), ..self }
    }

    /// Begins after this one. Default: with the first.
    #[must_use]
    pub fn after(self, after: Option<Labels>) -> Self {
        Self { after, ..self }
    }

    /// The most to name. Default: 100.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// The name of `labels`.
    pub fn named(&self, labels: &Labels) -> Labels {
        self.depth.map_or_else(|| labels.clone(), |depth| labels.cut(depth))
    }
}
