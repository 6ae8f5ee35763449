//! What people say that is no question about the contract: greetings, thanks, what they tell of themselves, and what they ask of
//! that.

use hanok_state::{Message, Role};

/// What can be asked.
const EXAMPLES: &str = "이 계약서에 대해 물어보세요. 예를 들어 “제5조 내용이 뭐야?”, “해지는 어떻게 해?”, “10일 늦으면 얼마를 내?”, “표준계약서와 뭐가 달라?”";

const GREETINGS: [&str; 8] = ["안녕", "반가", "반갑", "하이", "헬로", "hello", "hi", "좋은 아침"];
const THANKS: [&str; 7] = ["고마", "고맙", "감사", "수고", "덕분", "thank", "bye"];

/// Words that may stand beside them.
const BESIDE: [&str; 14] = [
    "정말",
    "너무",
    "잘",
    "가",
    "봐",
    "처음",
    "왔어요",
    "뵙겠습니다",
    "여러분",
    "계세요",
    "있어요",
    "you",
    "아침",
    "하세요",
];

/// How somebody asks what can be asked.
const HELP: [&str; 9] = [
    "뭘 물어볼",
    "무엇을 물어볼",
    "뭐 물어볼",
    "뭘 할 수",
    "무엇을 할 수",
    "뭐 할 수",
    "넌 누구",
    "너는 누구",
    "what can",
];

/// What somebody begins with who tells of themselves.
const OWN: [&str; 8] = ["나는 ", "난 ", "저는 ", "전 ", "제가 ", "우리는 ", "저희는 ", "i am "];

/// What asks, wherever it stands in a sentence.
const ASKS: [&str; 15] = [
    "?",
    "？",
    "뭐",
    "뭘",
    "무엇",
    "무슨",
    "언제",
    "얼마",
    "몇",
    "어디",
    "누구",
    "어떻게",
    "왜",
    "알려",
    "줘",
];

/// What asks for what was told.
const RECALLS: [&str; 5] = ["라고 했", "라고 그랬", "말했", "뭐라고", "누구라고"];

/// What somebody begins with who asks for what they told.
const MINE: [&str; 7] = ["내가 ", "내 ", "제가 ", "제 ", "나는 ", "저는 ", "did i "];

/// How long a greeting is at most, in words.
const FEW: usize = 4;

/// The answer to `question`, where it is none about the contract; `earlier` was said before.
pub(crate) fn answer<'m>(
    question: &str,
    earlier: impl Iterator<Item = &'m Message>,
) -> Option<String> {
    let lower = question.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if is_only(&lower, &THANKS) {
        return Some("네, 더 궁금한 것이 있으면 물어보세요.".to_owned());
    }
    if is_only(&lower, &GREETINGS) {
        return Some(format!("안녕하세요. {EXAMPLES}"));
    }
    if has(&HELP) {
        return Some(EXAMPLES.to_owned());
    }
    if has(&RECALLS) && MINE.iter().any(|own| lower.starts_with(own)) {
        let said = earlier.filter(|message| message.role() == Role::User);
        let mut told: Vec<String> =
            said.map(|said| said.text().into_owned()).filter(|said| is_told(said)).collect();
        // The newest counts.
        told.reverse();
        let lines: Vec<String> = told.iter().map(|said| format!("- {said}")).collect();
        return Some(match lines.is_empty() {
            true => "이 대화에서 하신 말씀 가운데 그런 것은 없습니다.".to_owned(),
            false => format!("이 대화에서 하신 말씀입니다(나중 것부터).\n\n{}", lines.join("\n")),
        });
    }
    is_told(question).then(|| "알겠습니다. 이 대화에 남겨 두겠습니다.".to_owned())
}

/// Whether somebody tells of themselves, and asks nothing.
fn is_told(text: &str) -> bool {
    let lower = text.to_lowercase();
    OWN.iter().any(|own| lower.starts_with(own)) && !ASKS.iter().any(|ask| lower.contains(ask))
}

/// Whether `text` is short, begins with one of `words`, and has nothing but such words and what may stand beside them.
fn is_only(text: &str, words: &[&str]) -> bool {
    let all: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .collect();
    let fits = |word: &str, it: &str| {
        if it.is_ascii() {
            word.starts_with(it) && word.len() <= it.len() + 1
        } else {
            word.starts_with(it)
        }
    };
    let is = |words: &[&str], word: &str| words.iter().any(|it| fits(word, it));
    let mut rest = all.iter().skip(1);
    all.first().is_some_and(|word| is(words, word))
        && all.len() <= FEW
        && rest.all(|word| is(words, word) || is(&BESIDE, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_question_is_answered_as_such() {
        let told = [Message::user("저는 을 쪽 담당자예요"), Message::user("해지는 어떻게 해?")];
        for (question, begin) in [
            ("안녕하세요!", Some("안녕하세요.")),
            ("hi", Some("안녕하세요.")),
            ("고마워요", Some("네, ")),
            ("thanks", Some("네, ")),
            ("뭘 물어볼 수 있어?", Some("이 계약서에")),
            ("나는 세입자야", Some("알겠습니다")),
            (
                "내가 어느 쪽이라고 했지?",
                Some("이 대화에서 하신 말씀입니다(나중 것부터).\n\n- 저는 을"),
            ),
            ("저는 언제 돈을 받나요", None),
            ("안녕하세요 계약 기간이 언제까지인가요", None),
            ("historic damages", None),
            ("제31조에 뭐라고 써 있어?", None),
        ] {
            let said = answer(question, told.iter());
            match begin {
                Some(begin) => assert!(said.unwrap().starts_with(begin), "{question}"),
                None => assert_eq!(said, None, "{question}"),
            }
        }
    }
}
