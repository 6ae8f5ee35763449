//! The selection of the delegations that are run.

use crate::route::Delegation;

/// The delegations of a reply that are run, in its order, and those that are not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// There is one at least.
    pub(crate) run: Vec<Delegation>,
    /// The agents of those that are one too many.
    pub(crate) skipped: Vec<String>,
    /// The agents of those that were answered before.
    pub(crate) answered: Vec<String>,
}

/// The first `most` of `to`. Where several may be run, one that was answered already makes room for one that was not, and
/// of equal ones the first is run.
pub(crate) fn select(
    to: Vec<Delegation>,
    most: usize,
    parallel: bool,
    is_answered: impl Fn(&Delegation) -> bool,
) -> Selection {
    let (mut run, mut skipped, mut answered) = (Vec::new(), Vec::new(), Vec::new());
    let all_answered = to.iter().all(&is_answered);
    for delegation in to {
        if parallel && run.contains(&delegation) {
            continue;
        }
        if parallel && !all_answered && is_answered(&delegation) {
            answered.push(delegation.agent);
        } else if run.len() < most {
            run.push(delegation);
        } else {
            skipped.push(delegation.agent);
        }
    }
    Selection { run, skipped, answered }
}

#[cfg(test)]
mod tests {
    use super::{Selection, select};
    use crate::route::Delegation;

    #[test]
    fn so_many_are_run_in_their_order_and_the_others_named() {
        let to = |agent: &str, task: &str| Delegation {
            agent: agent.to_owned(),
            task: Some(task.to_owned()),
        };
        let names = |all: Vec<Delegation>| {
            let all = all.into_iter().map(|to| format!("{} {}", to.agent, to.task.unwrap()));
            all.collect::<Vec<_>>().join(", ")
        };
        let all = || vec![to("a", "x"), to("b", "done"), to("a", "x"), to("a", "y"), to("c", "x")];
        for (most, parallel, want) in [
            (1, false, ("a x", "b, a, a, c", "")),
            (9, true, ("a x, a y, c x", "", "b")),
            (2, true, ("a x, a y", "c", "b")),
        ] {
            let is_answered = |to: &Delegation| to.task.as_deref() == Some("done");
            let Selection { run, skipped, answered } = select(all(), most, parallel, is_answered);
            let got = (names(run), skipped.join(", "), answered.join(", "));
            assert_eq!((got.0.as_str(), got.1.as_str(), got.2.as_str()), want, "{most} {parallel}");
        }
        // One that was answered is better than none; its agent may say more.
        let selection = select(vec![to("b", "done")], 1, true, |_| true);
        assert_eq!((names(selection.run), selection.answered.len()), ("b done".to_owned(), 0));
    }
}
