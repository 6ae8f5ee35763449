//! Questions of servers to a person: what is shown of one, what may not be asked, and the answer.
//!
//! An [`Elicitation`] is what a server wants to know, bounded and with its hidden characters shown. A form that asks for a secret
//! is none: it ends the call. Who asks the person is decided above: the run of a call, which ends and goes on with the answer, or
//! an [`Elicitor`], which answers at once.

mod answer;
mod elicitor;
mod question;

pub use answer::ElicitationAnswer;
pub use elicitor::Elicitor;
pub use question::{Elicitation, ElicitationMode};

pub(crate) use elicitor::{PATIENCE, Prompted, Prompter, SharedElicitor};
