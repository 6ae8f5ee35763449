//! What of a run has been shown.

use std::{process::ExitCode, time::Instant};

use hanok_agent::StopReason;
use hanok_core::{Spent, Token};
use hanok_graph::{Event, EventKind, Outcome, Pending};

use crate::{
    Ended, Screen, Talk,
    failure::{Failure, INTERRUPTED, LIMIT},
    json,
    live::Live,
    messages, progress,
    silence::Silence,
};

/// What of a run has been shown.
pub(crate) struct Shown<'s, T> {
    screen: &'s Screen,
    talk: &'s T,
    /// Whether events are printed, and not the answer alone.
    json: bool,
    live: Live,
    began: Instant,
    silence: Silence,
    /// Whether a task of the thread's own graph ran.
    pub(crate) ran: bool,
    spent: Spent,
    /// The answer of a turn that has ended: it is shown if another turn follows in the same run.
    finished: Option<String>,
    last: Option<String>,
}

impl<'s, T: Talk> Shown<'s, T> {
    pub(crate) fn new(screen: &'s Screen, talk: &'s T, json: bool) -> Self {
        Self {
            screen,
            talk,
            json,
            live: Live::default(),
            began: Instant::now(),
            silence: Silence::new(Instant::now()),
            ran: false,
            spent: Spent::default(),
            finished: None,
            last: None,
        }
    }

    pub(crate) fn idle(&mut self) {
        if let Some(line) = self.silence.report(Instant::now()) {
            self.screen.tell(&line);
        }
        if !self.live.is_showing() {
            self.screen.spin();
        }
    }

    pub(crate) fn event(&mut self, event: &Event) -> Result<(), Failure> {
        self.silence.end(Instant::now());
        if let Some(answer) = self.finished.take() {
            self.screen.tell("끊긴 질문에 먼저 답했습니다:");
            self.finish(&answer)?;
        }
        let answers = self.talk.is_answer(event);
        if self.json
            && let Some(line) = json::line(event, answers, self.talk)
        {
            self.screen.json(&line)?;
        }
        if let Some(lane) = self.talk.lane(event) {
            self.screen.lane(lane);
        }
        match &event.kind {
            EventKind::Custom(item) => {
                let seen = !self.screen.is_tracing() && progress::is_seen_anyway(item);
                if let Some(line) = self.talk.line(item).filter(|_| !seen) {
                    self.screen
                        .step(&format!("{:5.1}초 {line}", self.began.elapsed().as_secs_f32()));
                }
            }
            EventKind::Token(Token::Text(piece)) if answers => self.piece(piece)?,
            // What was written so far is no part of the answer, or was a word before a call.
            EventKind::Token(Token::Retracted) if answers => self.again()?,
            EventKind::TaskStarted { .. } if event.path.is_root() => {
                self.ran = true;
                self.again()?;
            }
            EventKind::Values(state) if event.path.is_root() => {
                let state = state.get::<T::State>().ok();
                self.last = state.and_then(|state| self.talk.ended(&state).answer);
            }
            EventKind::Ended { spent, .. } => {
                self.spent = self.spent.plus(*spent);
                self.finished = self.last.take();
            }
            EventKind::AnswerVoided { reason, .. } => {
                self.screen.step(&format!("(답이 무효가 되었습니다: {reason})"));
            }
            EventKind::Lagged(count) => self.screen.step(&format!("(사건 {count}개 생략)")),
            EventKind::Cut { error } => self.screen.step(&format!("(사건을 읽지 못함: {error})")),
            _ => {}
        }
        Ok(())
    }

    /// Another text follows.
    fn again(&mut self) -> Result<(), Failure> {
        self.screen.end_line()?;
        self.live.restart();
        Ok(())
    }

    fn piece(&mut self, piece: &str) -> Result<(), Failure> {
        let text = self.live.take(piece);
        if self.screen.is_live() && !self.json && !text.is_empty() {
            self.screen.answer(text)?;
        }
        Ok(())
    }

    /// Prints what of an answer was not printed yet.
    fn finish(&mut self, answer: &str) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        let rest = match self.screen.is_live() {
            true => self.live.rest(answer),
            false => answer.to_owned(),
        };
        self.screen.answer(&format!("{rest}\n"))?;
        self.live.restart();
        Ok(())
    }

    /// Ends the turn: its exit, or the questions that it waits for.
    pub(crate) fn outcome(mut self, outcome: Outcome<T::State>) -> Result<TurnResult, Failure> {
        self.screen.end_lanes();
        let code = match outcome {
            Outcome::Interrupted(questions) | Outcome::InDoubt(questions) => {
                self.screen.end_line()?;
                return Ok(TurnResult::Waits(questions.requests));
            }
            Outcome::Done(state) => {
                let Ended { answer, stopped } = self.talk.ended(&state);
                self.finish(answer.as_deref().unwrap_or(messages::NO_ANSWER))?;
                self.last = answer;
                match stopped {
                    Some(StopReason::Answered) => 0,
                    Some(StopReason::MaxIterations) => {
                        self.screen.tell("모델에 물을 수 있는 횟수의 한도에 이르러 멈췄습니다.");
                        LIMIT
                    }
                    _ => 1,
                }
            }
            Outcome::LimitReached { which, .. } => {
                self.screen.tell(&format!(
                    "한도({which})에 이르러 멈췄습니다. /resume이나 --resume으로 이어 갈 수 있습니다."
                ));
                LIMIT
            }
            Outcome::Cancelled(_) => return self.stopped(),
            _ => {
                self.screen
                    .tell("답을 끝내지 못했습니다. /resume이나 --resume으로 이어 갈 수 있습니다.");
                1
            }
        };
        self.over(code)
    }

    /// Ends a turn that was stopped.
    pub(crate) fn stopped(self) -> Result<TurnResult, Failure> {
        self.screen.end_lanes();
        self.screen.tell("답을 멈췄습니다. 대화는 남아 있습니다.");
        self.over(INTERRUPTED)
    }

    /// Ends a turn that waits for nobody.
    fn over(self, code: u8) -> Result<TurnResult, Failure> {
        if self.screen.is_tracing() {
            let Spent { model_calls, tool_calls, input_tokens, output_tokens, .. } = self.spent;
            self.screen.tell(&format!(
                "  모델 {model_calls}회, 도구 {tool_calls}회, 토큰 {input_tokens} + {output_tokens}, {:.1}초",
                self.began.elapsed().as_secs_f32()
            ));
        }
        if self.json {
            self.screen.json(&json::ended(self.last.as_deref(), code))?;
        }
        Ok(TurnResult::Over(ExitCode::from(code)))
    }
}

impl<T> Drop for Shown<'_, T> {
    fn drop(&mut self) {
        self.screen.end_lanes();
    }
}

/// What a run came to.
pub(crate) enum TurnResult {
    /// The turn is over, with this exit.
    Over(ExitCode),
    /// The turn waits for a person.
    Waits(Vec<Pending>),
}
