//! Graphs deep within others: polled beside the graph around them, and not within it.
//!
//! A future that awaits another is polled around it, so that graphs within graphs take more of the stack with each level, and in a debug
//! build much more. Every second one is handed down to the outermost of its task, which polls it by itself. To whoever awaits it nothing
//! changes: dropping the wait drops the graph.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures_channel::oneshot;
use futures_util::{
    stream::{FuturesUnordered, Stream},
    task::AtomicWaker,
};
use hanok_core::BoxFuture;

use crate::node::attempt::locked;

/// The graphs that a task polls by themselves.
#[derive(Debug, Default)]
pub(crate) struct DeepRuns {
    /// Those that wait to be polled; `None` once nobody does.
    new: Mutex<Option<Vec<Slot>>>,
    waker: AtomicWaker,
}

/// One that is polled there. Whoever awaits it may take it away.
#[derive(Clone)]
struct Slot(Arc<Mutex<Option<BoxFuture<'static, ()>>>>);

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slot")
    }
}

/// Takes the graph away when nobody awaits it any more.
struct Awaited(Slot);

impl Drop for Awaited {
    fn drop(&mut self) {
        let dropped = locked(&self.0.0).take();
        drop(dropped);
    }
}

impl Future for Slot {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut slot = locked(&self.0);
        let ended = slot.as_mut().is_none_or(|work| work.as_mut().poll(cx).is_ready());
        if !ended {
            return Poll::Pending;
        }
        let over = slot.take();
        drop(slot);
        drop(over);
        Poll::Ready(())
    }
}

impl DeepRuns {
    /// The output of `work`, with what is handed down meanwhile polled beside it.
    pub(crate) async fn around<T>(&self, work: impl Future<Output = T>) -> T {
        *locked(&self.new) = Some(Vec::new());
        let _over = Over(self);
        let mut work = pin!(work);
        let mut beside = FuturesUnordered::<Slot>::new();
        poll_fn(|cx| {
            self.waker.register(cx.waker());
            loop {
                if let Poll::Ready(output) = work.as_mut().poll(cx) {
                    return Poll::Ready(output);
                }
                beside.extend(locked(&self.new).iter_mut().flat_map(std::mem::take));
                let mut ended = false;
                while let Poll::Ready(Some(())) = Pin::new(&mut beside).poll_next(cx) {
                    ended = true;
                }
                let is_new = locked(&self.new).as_ref().is_some_and(|new| !new.is_empty());
                // What has ended is awaited by `work`, or by another of them, which is woken.
                if !ended && !is_new {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// The output of `work`, polled by [`around`](DeepRuns::around), or here where that is over; `None` if it ends meanwhile.
    pub(crate) async fn beside<T: Send + 'static>(&self, work: BoxFuture<'static, T>) -> Option<T> {
        let (give, take) = oneshot::channel();
        let work = async move { drop(give.send(work.await)) };
        let slot = Slot(Arc::new(Mutex::new(Some(Box::pin(work)))));
        let awaited = Awaited(slot.clone());
        let is_polled = match &mut *locked(&self.new) {
            Some(new) => {
                new.push(slot.clone());
                true
            }
            None => false,
        };
        match is_polled {
            true => self.waker.wake(),
            false => slot.await,
        }
        let output = take.await.ok();
        drop(awaited);
        output
    }
}

/// Says that nothing is polled any more.
struct Over<'a>(&'a DeepRuns);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let left = locked(&self.0.new).take();
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        sync::atomic::{AtomicU32, Ordering},
    };

    use futures::{executor::block_on, future::select};

    use super::*;

    /// Counts when it is dropped.
    struct Counts(Arc<AtomicU32>);

    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn nested(deep: Arc<DeepRuns>, left: u32) -> BoxFuture<'static, u32> {
        Box::pin(async move {
            match left {
                0 => 1,
                _ => deep.beside(nested(deep.clone(), left - 1)).await.unwrap() + 1,
            }
        })
    }

    #[test]
    fn many_within_each_other_are_polled_beside_each_other() {
        let deep = Arc::new(DeepRuns::default());
        assert_eq!(block_on(deep.around(nested(deep.clone(), 10_000))), 10_001);
        // Where nobody polls them they are polled in their place.
        assert_eq!(block_on(nested(deep, 10)), 11);
    }

    #[test]
    fn a_wait_that_is_dropped_drops_what_it_awaits_with_all_within() {
        let (deep, dropped) = (Arc::new(DeepRuns::default()), Arc::new(AtomicU32::new(0)));
        let hanging = |deep: Arc<DeepRuns>, of: Counts, other: Counts| -> BoxFuture<'static, ()> {
            Box::pin(async move {
                let _of = of;
                let within = async move {
                    let _other = other;
                    pending().await
                };
                deep.beside(Box::pin(within)).await.unwrap()
            })
        };
        block_on(deep.around(async {
            let counts = || Counts(dropped.clone());
            let work = Box::pin(deep.beside(hanging(deep.clone(), counts(), counts())));
            // It is polled often enough for both to wait.
            let mut turns = 0;
            let some = poll_fn(|cx| {
                turns += 1;
                cx.waker().wake_by_ref();
                if turns > 5 { Poll::Ready(()) } else { Poll::Pending }
            });
            drop(select(work, some).await);
            assert_eq!(dropped.load(Ordering::SeqCst), 2);
            ready(()).await;
        }));
    }
}
