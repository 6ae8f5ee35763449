//! Commands within a conversation.

use hanok_checkpoint::CheckpointError;
use hanok_graph::RunError;
use hanok_model::DataMark;
use hanok_state::Message;

use crate::{Session, Talk, failure::Failure, progress::short, session::key};

/// The commands of every conversation, each with what it does.
const COMMANDS: [(&str, &str); 6] = [
    ("/history", "지금까지의 모든 메시지(요약된 것도)"),
    ("/graph", "실행되는 그래프(Mermaid)"),
    ("/rewind N", "N번째 전 차례가 끝난 곳으로 되돌아가기"),
    ("/fork [이름]", "지금 상태에서 시작하는 새 대화로 옮기기(그 전의 기록은 원래 대화에)"),
    (RESUME, "끝나지 않은 차례를 이어서 하기"),
    ("/help", "명령 목록"),
];

/// The command that goes on with a turn that is not over.
pub(crate) const RESUME: &str = "/resume";

/// The names of all commands of a conversation.
pub(crate) fn command_names(talk: &impl Talk) -> Vec<String> {
    let all = COMMANDS.iter().chain(talk.commands());
    let names = all.filter_map(|(name, _)| name.split_whitespace().next());
    names.map(str::to_owned).collect()
}

impl<T: Talk> Session<T> {
    /// Does a command and says what came of it.
    pub(crate) async fn command(&mut self, line: &str) -> Result<String, Failure> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (name, rest.trim()) {
            ("history", "") => self.history().await,
            ("graph", "") => Ok(self.talk.drawing().trim_end().to_owned()),
            ("rewind", turns) => self.rewind(turns).await,
            ("fork", to) => self.fork(to).await,
            ("help", _) => Ok(self.help()),
            (name, rest) => self.own(name, rest).await,
        }
    }

    async fn own(&self, name: &str, rest: &str) -> Result<String, Failure> {
        let said = self.talk.act(name, rest, &self.thread).await?;
        said.ok_or_else(|| Failure::Usage(format!("/{name} 명령은 없습니다.\n{}", self.help())))
    }

    fn help(&self) -> String {
        let all = COMMANDS.iter().chain(self.talk.commands());
        all.map(|(name, what)| format!("{name:<14}{what}")).collect::<Vec<_>>().join("\n")
    }

    /// Every message of the thread's branch, those that were taken out of the state since as well: the log keeps them.
    async fn history(&self) -> Result<String, Failure> {
        let messages = self.thread.all_messages(|state| self.talk.messages(state)).await?;
        let lines = messages.iter().enumerate().map(|(at, message)| line(at + 1, message));
        let text = lines.collect::<Vec<_>>().join("\n");
        Ok(if text.is_empty() { "아직 대화가 없습니다.".to_owned() } else { text })
    }

    async fn rewind(&self, turns: &str) -> Result<String, Failure> {
        let turns: usize = match turns.parse() {
            Ok(turns) if turns > 0 => turns,
            _ => {
                return Err(Failure::Usage(
                    "몇 차례를 되돌릴지 1 이상의 수로 쓰세요: /rewind 1".into(),
                ));
            }
        };
        match self.thread.rewind_turns(turns).await {
            Ok(_) => {
                Ok(format!("{turns}차례를 되돌렸습니다. 그 뒤의 대화는 기록에 남아 있습니다."))
            }
            Err(RunError::NoSuchTurn { most, .. }) => {
                Err(Failure::Usage(format!("되돌릴 수 있는 차례는 {most}개입니다.")))
            }
            Err(error) => Err(Failure::from(error)),
        }
    }

    async fn fork(&mut self, to: &str) -> Result<String, Failure> {
        let here = self.thread.key().thread().to_owned();
        self.thread = match to {
            "" => self.thread.fork_numbered().await?,
            to => {
                let key = key(to)?;
                self.thread.fork(None, &key).await.map_err(|error| match error {
                    RunError::Checkpoint(CheckpointError::ThreadExists(_)) => {
                        Failure::Usage(format!("대화 `{to}`는 이미 있습니다. 다른 이름을 쓰세요."))
                    }
                    error => Failure::from(error),
                })?;
                self.app.thread(key)
            }
        };
        let to = self.thread.key().thread();
        Ok(format!("`{here}`의 지금 상태에서 시작하는 대화 `{to}`로 옮겼습니다."))
    }
}

/// A message as a line.
fn line(number: usize, message: &Message) -> String {
    let calls: Vec<String> = message
        .tool_calls()
        .iter()
        .map(|call| format!("{}({})", call.name, short(call.arguments.as_str())))
        .collect();
    let calls = if calls.is_empty() { String::new() } else { format!(" → {}", calls.join(", ")) };
    // The marks around the words of others are for models.
    let text = DataMark::unmarked(message.text().into_owned());
    format!("{number:>4} [{}] {}{calls}", message.role(), short(&text))
}
