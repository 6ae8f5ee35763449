//! A model that is told what day it is.

use std::fmt::Write as _;

use hanok_core::{Call, Timestamp};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError};
use hanok_state::{Message, Role};

use crate::{ClockError, DateTimeReport, clock, datetime_in};

/// A [`ChatModel`] whose every request says what day it is: the date, the weekday and the time zone, at the end of the system prompt. A
/// model knows none of them, and cannot plan `tomorrow at three` without.
///
/// The time is the run's own ([`Call::clock`]). The line holds the day alone, so that servers that keep what they have read of a prompt
/// read it anew once a day; [`to_the_minute`](Self::to_the_minute) adds the time. Of a time after the year 9999 nothing is said.
///
/// ```
/// use hanok_core::Call;
/// use hanok_model::{ChatModel, ChatRequest, Exchange, ScriptedModel};
/// use hanok_state::Message;
/// use hanok_tools::Dated;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = ScriptedModel::new([Exchange::says("A Monday.").contains("Be brief.\n\nToday: 20")]);
/// let model = Dated::new(script.clone()).zone("asia/seoul")?;
/// let request = ChatRequest::new([Message::system("Be brief."), Message::user("Which day is it?")]);
/// model.chat(request, &Call::detached()).await?;
/// assert!(script.requests()[0].messages[0].text().ends_with(", Asia/Seoul, UTC+09:00"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Dated<M> {
    model: M,
    zone: String,
    to_the_minute: bool,
    korean: bool,
}

impl<M: ChatModel> Dated<M> {
    /// `model`, told the day in the time zone of the machine, UTC where that is not known.
    pub fn new(model: M) -> Self {
        Self { model, zone: clock::machine_zone(), to_the_minute: false, korean: false }
    }

    /// Sets the time zone: an IANA name, in any case. Default: the machine's.
    ///
    /// # Errors
    ///
    /// [`ClockError::UnknownZone`] with near names.
    pub fn zone(self, zone: &str) -> Result<Self, ClockError> {
        Ok(Self { zone: clock::known_zone(zone)?, ..self })
    }

    /// Adds the time, to the minute, with its offset: `2026-11-30T14:11+09:00`. Default: the day alone.
    #[must_use]
    pub fn to_the_minute(self) -> Self {
        Self { to_the_minute: true, ..self }
    }

    /// Says it in Korean. Default: in English.
    #[must_use]
    pub fn korean(self) -> Self {
        Self { korean: true, ..self }
    }

    fn line(&self, now: Timestamp) -> Option<String> {
        let DateTimeReport { iso, weekday_ko, weekday_en, zone, offset } =
            datetime_in(now, &self.zone).ok()?;
        let (date, time) = iso.split_once('T')?;
        let weekday = if self.korean { weekday_ko } else { weekday_en };
        let label = match (self.to_the_minute, self.korean) {
            (false, true) => "오늘",
            (false, false) => "Today",
            (true, true) => "지금",
            (true, false) => "Now",
        };
        let time = self.to_the_minute.then(|| time.get(..5)).flatten();
        Some(match time {
            Some(time) => format!("{label}: {date}T{time}{offset}, {weekday}, {zone}"),
            None => format!("{label}: {date}, {weekday}, {zone}, UTC{offset}"),
        })
    }
}

impl<M: ChatModel> ChatModel for Dated<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let request = match self.line(call.clock().now()) {
            Some(line) => with(request, &line),
            None => request,
        };
        self.model.chat(request, call).await
    }
}

/// The request with `line` behind all that its system prompt says.
fn with(mut request: ChatRequest, line: &str) -> ChatRequest {
    let heads = request.messages.iter().take_while(|it| it.role() == Role::System).count();
    match heads.checked_sub(1).and_then(|last| request.messages.get_mut(last)) {
        Some(last) => {
            let mut text = last.text().trim_end().to_owned();
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\n\n{line}");
            *last = last.clone().with_content(text);
        }
        None => request.messages.insert(0, Message::system(line)),
    }
    request
}

#[cfg(test)]
mod tests {
    use hanok_model::ScriptedModel;

    use super::*;

    const NOON: Timestamp = Timestamp(1_795_921_860_000);

    #[test]
    fn the_day_stands_in_the_words_and_the_zone_that_were_set() {
        let dated = || Dated::new(ScriptedModel::new([])).zone("Asia/Seoul").unwrap();
        for (dated, want) in [
            (dated(), "Today: 2026-11-29, Sunday, Asia/Seoul, UTC+09:00"),
            (dated().korean(), "오늘: 2026-11-29, 일요일, Asia/Seoul, UTC+09:00"),
            (dated().to_the_minute(), "Now: 2026-11-29T12:11+09:00, Sunday, Asia/Seoul"),
            (dated().korean().to_the_minute(), "지금: 2026-11-29T12:11+09:00, 일요일, Asia/Seoul"),
        ] {
            assert_eq!(dated.line(NOON).as_deref(), Some(want));
        }
        assert_eq!(dated().line(Timestamp(u64::MAX)), None);
    }

    #[test]
    fn it_stands_behind_the_system_prompt_and_nowhere_else() {
        let texts = |messages: Vec<Message>| -> Vec<String> {
            let with = with(ChatRequest::new(messages), "Today");
            with.messages.iter().map(|message| message.text().into_owned()).collect()
        };
        let (system, user) = (Message::system("Be kind.\n"), Message::user("Hi"));
        assert_eq!(texts(vec![system.clone(), user.clone()]), ["Be kind.\n\nToday", "Hi"]);
        let two = vec![system.clone(), Message::system("Be brief."), user.clone(), system];
        let want = ["Be kind.\n", "Be brief.\n\nToday", "Hi", "Be kind.\n"];
        assert_eq!(texts(two), want);
        assert_eq!(texts(vec![user]), ["Today", "Hi"]);
    }
}
