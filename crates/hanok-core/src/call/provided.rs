//! The parts of a run that a call carries to the tool, by their types.

use std::{
    any::{Any, TypeId},
    fmt,
    sync::Arc,
};

/// The parts of a run that a call carries, by their types. A later part of a type hides an earlier one. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Provided(Option<Arc<Link>>);

struct Link {
    part: Arc<dyn Any + Send + Sync>,
    before: Provided,
}

impl Provided {
    pub(crate) fn with<T: Send + Sync + 'static>(self, part: Arc<T>) -> Self {
        Self(Some(Arc::new(Link { part, before: self })))
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.find(TypeId::of::<T>())?.part.clone().downcast().ok()
    }

    pub(crate) fn has(&self, need: &Need) -> bool {
        self.find(need.id).is_some()
    }

    fn find(&self, id: TypeId) -> Option<&Link> {
        let mut next = self.0.as_deref();
        while let Some(link) = next {
            if (*link.part).type_id() == id {
                return Some(link);
            }
            next = link.before.0.as_deref();
        }
        None
    }
}

/// A part of a run that a tool needs: the services, the state or the store, by its type.
///
/// ```
/// use hanok_core::Need;
///
/// struct User(String);
/// assert_eq!(Need::of::<User>(), Need::of::<User>());
/// assert_ne!(Need::of::<User>(), Need::of::<String>());
/// assert_eq!(Need::of::<u32>().to_string(), "u32");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Need {
    id: TypeId,
    name: &'static str,
}

impl Need {
    /// The need of a `T`.
    pub fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>() }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
