//! What went wrong, in the user's language: one table for all that talk in a terminal. Names of nodes, steps and types stay out
//! of it.

use std::{error::Error, io, path::Path, time::Duration};

use hanok_agent::{FaultKind, StopReason};
use hanok_checkpoint::CheckpointError;
use hanok_core::Chain;
use hanok_documents::{LoadError, SkipReason, Skipped};
use hanok_graph::RunError;
use hanok_model::{ModelError, Wait};
use hanok_retrieval::RetrievalError;

/// What is said where a turn ends without an answer.
pub const NO_ANSWER: &str = "답이 없습니다.";

/// Why an agent's turn is over.
pub fn stopped(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Answered => "답함",
        StopReason::MaxIterations => "모델에 물을 수 있는 횟수의 한도",
        StopReason::EmptyReply => "모델의 빈 답",
        StopReason::NoToolCall => "도구를 쓰지 않음",
        StopReason::Rejected => "사람의 거절",
        StopReason::HandedOff => "다른 에이전트에게 넘김",
        StopReason::HopLimit => "넘길 수 있는 횟수의 한도",
        StopReason::ToolResult => "도구의 결과로 답함",
        StopReason::Hook => "훅",
        StopReason::BadAnswer => "형식에 맞지 않는 답",
        other => other.code(),
    }
}

/// What was wrong with a call of a tool.
pub(crate) fn fault(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Unreadable => "읽을 수 없는 호출",
        FaultKind::TextCall => "글로 쓴 호출",
        FaultKind::UnknownTool => "없는 도구",
        FaultKind::ToolGone => "사라진 도구",
        FaultKind::ToolChanged => "바뀐 도구",
        FaultKind::BadArguments => "맞지 않는 인자",
        FaultKind::TooMany => "너무 많은 호출",
        FaultKind::Failed => "실패",
        FaultKind::Refused => "거부됨",
        FaultKind::Denied => "금지됨",
        FaultKind::Rejected => "사람이 거절함",
        FaultKind::TimedOut => "시간 초과",
        FaultKind::Panicked => "도구의 오류",
        FaultKind::Exhausted => "한도 초과",
        FaultKind::Unavailable => "지금은 쓸 수 없음",
        FaultKind::NotMade => "부르지 않음",
        FaultKind::InDoubt => "불렀는지 모름",
        FaultKind::NotApplied => "반영되지 않음",
        other => other.code(),
    }
}

/// The cause of `error` in one sentence: the first one that the table has, else in its own words.
#[must_use]
pub fn cause(error: &(dyn Error + 'static)) -> Option<String> {
    let (mut last, mut is_run) = (None, false);
    for cause in Chain(error).causes().skip(1) {
        let sentence = as_cause::<ModelError>(cause)
            .map(model)
            .or_else(|| as_cause::<RunError>(cause).and_then(run))
            .or_else(|| as_cause::<CheckpointError>(cause).and_then(store))
            .or_else(|| cause.downcast_ref::<Skipped>().map(skipped))
            .or_else(|| cause.downcast_ref::<LoadError>().and_then(documents))
            .or_else(|| cause.downcast_ref::<RetrievalError>().and_then(documents_store));
        if sentence.is_some() {
            return sentence;
        }
        is_run |= as_cause::<RunError>(cause).is_some();
        last = Some(cause.to_string());
    }
    // Around the innermost cause of a run stand nodes and super-steps; elsewhere files and places.
    match is_run {
        true => last,
        false => error.source().map(|source| Chain(source).to_string()),
    }
}

/// `cause` as an error of this type, which may be on the heap.
fn as_cause<'e, E: Error + 'static>(cause: &'e (dyn Error + 'static)) -> Option<&'e E> {
    cause.downcast_ref::<E>().or_else(|| cause.downcast_ref::<Box<E>>().map(|error| &**error))
}

/// What is wrong with a folder of documents.
fn documents(error: &LoadError) -> Option<String> {
    match error {
        LoadError::NoFolder { path } => Some(no_folder(path)),
        LoadError::TooManyFiles { path, limit } => {
            Some(format!("{} 아래에 파일이 {limit}개보다 많습니다", path.display()))
        }
        LoadError::Folder { path, source } => not_listed(path, source),
        _ => None,
    }
}

/// What is wrong with the folder of a store of documents.
fn documents_store(error: &RetrievalError) -> Option<String> {
    match error {
        RetrievalError::NoFolder { path } => Some(no_folder(path)),
        RetrievalError::Folder { path, source } => not_listed(path, source),
        _ => None,
    }
}

fn no_folder(path: &Path) -> String {
    format!("{} 폴더가 없습니다", path.display())
}

fn not_listed(path: &Path, source: &io::Error) -> Option<String> {
    Some(format!("{}: {}", path.display(), system(source.kind())?))
}

fn run(error: &RunError) -> Option<String> {
    Some(match error {
        RunError::Conflict { thread, holder } => {
            let holder = holder.as_ref().map(|it| format!(" 프로세스 {}가", it.pid));
            format!(
                "대화 `{}`을(를) 다른{} 쓰고 있습니다. 나중에 다시 하세요",
                thread.thread(),
                holder.unwrap_or_else(|| " 곳에서".to_owned())
            )
        }
        RunError::Superseded { thread, .. } => {
            format!("대화 `{}`을(를) 다른 곳에서 이어 갔습니다", thread.thread())
        }
        RunError::NoSuchThread(thread) => {
            format!("대화 `{}`이(가) 없습니다. 이름을 확인하거나 먼저 질문하세요", thread.thread())
        }
        RunError::Unfinished { thread, .. } => format!(
            "대화 `{}`의 앞 차례가 끝나지 않았습니다. /resume이나 --resume으로 이어 갑니다",
            thread.thread()
        ),
        RunError::NothingAsked(thread) => {
            format!("대화 `{}`에 기다리는 질문이 없습니다", thread.thread())
        }
        RunError::NoSuchRequest(id) => format!("질문 `{}`은(는) 없습니다", id.0),
        RunError::AlreadyAnswered(id) => format!("질문 `{}`에는 이미 답했습니다", id.0),
        RunError::Stale(id) => format!("질문 `{}`은(는) 더 기다리지 않습니다", id.0),
        RunError::Expired { id, .. } => format!("질문 `{}`에 답할 때가 지났습니다", id.0),
        RunError::OtherGraph { thread, stored, graph, .. } => format!(
            "대화 `{}`은(는) `{stored}`의 것이고 `{graph}`의 것이 아닙니다. 다른 --db나 --thread를 쓰세요",
            thread.thread()
        ),
        RunError::ShuttingDown => "프로그램이 끝나는 중입니다".to_owned(),
        _ => return None,
    })
}

fn store(error: &CheckpointError) -> Option<String> {
    Some(match error {
        CheckpointError::ThreadExists(_) => "그 이름의 대화가 이미 있습니다".to_owned(),
        CheckpointError::NoSuchThread(thread) => {
            format!("대화 `{}`이(가) 없습니다", thread.thread())
        }
        CheckpointError::Corrupt { position, last_good, .. } => format!(
            "기록의 {}번째 자리가 깨졌습니다. {}번째까지는 온전합니다",
            position.0, last_good.0
        ),
        CheckpointError::Pruned { .. } => "그 앞의 기록은 정리되어 없습니다".to_owned(),
        CheckpointError::Locked { .. } => {
            "기록을 열 수 없습니다. 암호화 키가 다를 수 있습니다".to_owned()
        }
        CheckpointError::TooNew { .. } => "더 새 버전의 프로그램이 쓴 파일입니다".to_owned(),
        CheckpointError::NotAStore { .. } => "대화 파일이 아니거나 통째로 깨졌습니다".to_owned(),
        CheckpointError::Unavailable { .. } => {
            "다른 프로그램이 잠그고 있거나 열 수 없습니다. 나중에 다시 하세요".to_owned()
        }
        CheckpointError::Full(_) => "저장할 자리가 없습니다".to_owned(),
        CheckpointError::Denied(_) => "쓸 권한이 없습니다".to_owned(),
        CheckpointError::Replaced { .. } => {
            "대화 파일이 지워졌거나 다른 파일로 바뀌었습니다. 프로그램을 다시 시작하세요".to_owned()
        }
        _ => return None,
    })
}

/// Why the model did not answer, and what to do.
fn model(error: &ModelError) -> String {
    let later = |after: &Option<Duration>| match after {
        Some(after) => format!("{}초 뒤에 다시 하세요", after.as_secs().max(1)),
        None => "나중에 다시 하세요".to_owned(),
    };
    match error {
        ModelError::OverBudget(_) => "모델에 물을 수 있는 한도를 다 썼습니다".to_owned(),
        ModelError::NotConfigured { missing } => {
            format!("모델의 설정을 확인하세요({missing})")
        }
        ModelError::BadKey { sent: true, .. } => {
            "모델의 서버가 API 키를 받지 않습니다. 키와 그 권한을 확인하세요".to_owned()
        }
        ModelError::BadKey { .. } => {
            "모델의 서버가 API 키를 요구합니다. OPENAI_API_KEY를 정하세요".to_owned()
        }
        ModelError::UnknownModel { model, .. } => {
            format!(
                "서버에 `{model}` 모델이 없거나 주소가 다릅니다. OPENAI_MODEL과 주소를 확인하세요"
            )
        }
        ModelError::ContextTooLong { .. } => {
            "대화가 모델이 읽을 수 있는 길이보다 깁니다. 줄이거나 새 대화를 시작하세요".to_owned()
        }
        ModelError::RateLimited { retry_after, .. } => {
            format!("모델의 서버에 요청이 너무 많습니다. {}", later(retry_after))
        }
        ModelError::QuotaExceeded { .. } => {
            "이 API 키로 쓸 수 있는 양을 다 썼습니다. 요금제를 확인하세요".to_owned()
        }
        ModelError::ContentFiltered { .. } => {
            "모델의 서버가 내용 때문에 답하지 않습니다. 다르게 물어보세요".to_owned()
        }
        ModelError::BadRequest { status, .. } => {
            format!("모델의 서버가 요청을 받지 않습니다(상태 {status}). 모델과 주소를 확인하세요")
        }
        ModelError::Server { status, retry_after, .. } => {
            format!("모델의 서버에 오류가 났습니다(상태 {status}). {}", later(retry_after))
        }
        ModelError::BrokenStream { .. } => {
            "모델의 답이 도중에 끊겼습니다. 다시 물어보세요".to_owned()
        }
        ModelError::Protocol { .. } => {
            "서버가 모델의 답이 아닌 것을 보냈습니다. 주소가 OpenAI 호환 API인지 확인하세요"
                .to_owned()
        }
        ModelError::TimedOut { what: Wait::Connect, after } => {
            format!("모델의 서버에 {}초 안에 연결되지 않았습니다", after.as_secs())
        }
        ModelError::TimedOut { after, .. } => {
            format!(
                "모델의 서버가 {}초 동안 답하지 않았습니다. 나중에 다시 하거나, 느린 서버라면 OPENAI_TIMEOUT(초)을 늘리세요",
                after.as_secs()
            )
        }
        ModelError::Unreachable { server, .. } => {
            format!(
                "모델의 서버 {server}에 닿을 수 없습니다. 켜져 있는지, 주소가 맞는지 확인하세요"
            )
        }
        ModelError::Unavailable { retry_after, .. } => {
            format!("모델의 서버에 지금은 묻지 않습니다. {}", later(retry_after))
        }
        ModelError::TooLarge { limit } => format!("모델의 답이 {limit}바이트보다 큽니다"),
        ModelError::Cancelled => "모델에 묻기를 멈췄습니다".to_owned(),
        _ => "모델이 답하지 못했습니다".to_owned(),
    }
}

fn system(kind: io::ErrorKind) -> Option<String> {
    Some(match kind {
        io::ErrorKind::NotFound => "그런 파일이나 폴더가 없습니다".to_owned(),
        io::ErrorKind::PermissionDenied => "권한이 없습니다".to_owned(),
        _ => return None,
    })
}

/// A file that was passed over, and why.
#[must_use]
pub fn skipped(Skipped { path, reason, .. }: &Skipped) -> String {
    format!("{path}: {}", skip_reason(reason))
}

/// Why a file cannot be read.
#[must_use]
pub fn skip_reason(reason: &SkipReason) -> String {
    match reason {
        SkipReason::Hidden => "숨긴 파일입니다".to_owned(),
        SkipReason::Symlink => "링크는 따라가지 않습니다".to_owned(),
        SkipReason::NotAFile => "파일이 아닙니다".to_owned(),
        SkipReason::Unsupported => {
            "읽을 수 있는 것은 .txt, .md와, 읽는 부분이 있으면 .html, .docx, .hwpx, .pdf입니다".to_owned()
        }
        SkipReason::NoReader { kind } => {
            format!(".{kind}는 -F documents로 빌드하면 읽습니다")
        },
        SkipReason::OldFormat { instead } => format!("옛 형식입니다. {instead}로 저장해 주세요"),
        SkipReason::SameName => "같은 이름의 파일이 또 있습니다".to_owned(),
        SkipReason::TooDeep { limit } => format!("폴더가 {limit}단계보다 깊습니다"),
        SkipReason::TooLarge { limit } => format!("{limit}바이트보다 큽니다"),
        SkipReason::TextBudget { limit, .. } => {
            format!("모든 문서의 글이 {limit}바이트를 넘어 읽지 않았습니다")
        }
        SkipReason::Binary => "글이 아닌 것이 들어 있습니다".to_owned(),
        SkipReason::Encoding => "UTF-8, UTF-16, CP949가 아닙니다".to_owned(),
        SkipReason::Empty => {
            "글자가 없습니다. 스캔한 문서라면 글자를 인식해 저장하고, PDF라면 한글 글꼴을 넣어 다시 저장해 주세요".to_owned()
        }
        SkipReason::Encrypted => "암호가 걸려 있습니다".to_owned(),
        SkipReason::TooManyPages { limit } => format!("{limit}쪽보다 많습니다"),
        SkipReason::TooSlow { .. } => "읽는 데 너무 오래 걸립니다".to_owned(),
        SkipReason::Expands { limit } => format!("풀면 {limit}바이트보다 큽니다"),
        SkipReason::TooManyParts { .. } | SkipReason::TooNested { .. } => {
            "여느 문서와 달리 너무 복잡합니다".to_owned()
        }
        SkipReason::Damaged { .. } => "파일이 깨졌습니다".to_owned(),
        SkipReason::Unreadable { kind } => {
            system(*kind).unwrap_or_else(|| "읽을 수 없습니다".to_owned())
        }
        _ => "읽지 못했습니다".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hanok_core::ThreadKey;
    use hanok_graph::Unfinished;

    use super::*;

    #[test]
    fn a_question_to_a_conversation_that_waits_is_told_how_that_goes_on() {
        let thread = ThreadKey::named("t").unwrap();
        let told = run(&RunError::Unfinished { thread, why: Unfinished::Cancelled });
        let want = "대화 `t`의 앞 차례가 끝나지 않았습니다. /resume이나 --resume으로 이어 갑니다";
        assert_eq!(told.as_deref(), Some(want));
    }

    /// Every failure of a model's server is one sentence of the user's language, without what stands inside of the program.
    #[test]
    fn a_model_that_does_not_answer_is_told_without_internals() {
        let after = Duration::from_secs(120);
        for error in [
            ModelError::BadKey { sent: true, source: None },
            ModelError::BadKey { sent: false, source: None },
            ModelError::UnknownModel { model: "m".into(), source: None },
            ModelError::ContextTooLong { limit: None, requested: None, source: None },
            ModelError::RateLimited { retry_after: None, source: None },
            ModelError::QuotaExceeded { source: None },
            ModelError::BadRequest { status: 400, source: Some("x said y".into()) },
            ModelError::Server { status: 500, retry_after: Some(after), source: None },
            ModelError::BrokenStream { received: 3, source: None },
            ModelError::Protocol { what: "an HTML page".into(), source: None },
            ModelError::TimedOut { what: Wait::FirstToken, after },
            ModelError::Unreachable { server: "127.0.0.1:9".into(), source: None },
        ] {
            let failure = crate::failure::Failure::Model(error);
            let line = failure.line();
            // Names such as `OpenAI` are no words of ours.
            let is_word = |it: &&str| it.len() > 1 && it.chars().all(|c| c.is_ascii_lowercase());
            let words: Vec<&str> =
                line.split(|c: char| !c.is_ascii_alphabetic()).filter(is_word).collect();
            assert!(words.is_empty(), "{line}");
            assert!(line.starts_with("모델을 쓸 수 없습니다: "), "{line}");
        }
    }
}
