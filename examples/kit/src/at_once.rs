//! Questions of servers that wait for their answer within a call, put to whoever types while a turn runs.

use futures::{
    StreamExt,
    channel::{mpsc, oneshot},
    future::{Either, select},
};
use serde_json::Value;

use crate::{Screen, elicitation::ServerQuestion, failure::Failure, keyboard::Keyboard};

/// Where such questions are put. Clones put them to the same person.
#[derive(Debug, Clone)]
pub struct AtOnce(mpsc::UnboundedSender<AtOnceQuestion>);

/// Where they arrive: none does where nobody can be asked.
#[derive(Debug)]
pub struct AtOnceQuestions(mpsc::UnboundedReceiver<AtOnceQuestion>);

/// One of them.
#[derive(Debug)]
pub(crate) struct AtOnceQuestion {
    question: ServerQuestion,
    reply: oneshot::Sender<Value>,
}

/// A way for questions, if somebody types who can be asked while a turn runs, and its other end.
#[must_use]
pub fn at_once(screen: &Screen, json: bool) -> (Option<AtOnce>, AtOnceQuestions) {
    let (send, receive) = mpsc::unbounded();
    ((screen.is_asking() && !json).then_some(AtOnce(send)), AtOnceQuestions(receive))
}

impl Default for AtOnceQuestions {
    fn default() -> Self {
        Self(mpsc::unbounded().1)
    }
}

impl AtOnce {
    /// The decision of the person about what a server asks, as the gate of such questions shows it; `None` when there is none. To drop
    /// it takes the question back.
    pub async fn ask(&self, shown: &Value) -> Option<Value> {
        let question = ServerQuestion::shown(shown, "")?;
        let (reply, decision) = oneshot::channel();
        self.0.unbounded_send(AtOnceQuestion { question, reply }).ok()?;
        decision.await.ok()
    }
}

impl AtOnceQuestions {
    /// The next question, once there is one.
    pub(crate) async fn next(&mut self) -> AtOnceQuestion {
        match self.0.next().await {
            Some(asked) => asked,
            None => std::future::pending().await,
        }
    }
}

impl AtOnceQuestion {
    /// Puts it to the person, until they answer or nobody waits for it any more.
    pub(crate) async fn put(self, keyboard: &mut Keyboard, screen: &Screen) -> Result<(), Failure> {
        let Self { question, mut reply } = self;
        let answering = Box::pin(keyboard.elicited(&question, screen));
        let answer = match select(answering, reply.cancellation()).await {
            Either::Left((answer, _)) => answer?,
            Either::Right(_) => {
                screen.tell("서버가 더 기다리지 않습니다: 답하지 않은 것으로 합니다.");
                return Ok(());
            }
        };
        if let Some(answer) = answer {
            // Whoever asked may have gone in this very moment.
            let _ = reply.send(answer);
        }
        Ok(())
    }
}
