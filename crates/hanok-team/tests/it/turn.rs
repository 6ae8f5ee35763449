//! A turn as those see it who watch it, and those who come later and read the log.

use hanok_core::BoxError;
use hanok_graph::Outcome;
use hanok_team::{StepStatus, Team, TeamEvent, steps_of};

use crate::support::{House, Planner, ends, taking, team};

/// One line for each event; the lists as `step status`.
fn lines(events: &[TeamEvent]) -> String {
    let line = |event: &TeamEvent| match event {
        TeamEvent::TodoUpdated { execution_steps } => {
            let steps = execution_steps.iter();
            let steps = steps.map(|step| format!("{} {:?}", step.step_id, step.status));
            format!("todo: {}", steps.collect::<Vec<_>>().join(", "))
        }
        TeamEvent::Decision { choice } => {
            format!("decision: {:?} {:?} {}", choice.kind, choice.chosen, choice.confidence)
        }
        other => serde_json::to_string(other).unwrap(),
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn the_sequence_of_a_turn() {
    let planner = Planner::of(&[
        ("search", "search", &[]),
        ("analysis", "analysis", &["search"]),
        ("document", "document", &["analysis"]),
    ]);
    let teams = ["search", "analysis", "document"].map(|name| Team::new(taking(name, 1)));
    let (events, state) = House::new(planner, teams).watch("Help me.").await;
    insta::assert_snapshot!(lines(&events));
    insta::assert_snapshot!(state.answer.unwrap());
}

/// B126: a team that asks a person: the others end first, the question is the thread's, the log shows the same list as the events, and
/// the answer starts nothing a second time.
#[tokio::test(start_paused = true)]
async fn a_team_that_asks_waits_alone() {
    let planner = Planner::of(&[
        ("search", "search", &[]),
        ("document", "document", &[]),
        ("letter", "letter", &["document"]),
    ]);
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = runs.clone();
    let search = team("search", move |_, cx| {
        let counted = counted.clone();
        async move {
            cx.runtime().clock.sleep(std::time::Duration::from_secs(3)).await;
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok::<_, BoxError>("found".to_owned())
        }
    });
    let document = team("document", |_, cx| async move {
        let name: String = cx.interrupt("Who is the tenant?").await?;
        Ok::<_, BoxError>(format!("a lease for {name}"))
    });
    let teams = [Team::new(search), Team::new(document).asks(), Team::new(taking("letter", 1))];
    let house = House::new(planner, teams);
    let thread = house.thread();
    let outcome = thread.invoke(house.supervisor.ask("Help me."), ()).await.unwrap();
    let Outcome::Interrupted(questions) = outcome else { panic!("{outcome:?}") };
    assert_eq!(questions.len(), 1);

    let state = thread.state(None).await.unwrap().unwrap();
    let list = steps_of(&state, &thread.views(None).await.unwrap());
    let list: Vec<_> = list.iter().map(|step| (step.step_id.as_str(), step.status)).collect();
    assert_eq!(
        list,
        [
            ("search", StepStatus::Completed),
            ("document", StepStatus::Running),
            ("letter", StepStatus::Pending),
        ]
    );
    // Another process answers.
    let state = house.thread().reply("Kim", ()).await.unwrap().done().unwrap();
    assert_eq!(runs.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!(
        ends(&state),
        [
            "document Completed: a lease for Kim",
            "letter Completed: letter did \"do letter\" after document",
            "search Completed: found",
        ]
    );
    assert_eq!(house.planner.requests(), ["intent", "plan", "answer"]);
    let list = steps_of(&state, &thread.views(None).await.unwrap());
    assert!(list.iter().all(|step| step.status == StepStatus::Completed), "{list:?}");
}

/// B127: a figure that no tool gave and the user did not write is marked; those of a tool, in whatever form, are not.
#[tokio::test]
async fn a_figure_that_nobody_gave_is_marked() {
    use hanok_grounding::{Grounding, Unsupported};
    use hanok_model::{Exchange, ScriptedModel};
    use hanok_state::State;
    use hanok_supervisor::{Member, MemberOutput};
    use hanok_team::TeamSupervisor;
    use serde_json::json;

    use crate::support::{Work, done, plan};

    let answer = async |unsupported: Unsupported, more: Vec<Exchange>| {
        let intent =
            json!({"intent": "rent", "confidence": 1, "in_scope": true, "parts": [], "reason": ""});
        let script = [intent.to_string(), plan(&[("search", "search", &[])]).to_string()];
        let script = script.map(Exchange::says).into_iter();
        let invents = Exchange::says("3억 3천만원까지 5% 올릴 수 있고, 12.3%는 안 됩니다.");
        let model = ScriptedModel::new(script.chain([invents]).chain(more));
        let output = |_: Work| {
            let data = json!({"deposit_won": 330_000_000, "cap_percent": 5});
            MemberOutput::from("The cap is 5 %.").data("rent", data)
        };
        let search =
            Member::graph("search", "Searches", done("search"), |_| Work::update(), output);
        let supervisor = TeamSupervisor::builder(model.clone())
            .team(search)
            .grounding(Grounding::new().unsupported(unsupported))
            .language(hanok_agent::Language::Korean)
            .build()
            .unwrap();
        let state = supervisor.graph().invoke(supervisor.ask("얼마까지?"), ()).await.unwrap();
        model.finished().unwrap();
        state.done().unwrap().answer.unwrap()
    };
    insta::assert_snapshot!(answer(Unsupported::Mark, vec![]).await);
    let again = Exchange::says("5%까지 올릴 수 있습니다.").contains("12.3%");
    insta::assert_snapshot!(answer(Unsupported::AskAgain, vec![again]).await);
    insta::assert_snapshot!(answer(Unsupported::Refuse, vec![]).await);
}
