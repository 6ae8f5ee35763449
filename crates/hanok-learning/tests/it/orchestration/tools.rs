//! Preferred and avoided tools.

use std::time::Duration;

use hanok_core::Timestamp;
use hanok_learning::{Actor, ToolMemory, ToolRef, ToolReport};
use serde_json::json;

use super::reports::*;
use crate::support::{backends, memory};

const DAY: u64 = 24 * 60 * 60 * 1_000;

/// A use of `tool` on a day, by its number.
fn used(n: u64, day: u64, tool: &ToolRef, task: &str, success: bool) -> Piece {
    let took = Duration::from_millis(100 * n);
    let report = ToolReport::new(task, tool.clone(), success, took);
    let report = report.arguments(&json!({ "top": n }));
    piece::<ToolMemory>(&kims(format!("u{n}"), day * DAY, Actor::Tool, report))
}

/// B137: three failures are not enough, nor is a bound that is not under 0.5; what is old does not count, and seven days are over.
#[tokio::test]
async fn a_tool_is_avoided_for_a_week_when_it_fails_often_and_surely() {
    let (tool, task) = (ToolRef::own("search"), "find a lease");
    // The uses as days, failures below zero and successes above; the day of the question; and until when it is avoided.
    let cases: [(&[i64], u64, Option<u64>); 9] = [
        (&[-40, -40, -40], 40, None),
        (&[-40, -40, -40, -40], 40, Some(47)),
        (&[-40, -40, -40, -41], 47, Some(48)),
        (&[-40, -40, -40, -41], 48, None),
        // One success among them: the bound is 0.62 for four failures, and under 0.5 for seven.
        (&[40, -40, -40, -40, -40], 40, None),
        (&[40, -40, -40, -40, -40, -40, -40, -40], 40, Some(47)),
        // Those of a month ago and more do not count, and neither do more than 20.
        (&[-9, -9, -9, -40], 40, None),
        (&[-10, -10, -10, -40], 40, Some(47)),
        (
            &[
                -39, -39, -39, -39, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40,
                40, 40, 40, 40,
            ],
            40,
            None,
        ),
    ];
    for (uses, today, until) in cases {
        let store = memory();
        let pieces = uses
            .iter()
            .enumerate()
            .map(|(n, day)| used(n as u64, day.unsigned_abs(), &tool, task, *day > 0));
        learn(&store, &pieces.collect::<Vec<_>>()).await;
        let advice = of_kim(&store).tools(task, Timestamp(today * DAY)).await.unwrap();
        let avoided = advice.tool(&tool).unwrap().avoidance.map(|it| it.until.0 / DAY);
        assert_eq!(avoided, until, "{uses:?} on day {today}");
        assert_eq!(advice.avoided().count(), usize::from(until.is_some()));
    }
}

/// B137: a tool that does well comes first with its arguments, one that is avoided last; tools of one name that are of different
/// servers are different ones.
#[tokio::test]
async fn preferred_tools_are_boosted_and_avoided_ones_stand_last() {
    let (good, bad) = (ToolRef::own("search"), ToolRef::of_server("maps", "search"));
    let mut pieces: Vec<_> =
        (1..=3).map(|n| used(n, 1, &good, "Find a lease in Mapo", true)).collect();
    // The same task in other words, and one that is another.
    pieces.push(used(4, 2, &good, "find the lease in Mapo", false));
    pieces.push(used(5, 2, &good, "find the lease in Mapo", true));
    pieces.extend((6..10).map(|n| used(n, 2, &bad, "find a lease in mapo", false)));
    pieces.push(used(10, 2, &ToolRef::own("mail"), "send a mail", true));
    for (_, store) in backends().await {
        learn(&store, &pieces).await;
        let now = Timestamp(3 * DAY);
        let advice = of_kim(&store).tools("Find a lease in Mapo", now).await.unwrap();
        assert_eq!(
            advice.iter().map(|it| it.tool.clone()).collect::<Vec<_>>(),
            [good.clone(), bad.clone()]
        );
        let best = advice.preferred().next().unwrap();
        assert_eq!((best.score.success, best.score.uses), (Some(0.8), 5));
        assert_eq!((best.score.similarity.letters, best.keys.len()), (1.0, 2));
        assert_eq!(best.mean_time, Some(Duration::from_millis(300)));
        assert_eq!(best.arguments, [r#"{"top":5}"#, r#"{"top":3}"#, r#"{"top":2}"#]);
        assert!((best.boost() - 0.24).abs() < 1e-12);
        let other = ToolRef::own("read");
        let ranked =
            advice.rerank(vec![(bad.clone(), 0.9), (other.clone(), 0.5), (good.clone(), 0.4)]);
        let names: Vec<_> = ranked.into_iter().map(|(tool, _)| tool).collect();
        assert_eq!(names, [good.clone(), other, bad.clone()]);
        assert!(advice.tool(&bad).unwrap().avoidance.is_some_and(|it| it.uses.failures == 4));
        // Never used for this: no rate, and neither preferred nor avoided.
        assert!(advice.tool(&ToolRef::own("mail")).is_none());
    }
}
