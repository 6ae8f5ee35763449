//! Requests that are being answered.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures_channel::oneshot;
use futures_util::future::select;
use hanok_core::{Call, ItemKey};

/// Requests that are being answered in this process, and who waits for each.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<BTreeMap<String, Vec<oneshot::Sender<()>>>>);

/// A request that is being answered, until it is dropped.
#[derive(Debug)]
pub(super) struct Flight<'a> {
    flights: &'a Flights,
    key: String,
}

fn name(key: &ItemKey) -> String {
    format!("{}\0{}", key.tenant().as_str(), key.key())
}

impl Flights {
    /// Begins to answer `key`, unless somebody does.
    pub(super) fn begin(&self, key: &ItemKey) -> Option<Flight<'_>> {
        let key = name(key);
        let mut flights = self.lock();
        if flights.contains_key(&key) {
            return None;
        }
        flights.insert(key.clone(), Vec::new());
        Some(Flight { flights: self, key })
    }

    /// Waits until `key` is answered, one way or the other, or the call is asked to stop.
    pub(super) async fn landed(&self, key: &ItemKey, call: &Call) {
        let landed = {
            let mut flights = self.lock();
            let Some(waiting) = flights.get_mut(&name(key)) else { return };
            let (sender, landed) = oneshot::channel();
            waiting.push(sender);
            landed
        };
        select(landed, call.stop().cancelled()).await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<oneshot::Sender<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        // Who waits is woken by the drop of its sender.
        let waiting = self.flights.lock().remove(&self.key);
        drop(waiting);
    }
}
