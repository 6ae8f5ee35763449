//! A conversation: questions in, answers out, on a thread that may outlive the program.

use std::{path::Path, process::ExitCode};

use futures::{StreamExt, stream};
use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
use hanok_core::{Answerer, Cancellation, RequestId, Stored, Tenant, ThreadKey};
use hanok_graph::{App, Graph, Input, Pending, RunError, Thread};
use hanok_sqlite::Sqlite;
use serde_json::Value;

use crate::{
    AtOnceQuestions, Options, Screen, Talk, aftermath,
    command::{RESUME, command_names},
    decision::{self, DecisionForm, Typed},
    elicitation::ServerQuestion,
    failure::{Failure, INTERRUPTED, WAITS},
    form::Form,
    json,
    keyboard::{Keyboard, Line},
    screen::TURN,
    shown::{Shown, TurnResult},
    typed,
};

/// A conversation on one thread.
#[derive(Debug)]
pub struct Session<T: Talk> {
    pub(crate) talk: T,
    pub(crate) app: App<T::State>,
    pub(crate) thread: Thread<T::State>,
    keyboard: Keyboard,
    /// What servers ask within a call.
    at_once: AtOnceQuestions,
    json: bool,
    answerer: Option<Answerer>,
    /// Whether a task of the last turn ran.
    ran: bool,
}

impl<T: Talk> Session<T> {
    /// Opens the thread that `options` name.
    ///
    /// # Errors
    ///
    /// [`Failure::Database`] when the file cannot be used, [`Failure::Thread`] for a name that is none.
    pub async fn open(
        talk: T,
        graph: &Graph<T::State>,
        options: &Options,
    ) -> Result<Self, Failure> {
        let (threads, _) = stores(options.db.as_deref()).await?;
        Self::on(threads, talk, graph, options)
    }

    /// Opens the thread that `options` name in `store`.
    ///
    /// # Errors
    ///
    /// [`Failure::Thread`] for a name that is none.
    pub fn on(
        store: SharedCheckpointer,
        talk: T,
        graph: &Graph<T::State>,
        options: &Options,
    ) -> Result<Self, Failure> {
        let app = graph.checkpointer(store);
        let thread = app.thread(key(&options.thread)?);
        let keyboard = Keyboard::new(command_names(&talk));
        let json = options.json;
        Ok(Self {
            talk,
            app,
            thread,
            keyboard,
            at_once: AtOnceQuestions::default(),
            json,
            answerer: None,
            ran: false,
        })
    }

    /// Answers questions as `answerer`. Default: as nobody.
    #[must_use]
    pub fn answering_as(self, answerer: Answerer) -> Self {
        Self { answerer: Some(answerer), ..self }
    }

    /// Keeps what is too large for a prompt in `memory`. Default: it is cut.
    #[must_use]
    pub fn remembering(self, memory: SharedStore) -> Self {
        let app = self.app.remembering(memory);
        Self { thread: app.thread(self.thread.key().clone()), app, ..self }
    }

    /// Asks whoever types what servers ask within a call. Default: nobody.
    #[must_use]
    pub fn at_once(self, questions: AtOnceQuestions) -> Self {
        Self { at_once: questions, ..self }
    }

    /// Does what `options` say: goes on, answers the question, or holds a conversation.
    ///
    /// # Errors
    ///
    /// [`Failure`] when there is no answer.
    pub async fn run(mut self, options: &Options, screen: &Screen) -> Result<ExitCode, Failure> {
        let answers = options.answers()?;
        if !answers.is_empty() {
            return self.turn(Input::Answers(answers), screen).await;
        }
        if options.resume {
            return self.turn(Input::Resume, screen).await;
        }
        match options.question() {
            Some(question) => self.say(&question, screen).await,
            None => self.converse(screen).await,
        }
    }

    /// Answers one question, or does one command.
    ///
    /// # Errors
    ///
    /// [`Failure`] when there is no answer.
    pub async fn say(&mut self, line: &str, screen: &Screen) -> Result<ExitCode, Failure> {
        let line = line.trim();
        if line.is_empty() {
            screen.tell("질문이 비어 있습니다.");
            return Ok(ExitCode::from(2));
        }
        match command_in(line) {
            // It is a turn, and no word about one.
            Some(_) if line == RESUME => self.turn(Input::Resume, screen).await,
            Some(command) => {
                let said = self.command(command).await?;
                screen.answer(&format!("{said}\n"))?;
                Ok(ExitCode::SUCCESS)
            }
            None => self.turn(Input::New(self.talk.ask(line)), screen).await,
        }
    }

    /// Answers one question a line until the input ends.
    async fn converse(&mut self, screen: &Screen) -> Result<ExitCode, Failure> {
        loop {
            screen.prompt();
            let line = match self.keyboard.line(typed::QUESTION, screen).await? {
                Line::Text(line) => line,
                Line::End => return Ok(ExitCode::SUCCESS),
                Line::Interrupted => return Ok(ExitCode::from(INTERRUPTED)),
            };
            if line.trim().is_empty() {
                continue;
            }
            match self.say(&line, screen).await {
                // The next line is no answer to what was asked.
                Ok(code) if code == ExitCode::from(WAITS) => return Ok(code),
                Ok(_) => {}
                Err(failure @ Failure::Output(_)) => return Err(failure),
                Err(failure) => {
                    screen.tell(&format!("오류: {}", failure.line()));
                    // A command that failed asked nothing.
                    let is_turn = command_in(line.trim()).is_none() || line.trim() == RESUME;
                    if let (Failure::Run(error), true) = (&failure, is_turn)
                        && let Some(advice) = aftermath::advice(&self.thread, error, self.ran).await
                    {
                        screen.tell(advice);
                    }
                }
            }
        }
    }

    /// Runs one turn to its end: what it asks is asked of the person who types, or printed where nobody does.
    async fn turn(
        &mut self,
        mut input: Input<T::State>,
        screen: &Screen,
    ) -> Result<ExitCode, Failure> {
        let mut before = Vec::new();
        loop {
            let questions = match self.run_once(input, screen).await {
                Ok(TurnResult::Over(code)) => return Ok(code),
                Ok(TurnResult::Waits(questions)) => questions,
                // What was answered to these does not fit as a whole: they are asked again.
                Err(Failure::Run(error))
                    if matches!(*error, RunError::WrongAnswer { .. }) && !before.is_empty() =>
                {
                    screen.tell(&Failure::Run(error).line());
                    std::mem::take(&mut before)
                }
                Err(failure) => return Err(failure),
            };
            if !screen.is_asking() || self.json {
                self.print(&questions, screen)?;
                return Ok(ExitCode::from(WAITS));
            }
            let Some(answers) = self.answers(&questions, screen).await? else {
                screen.tell("답하지 않고 멈췄습니다. 질문은 대화에 남아 있습니다.");
                return Ok(ExitCode::from(WAITS));
            };
            input = Input::Answers(answers);
            before = questions;
        }
    }

    /// Prints what a turn waits for, and how it is answered.
    fn print(&self, questions: &[Pending], screen: &Screen) -> Result<(), Failure> {
        if self.json {
            for question in questions {
                screen.json(&json::question(question, self.talk.question_event()))?;
            }
            screen.json(&json::ended(None, WAITS))?;
            return Ok(());
        }
        screen.tell("사람의 답을 기다립니다. 답: --answer ID JSON (같은 --db, --thread로)");
        for question in questions {
            let id = &question.id.0;
            if let Some(decision) = DecisionForm::of(question) {
                let asked = ServerQuestion::of(question);
                let shown = asked.as_ref().map_or_else(|| decision.shown(), |it| it.shown.clone());
                screen.tell(&format!("[{id}] {shown}"));
                let fields = asked.iter().flat_map(ServerQuestion::fields);
                fields.for_each(|field| screen.tell(&format!("  - {}", field.line())));
                screen.tell(&format!("  - 답: {}", decision.answers().join(" | ")));
                continue;
            }
            let form = Form::of(question);
            screen.tell(&format!("[{id}] {}", form.question));
            form.fields.iter().for_each(|field| screen.tell(&format!("  - {}", field.line())));
        }
        Ok(())
    }

    /// What the person who types answers; `None` when they stop.
    async fn answers(
        &mut self,
        questions: &[Pending],
        screen: &Screen,
    ) -> Result<Option<Vec<(RequestId, Stored)>>, Failure> {
        let mut answers = Vec::new();
        for question in questions {
            let answer = match (ServerQuestion::of(question), DecisionForm::of(question)) {
                (Some(asked), _) => self.keyboard.elicited(&asked, screen).await?,
                (None, Some(form)) => self.decision(question, &form, screen).await?,
                (None, None) => {
                    let form = Form::of(question);
                    screen.tell(&form.question);
                    let values = self.keyboard.values(&form.fields, screen).await?;
                    values.map(|values| form.answer(values))
                }
            };
            let Some(answer) = answer else { return Ok(None) };
            let answer = Stored::encode(&answer).map_err(Failure::wiring)?;
            answers.push((question.id.clone(), answer));
        }
        Ok(Some(answers))
    }

    /// The decision of the person who types; `None` when they stop.
    async fn decision(
        &mut self,
        question: &Pending,
        form: &DecisionForm,
        screen: &Screen,
    ) -> Result<Option<Value>, Failure> {
        screen.tell(&form.shown());
        loop {
            let Line::Text(line) = self.keyboard.reply_line(&form.prompt(), screen).await? else {
                return Ok(None);
            };
            let typed = match form.read(&line) {
                Typed::Edits => {
                    let Line::Text(line) = self.keyboard.reply_line("칸=값", screen).await?
                    else {
                        return Ok(None);
                    };
                    form.edited(&line)
                }
                typed => typed,
            };
            match typed {
                Typed::Decided(decision) => return Ok(Some(decision)),
                Typed::Always(decision) => {
                    if let Some((tool, definition)) = decision::standing(question) {
                        let answerer = self.answerer.clone();
                        let said = self.talk.always(&tool, definition, answerer);
                        screen.tell(&said.await?);
                    }
                    return Ok(Some(decision));
                }
                Typed::Help(help) => screen.tell(&help),
                Typed::Edits => {}
            }
        }
    }

    /// Runs the thread once, shown as it goes. Ctrl-C stops the answer and keeps the thread; a second one does not wait for it.
    async fn run_once(
        &mut self,
        input: Input<T::State>,
        screen: &Screen,
    ) -> Result<TurnResult, Failure> {
        let stop = Cancellation::default();
        let thread = self.thread.clone().cancellation(stop.clone());
        let thread = match &self.answerer {
            Some(answerer) => thread.answering_as(answerer.clone()),
            None => thread,
        };
        self.ran = false;
        let mut shown = Shown::new(screen, &self.talk, self.json);
        let mut events = thread.stream(input, ());
        let mut ticks = Box::pin(stream::unfold(tokio::time::interval(TURN), |mut ticks| async {
            ticks.tick().await;
            Some(((), ticks))
        }));
        let mut is_over = false;
        while !is_over {
            let asked = tokio::select! {
                biased;
                () = self.keyboard.interrupts.next() => match stop.is_cancelled() {
                    true => return Ok(TurnResult::Over(ExitCode::from(INTERRUPTED))),
                    false => {
                        stop.cancel();
                        continue;
                    }
                },
                event = events.next() => {
                    match event {
                        Some(event) => shown.event(&event)?,
                        None => is_over = true,
                    }
                    continue;
                }
                asked = self.at_once.next() => asked,
                _ = ticks.next() => {
                    shown.idle();
                    continue;
                }
            };
            // What happens meanwhile is shown when the person has answered.
            let mut meanwhile = Vec::new();
            {
                let mut answering = Box::pin(asked.put(&mut self.keyboard, screen));
                loop {
                    tokio::select! {
                        biased;
                        put = &mut answering => break put?,
                        event = events.next(), if !is_over => match event {
                            Some(event) => meanwhile.push(event),
                            None => is_over = true,
                        },
                    }
                }
            }
            meanwhile.iter().try_for_each(|event| shown.event(event))?;
        }
        self.ran = shown.ran;
        match events.outcome().await {
            // A node that is stopped in its work may say so by an error.
            Err(_) if stop.is_cancelled() => shown.stopped(),
            outcome => shown.outcome(outcome?),
        }
    }
}

/// The stores of threads and of all else, in the file at `path`; without one nothing lasts.
///
/// # Errors
///
/// [`Failure::Unreadable`] where its folder is not there, [`Failure::Database`] when the file cannot be used.
pub async fn stores(path: Option<&Path>) -> Result<(SharedCheckpointer, SharedStore), Failure> {
    let Some(path) = path else {
        let (threads, store) = (InMemoryCheckpointer::new(), InMemoryStore::new());
        return Ok((SharedCheckpointer::new(threads), SharedStore::new(store)));
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let missing = format!("{}: {} 폴더가 없습니다", path.display(), folder.display());
        return Err(Failure::unreadable("대화 파일을", missing));
    }
    let sqlite = Sqlite::open(path)
        .await
        .map_err(|source| Failure::Database { path: path.to_owned(), source: Box::new(source) })?;
    Ok((SharedCheckpointer::new(sqlite.clone()), SharedStore::new(sqlite)))
}

/// The command that a line is, without its sign. What begins with the path of a file is a question.
fn command_in(line: &str) -> Option<&str> {
    let command = line.strip_prefix('/')?;
    let name = command.split(char::is_whitespace).next().unwrap_or_default();
    name.chars().all(|c| c.is_alphanumeric() || c == '-').then_some(command)
}

/// The thread of this name.
pub(crate) fn key(name: &str) -> Result<ThreadKey, Failure> {
    ThreadKey::new(Tenant::default(), name).map_err(Failure::Thread)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use hanok_agent::StopReason;
    use hanok_core::BoxError;
    use hanok_graph::{Context, END, START, Snapshot};
    use hanok_state::{Messages, State};

    use super::*;
    use crate::Ended;

    #[derive(State, Debug, Clone, Default)]
    struct TalkState {
        messages: Messages,
        answer: String,
    }

    static HAS_FAILED: AtomicBool = AtomicBool::new(false);

    /// Fails the first time.
    async fn reply(_: Snapshot<TalkState>, _: Context) -> Result<TalkStateUpdate, BoxError> {
        match HAS_FAILED.swap(true, Ordering::SeqCst) {
            false => Err("the server died".into()),
            true => Ok(TalkState::update().answer("이틀".to_owned())),
        }
    }

    struct Plain;

    impl Talk for Plain {
        type State = TalkState;

        fn ask(&self, _: &str) -> TalkStateUpdate {
            TalkState::update()
        }

        fn ended(&self, state: &TalkState) -> Ended {
            Ended { answer: Some(state.answer.clone()), stopped: Some(StopReason::Answered) }
        }

        fn messages<'s>(&self, state: &'s TalkState) -> &'s Messages {
            &state.messages
        }

        fn drawing(&self) -> String {
            String::new()
        }
    }

    /// A turn that failed goes on in the same conversation, without a file that outlives it.
    #[tokio::test]
    async fn a_turn_that_failed_is_resumed_within_the_conversation() {
        let graph = Graph::<TalkState>::builder("plain").node("reply", reply);
        let graph = graph.edge(START, "reply").edge("reply", END).build().unwrap();
        let options = Options {
            question: Vec::new(),
            thread: "main".to_owned(),
            db: None,
            resume: false,
            answer: Vec::new(),
            graph: false,
            json: true,
            trace: false,
        };
        let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
        let mut session = Session::on(store, Plain, &graph, &options).unwrap();
        let screen = Screen::new(false);
        let Err(Failure::Run(error)) = session.say("휴가는 며칠?", &screen).await else {
            panic!("it has an answer")
        };
        let advice = aftermath::advice(&session.thread, &error, session.ran).await;
        assert!(advice.is_some_and(|advice| advice.contains(RESUME)), "{advice:?}");
        let resumed = session.say(RESUME, &screen).await;
        assert!(matches!(resumed, Ok(code) if code == ExitCode::SUCCESS), "{resumed:?}");
        assert_eq!(session.thread.state(None).await.unwrap().unwrap().answer, "이틀");
    }
}
