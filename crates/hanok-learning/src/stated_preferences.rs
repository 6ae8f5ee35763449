//! What users say of themselves, found by rules.

use hanok_state::Message;

use super::preference::PreferenceProposal;
use hanok_core::sentences;

/// The longest name and the longest value of a preference that a rule finds, in characters.
const LONGEST_NAME: usize = 20;
const LONGEST_VALUE: usize = 40;

/// Words with which a Korean speaker begins to speak of what is theirs.
const MINE: &[&str] = &["내 ", "제 ", "나의 ", "저의 ", "우리 ", "저희 "];

/// Words before what is theirs which say that it is so from now on.
const NOW: &[&str] = &[
    "참고로 ",
    "그리고 ",
    "그런데 ",
    "근데 ",
    "아 ",
    "아, ",
    "이제 ",
    "지금 ",
    "요즘 ",
    "사실 ",
    "이번에 ",
    "오늘부터 ",
    "이제부터 ",
];

/// Ends of a Korean clause in which something is something else from now on: whoever says it of nobody else says it of themselves.
const BECAME: &[&str] = &[
    "으로 바뀌었습니다",
    "로 바뀌었습니다",
    "으로 바뀌었어요",
    "로 바뀌었어요",
    "으로 바뀌었어",
    "로 바뀌었어",
    "으로 바꿨습니다",
    "로 바꿨습니다",
    "으로 바꿨어요",
    "로 바꿨어요",
    "으로 바꿨어",
    "로 바꿨어",
    "으로 옮겼습니다",
    "로 옮겼습니다",
    "으로 옮겼어요",
    "로 옮겼어요",
    "으로 옮겼어",
    "로 옮겼어",
];

/// Ends of a Korean clause in which something is something, the longest first.
const IS: &[&str] = &[
    "이라고 해요",
    "라고 해요",
    "이라고 해",
    "라고 해",
    "이에요",
    "예요",
    "입니다",
    "이야",
    "이다",
    "야",
    "에요",
];

/// People whose homes, work and changes are not the speaker's.
const OTHERS: &[&str] = &[
    "언니",
    "누나",
    "오빠",
    "동생",
    "친구",
    "엄마",
    "아빠",
    "부모님",
    "남편",
    "아내",
    "형은",
    "형이",
    "딸",
    "아들",
];

/// Ends of a Korean clause that say something of the speaker, and the name of what they say.
const ENDS: &[(&str, &str)] = &[
    ("으로 이사했어", "사는 곳"),
    ("로 이사했어", "사는 곳"),
    ("으로 이사했어요", "사는 곳"),
    ("로 이사했어요", "사는 곳"),
    ("으로 이사했습니다", "사는 곳"),
    ("로 이사했습니다", "사는 곳"),
    ("으로 이사 왔어", "사는 곳"),
    ("로 이사 왔어", "사는 곳"),
    ("에 살아", "사는 곳"),
    ("에 살아요", "사는 곳"),
    ("에 삽니다", "사는 곳"),
    ("에 살고 있어", "사는 곳"),
    ("에 살고 있어요", "사는 곳"),
    ("에서 살아", "사는 곳"),
    ("으로 이직했어", "직장(회사)"),
    ("로 이직했어", "직장(회사)"),
    ("으로 이직했어요", "직장(회사)"),
    ("로 이직했어요", "직장(회사)"),
    ("로 이직했습니다", "직장(회사)"),
    ("으로 이직했습니다", "직장(회사)"),
    ("에 다녀", "직장(회사)"),
    ("에 다녀요", "직장(회사)"),
    ("에 다닙니다", "직장(회사)"),
    ("에 다니고 있어", "직장(회사)"),
    ("에 다니고 있어요", "직장(회사)"),
    ("에서 일해", "직장(회사)"),
    ("에서 일해요", "직장(회사)"),
    ("에서 일합니다", "직장(회사)"),
    ("에서 일하고 있어", "직장(회사)"),
];

/// Ends that say whether the speaker likes something.
const LIKES: &[(&str, &str)] = &[
    ("좋아해", "좋아함"),
    ("좋아해요", "좋아함"),
    ("좋아합니다", "좋아함"),
    ("싫어해", "싫어함"),
    ("싫어해요", "싫어함"),
    ("싫어합니다", "싫어함"),
    ("못 먹어", "못 먹음"),
    ("못 먹어요", "못 먹음"),
    ("못 먹습니다", "못 먹음"),
    ("안 먹어", "안 먹음"),
    ("안 먹어요", "안 먹음"),
    ("안 마셔", "안 마심"),
    ("안 마셔요", "안 마심"),
    ("끊었어", "끊음"),
    ("끊었어요", "끊음"),
];

/// What a user's message says of its user, by rules: `내 강아지 이름은 보리야`, `분당으로 이사했어`, `커피는 안 마셔`, `my budget is $5000`. A
/// question states nothing, nor does what was recalled.
///
/// The rules are ends and beginnings of clauses, in Korean and English. They work without a model; one may propose more
/// ([`PreferenceProposer`](crate::PreferenceProposer)).
///
/// ```
/// use hanok_learning::stated_preferences;
/// use hanok_state::Message;
///
/// let said = Message::user("참고로 내 강아지 이름은 보리야. 지난달에 분당으로 이사했어. 산책 코스 알려줄래?");
/// let stated: Vec<_> = stated_preferences(&said).iter().map(|it| format!("{}={}", it.key, it.value)).collect();
/// assert_eq!(stated, ["강아지 이름=보리", "사는 곳=분당"]);
/// assert!(stated_preferences(&Message::user("내 강아지 이름이 뭐야?")).is_empty());
/// ```
#[must_use]
pub fn stated_preferences(message: &Message) -> Vec<PreferenceProposal> {
    let sentences = sentences(&message.text());
    let clauses = sentences.iter().flat_map(|sentence| sentence.split(", ")).map(str::trim);
    clauses.filter_map(proposal).collect()
}

fn proposal(clause: &str) -> Option<PreferenceProposal> {
    let bare = NOW.iter().fold(clause, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    let found = english(bare).or_else(|| has(bare)).or_else(|| became(bare));
    let (key, value) = found.or_else(|| end(bare)).or_else(|| likes(bare))?;
    let short = |text: &str, most| !text.is_empty() && text.chars().count() <= most;
    let asks = ["뭐", "무엇", "어디", "누구", "언제", "얼마", "몇"]
        .iter()
        .any(|word| value.contains(word));
    if !short(&key, LONGEST_NAME) || !short(&value, LONGEST_VALUE) || asks {
        return None;
    }
    Some(PreferenceProposal { key, value, quote: clause.to_owned() })
}

/// `my X is Y`.
fn english(clause: &str) -> Option<(String, String)> {
    let lower = clause.to_lowercase();
    let rest = clause.get(lower.find("my ").filter(|at| *at == 0)? + 3..)?;
    let (name, value) = rest.split_once(" is now ").or_else(|| rest.split_once(" is "))?;
    Some((name.trim().to_lowercase(), value.trim().to_owned()))
}

/// `내 X는 Y야`.
fn has(clause: &str) -> Option<(String, String)> {
    let rest = MINE.iter().find_map(|mine| clause.strip_prefix(mine))?;
    let is = BECAME.iter().chain(IS);
    let (name, value) = topic(is.clone().find_map(|is| rest.strip_suffix(is))?)?;
    Some((name.to_owned(), bare_value(value)))
}

/// `X는 Y로 바뀌었어` and `X는 이제 Y야`, of nobody else.
fn became(clause: &str) -> Option<(String, String)> {
    let changed = BECAME.iter().find_map(|end| clause.strip_suffix(end));
    let is_now =
        || IS.iter().find_map(|end| clause.strip_suffix(end)).filter(|it| it.contains(" 이제 "));
    let (name, value) = topic(changed.or_else(is_now)?)?;
    let of_others = OTHERS.iter().any(|other| name.contains(other)) || is_pronoun(name);
    (!of_others).then(|| (name.to_owned(), bare_value(value)))
}

fn is_pronoun(name: &str) -> bool {
    ["나", "저", "그", "이", "그건", "이건", "우리", "그것", "이것"].contains(&name)
}

/// A value without the word that says that it holds from now on.
fn bare_value(value: &str) -> String {
    value.trim_start_matches("이제 ").trim_start_matches("원래 ").trim().to_owned()
}

/// The words before and behind the particle of a topic.
fn topic(text: &str) -> Option<(&str, &str)> {
    let ends = text.match_indices(' ').map(|(at, _)| at);
    ends.filter_map(|at| {
        let (name, value) = text.split_at(at);
        let name =
            ["은", "는", "이", "가"].iter().find_map(|particle| name.strip_suffix(particle))?;
        Some((name.trim(), value.trim()))
    })
    .next()
}

/// `분당으로 이사했어`: what stands before the end, of its last words.
fn end(clause: &str) -> Option<(String, String)> {
    let (body, name) =
        ENDS.iter().find_map(|(end, name)| Some((clause.strip_suffix(end)?, name)))?;
    // Other people's homes and work are not the speaker's.
    if OTHERS.iter().any(|other| body.contains(other)) {
        return None;
    }
    Some(((*name).to_owned(), last_words(body).to_owned()))
}

/// The end of a clause without the words that say who and when.
fn last_words(text: &str) -> &str {
    const BEFORE: &[&str] = &[
        "에 ", "는 ", "은 ", "난 ", "전 ", "서 ", "달 ", "주 ", "제 ", "금 ", "즘 ", "쯤 ", "년 ",
    ];
    let from = BEFORE.iter().filter_map(|word| text.rfind(word).map(|at| at + word.len())).max();
    text.get(from.unwrap_or(0)..).unwrap_or(text).trim()
}

/// `커피는 안 마셔`.
fn likes(clause: &str) -> Option<(String, String)> {
    let (body, how) = LIKES.iter().find_map(|(end, how)| Some((clause.strip_suffix(end)?, how)))?;
    let body = body.trim();
    let body = ["나는 ", "저는 ", "난 ", "전 ", "이제 ", "요즘 "]
        .iter()
        .fold(body, |rest, who| rest.strip_prefix(who).unwrap_or(rest));
    let body = ["은", "는", "을", "를", "도"]
        .iter()
        .find_map(|particle| body.strip_suffix(particle))
        .unwrap_or(body);
    Some((body.trim().to_owned(), (*how).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_say_of_themselves_is_found_and_nothing_else() {
        let cases: &[(&str, &[(&str, &str)])] = &[
            ("내 차는 아반떼야", &[("차", "아반떼")]),
            ("제 딸 이름은 서연이에요.", &[("딸 이름", "서연")]),
            ("우리 회사 이름은 한빛상사입니다", &[("회사 이름", "한빛상사")]),
            ("내 예산은 4억으로 바꿨어", &[("예산", "4억")]),
            ("지난주에 판교로 이사했어", &[("사는 곳", "판교")]),
            ("나는 지금 마포구에 살아", &[("사는 곳", "마포구")]),
            ("이번 달에 한솔전자로 이직했어요", &[("직장(회사)", "한솔전자")]),
            ("나는 커피를 좋아해. 이제 우유는 안 마셔", &[("커피", "좋아함"), ("우유", "안 마심")]),
            (
                "My budget is $5000. My dog's name is Coco",
                &[("budget", "$5000"), ("dog's name", "Coco")],
            ),
            ("논문 마감은 5월 20일로 바뀌었어요", &[("논문 마감", "5월 20일")]),
            ("모임은 이제 둘째 일요일이야", &[("모임", "둘째 일요일")]),
            ("동생 직장은 부산으로 바뀌었어", &[]),
            ("동생은 부산에 살아", &[]),
            ("내 차가 뭐야?", &[]),
            ("내 예산은 얼마야", &[]),
            ("우리 동네 시세 알려줘", &[]),
            ("", &[]),
        ];
        for (text, want) in cases {
            let message = Message::user(*text);
            let all = stated_preferences(&message);
            let stated: Vec<_> =
                all.iter().map(|it| (it.key.as_str(), it.value.as_str())).collect();
            assert_eq!(stated, *want, "{text}");
            assert!(all.iter().all(|it| text.contains(&it.quote)), "{text}");
        }
    }
}
