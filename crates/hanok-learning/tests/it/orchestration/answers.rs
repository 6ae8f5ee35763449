//! Answers that are used again.

use hanok_core::{BoxError, Call, Tenant};
use hanok_learning::{
    Actor, ClarificationAdvice, ClarificationEvent, ClarificationMemory, ClarificationReport,
    Clarity, EqualTexts, Shortfall, TextJudge, TextRelation,
};

use super::reports::*;
use crate::support::{NOW, backends, memory};

const QUERY: &str = "Show me the lease of the building";

const ANSWERED: ClarificationEvent =
    ClarificationEvent::Answered { before: CLARITY.0, after: CLARITY.1 };
const CLARITY: (Clarity, Clarity) =
    (Clarity::from_thousandths(300), Clarity::from_thousandths(900));

/// A story of answers, in its order: how often each event came.
fn story(events: &[(&str, ClarificationEvent, usize)]) -> Vec<Piece> {
    let all = events
        .iter()
        .flat_map(|(answer, event, times)| std::iter::repeat_n((*answer, *event), *times));
    let piece = |(at, (answer, event)): (usize, (&str, ClarificationEvent))| {
        let actor =
            if event == ClarificationEvent::Applied { Actor::Automatic } else { Actor::User };
        let report = ClarificationReport::new(QUERY, answer, event);
        piece::<ClarificationMemory>(&kims(format!("c{at:03}"), at as u64, actor, report))
    };
    all.enumerate().map(piece).collect()
}

/// B137: five confirmations of people, a confidence of 0.9, and no newer answer.
#[tokio::test]
async fn an_answer_is_used_without_asking_when_people_confirmed_it_often_enough() {
    use ClarificationEvent::{Applied, Confirmed, Refuted};
    type Events<'a> = &'a [(&'a str, ClarificationEvent, usize)];
    let cases: [(Events, Option<&str>); 8] = [
        (&[("A", ANSWERED, 1)], None),
        (&[("A", ANSWERED, 9)], None),
        (&[("A", ANSWERED, 1), ("A", Confirmed, 4), ("A", Applied, 90)], None),
        (&[("A", ANSWERED, 1), ("A", Confirmed, 5)], Some("A")),
        (&[("A", ANSWERED, 1), ("A", Confirmed, 8), ("A", Refuted, 1)], None),
        (&[("A", ANSWERED, 1), ("A", Confirmed, 9), ("A", Refuted, 1)], Some("A")),
        (&[("A", ANSWERED, 1), ("A", Confirmed, 9), ("B", ANSWERED, 1)], None),
        (&[("B", ANSWERED, 1), ("A", ANSWERED, 1), ("A", Confirmed, 9)], Some("A")),
    ];
    for (events, want) in cases {
        let store = memory();
        learn(&store, &story(events)).await;
        let advice = of_kim(&store).clarification("show me the LEASE of the building", NOW).await;
        let advice = advice.unwrap();
        let automatic = advice.automatic().map(|it| it.value.answer.as_str());
        assert_eq!(automatic, want, "{events:?}");
        for candidate in advice.answers.iter() {
            let reasons = ClarificationAdvice::reasons(candidate);
            assert_eq!(reasons.is_empty(), Some(candidate.value.answer.as_str()) == want);
        }
    }
}

/// B137
#[tokio::test]
async fn an_answer_says_what_it_did_for_the_query_and_why_it_is_not_used() {
    for (_, store) in backends().await {
        learn(&store, &story(&[("A", ANSWERED, 2), ("A", ClarificationEvent::Applied, 3)])).await;
        let advice = of_kim(&store).clarification(QUERY, NOW).await.unwrap();
        let answer = advice.answers.iter().next().unwrap();
        assert_eq!((answer.value.clarity, answer.value.applied), (Some((0.3, 0.9)), 3));
        // Nobody used it again: no rate.
        assert_eq!((answer.score.success, answer.value.reused.rate()), (None, None));
        let reasons = ClarificationAdvice::reasons(answer);
        let rarely = Shortfall::RarelyConfirmed { confirmed: 0, least: 5 };
        assert_eq!(reasons, [Shortfall::NeverUsed, rarely]);
        assert_eq!(reasons[1].to_string(), "people confirmed it 0 times, and it takes 5");
    }
}

/// Judges as it was made.
struct Judges(TextRelation);

impl TextJudge for Judges {
    async fn judge(&self, _: &str, _: &str, _: &Call) -> Result<TextRelation, BoxError> {
        Ok(self.0)
    }
}

/// B137: an answer to a query that is only like this one waits for a judge, and nobody's word makes it count more often.
#[tokio::test]
async fn an_answer_to_a_query_like_this_one_waits_for_a_judge() {
    let store = memory();
    learn(&store, &story(&[("A", ANSWERED, 1), ("A", ClarificationEvent::Confirmed, 5)])).await;
    let read = async || of_kim(&store).clarification("Show me a lease of the building", NOW).await;
    let advice = read().await.unwrap();
    assert!(advice.automatic().is_none());
    let candidate = advice.answers.best().unwrap();
    assert_eq!(ClarificationAdvice::reasons(candidate), [Shortfall::Unjudged]);
    let call = Call::detached();
    let same = read().await.unwrap().judged(&Judges(TextRelation::Same), &call).await.unwrap();
    assert_eq!(same.automatic().unwrap().value.answer, "A");
    for relation in [TextRelation::Different, TextRelation::Contradicting] {
        let judged = read().await.unwrap().judged(&Judges(relation), &call).await.unwrap();
        assert!(judged.automatic().is_none() && judged.answers.best().is_none());
        let reasons = &judged.answers.iter().next().unwrap().shortfalls;
        assert_eq!(reasons, &[Shortfall::Judged { relation }]);
    }
    let alone = read().await.unwrap().judged(&EqualTexts, &call).await.unwrap();
    assert!(alone.automatic().is_none());
    // A text that is the same needs no judge.
    let exact = of_kim(&store).clarification(QUERY, NOW).await.unwrap();
    let exact = exact.judged(&Judges(TextRelation::Different), &call).await.unwrap();
    assert!(exact.automatic().is_some());
}

/// A judge whose model is down.
struct Down;

impl TextJudge for Down {
    async fn judge(&self, _: &str, _: &str, _: &Call) -> Result<TextRelation, BoxError> {
        Err("the model's server does not answer".into())
    }
}

/// B137: with the judge's model down nothing passes for the same, nothing that was counted is lost, and what needs no judge is answered
/// without it.
#[tokio::test]
async fn with_the_judge_s_model_down_nothing_passes_and_all_stays_counted() {
    for (_, store) in backends().await {
        let before = [("A", ANSWERED, 1), ("A", ClarificationEvent::Confirmed, 5)];
        learn(&store, &story(&before)).await;
        let kim = memories(&store).of(Tenant::default(), "kim");
        let stored = async || kim.all::<ClarificationMemory>(NOW).await.unwrap();
        let counted = stored().await;
        let read = async |query| of_kim(&store).clarification(query, NOW).await.unwrap();
        let call = Call::detached();
        let like = read("Show me a lease of the building").await;
        let error = like.judged(&Down, &call).await.unwrap_err();
        assert_eq!(error.to_string(), "the model's server does not answer");
        assert_eq!(stored().await, counted);
        // Unjudged it is shown, and not used.
        let like = read("Show me a lease of the building").await;
        assert!(like.automatic().is_none() && like.answers.iter().next().is_some());
        let exact = read(QUERY).await.judged(&Down, &call).await.unwrap();
        assert_eq!(exact.automatic().unwrap().value.answer, "A");
    }
}
