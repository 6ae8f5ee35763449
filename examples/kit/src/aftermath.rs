//! What a question that failed leaves in the conversation.

use hanok_checkpoint::RunEnd;
use hanok_graph::{RunError, Thread, TurnEnd};
use hanok_state::State;

/// What a person should know after a question failed, only as far as it is so. `began` says whether the turn ran at all.
pub(crate) async fn advice<S: State>(
    thread: &Thread<S>,
    error: &RunError,
    began: bool,
) -> Option<&'static str> {
    if let RunError::Conflict { .. } = error {
        return Some(match began {
            true => "이 대화는 다른 프로세스가 이어 갑니다. /history로 볼 수 있습니다.",
            false => "이 질문은 대화에 들어가지 않았습니다. 나중에 다시 물어보세요.",
        });
    }
    // Whether the first append of a turn that did not run was stored, nobody knows.
    let ends = if began { thread.turn_ends().await.ok()? } else { return None };
    left_by(&ends)
}

/// What the turn that ended last leaves, when it is this one that failed.
fn left_by(ends: &[TurnEnd]) -> Option<&'static str> {
    let (last, before) = ends.split_last()?;
    if last.outcome == RunEnd::Done {
        return None;
    }
    Some(match before.iter().any(|end| end.outcome == RunEnd::Done) {
        true => {
            "이 질문은 대화에 남아 있습니다. /resume으로 이어서 하거나 /rewind 1로 되돌릴 수 있습니다."
        }
        false => {
            "이 질문은 대화에 남아 있습니다. /resume으로 이어서 할 수 있습니다. 그 앞에 끝난 차례가 없어 되돌릴 수는 없습니다."
        }
    })
}

#[cfg(test)]
mod tests {
    use hanok_core::Position;

    use super::*;

    #[test]
    fn what_is_said_of_a_failed_turn_can_be_done() {
        let ends = |outcomes: &[RunEnd]| -> Vec<TurnEnd> {
            let ends = outcomes.iter().zip(1..);
            ends.map(|(outcome, at)| TurnEnd { position: Position(at), outcome: outcome.clone() })
                .collect()
        };
        let (done, failed) = (RunEnd::Done, RunEnd::Failed);
        let of = |outcomes: &[RunEnd]| left_by(&ends(outcomes)).map(|it| it.contains("/rewind 1"));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[done.clone(), failed.clone()]), Some(true));
        for before in [&[done.clone(), failed.clone()][..], std::slice::from_ref(&failed)] {
            let words = left_by(&ends(before));
            assert!(words.is_some_and(|words| words.contains("/resume")), "{words:?}");
        }
        // A first turn cannot be taken back.
        assert_eq!(of(std::slice::from_ref(&failed)), Some(false));
        // Another process has answered since.
        assert_eq!(of(&[done.clone(), failed, done]), None);
    }
}
