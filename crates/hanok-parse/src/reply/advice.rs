//! What a note says to the model.

use crate::{
    json::fault::RepairKind,
    reply::{
        error::{Language, places},
        note::{Note, NoteKind},
    },
};

impl Note {
    /// A sentence that the model can act on: what was not taken as it was written, and how to write it.
    ///
    /// ```
    /// use hanok_parse::{Declared, Format, Language, Parser};
    ///
    /// let parser = Parser::new(Declared::new().tool("find")).asked([Format::React]);
    /// let reply = parser.parse("Action: find\nAction Input: {'q': 1,}");
    /// assert_eq!(
    ///     reply.notes[0].observation(Language::English),
    ///     "The JSON of your call was mended: double quotes around keys and strings, commas only between members."
    /// );
    /// ```
    #[must_use]
    pub fn observation(&self, language: Language) -> String {
        match language {
            Language::English => self.in_english(),
            Language::Korean => self.in_korean(),
        }
    }

    fn in_english(&self) -> String {
        let said = match self.kind {
            NoteKind::Repaired => {
                return format!(
                    "The JSON of your call was mended: {}.",
                    self.listed(rule_in_english)
                );
            }
            NoteKind::DroppedAnswer => {
                "Your final answer was left out: it was written before the result of your call. Wait for the observation."
            }
            NoteKind::InventedObservation => {
                "You wrote an observation yourself. It and all behind it was left out: observations come from outside."
            }
            NoteKind::Retracted => {
                "A closing reasoning mark had no opening one: all before it was taken for reasoning."
            }
            NoteKind::Promoted => {
                "Your call stood inside your reasoning. It was made this once: write calls behind the reasoning."
            }
            NoteKind::Decoy => {
                "A call inside your reasoning was not made. Write it behind the reasoning if you want it."
            }
            NoteKind::Mistyped => {
                return format!(
                    "A value of your call has another type than its parameter{}. Write each value as its parameter's type says.",
                    places(&self.paths)
                );
            }
            NoteKind::UnknownMark => {
                "What looks like a call is in a format that is not read here. Write calls as the instructions say."
            }
            NoteKind::OtherFormat => {
                "What looks like a call is in another format than your calls before. Keep to one format."
            }
            NoteKind::Quoted => {
                "A call in quotation marks, code or a comment was taken for a quotation and not made. Write it on a line of its own if you want it."
            }
            NoteKind::Unreadable => {
                "A call in your list cannot be read, so the list was taken for text. Write each argument as `name=value`, and strings in quotes."
            }
            NoteKind::Escaped => {
                "You wrote letters as `\\u` escapes, which are easily misspelled. Write them as they are."
            }
        };
        said.to_owned()
    }

    fn in_korean(&self) -> String {
        let said = match self.kind {
            NoteKind::Repaired => {
                return format!("호출의 JSON을 고쳐 읽었습니다: {}.", self.listed(rule_in_korean));
            }
            NoteKind::DroppedAnswer => {
                "최종 답변을 버렸습니다. 호출의 결과를 보기 전에 쓴 답변입니다. 관찰을 기다리세요."
            }
            NoteKind::InventedObservation => {
                "관찰을 직접 지어냈으므로 그 뒤를 모두 버렸습니다. 관찰은 밖에서 옵니다."
            }
            NoteKind::Retracted => {
                "여는 표시 없이 닫는 추론 표시가 있어, 그 앞을 모두 추론으로 읽었습니다."
            }
            NoteKind::Promoted => {
                "호출이 추론 안에 있었습니다. 이번에는 실행하지만, 호출은 추론 뒤에 쓰세요."
            }
            NoteKind::Decoy => "추론 안의 호출은 실행하지 않았습니다. 필요하면 추론 뒤에 쓰세요.",
            NoteKind::Mistyped => {
                return format!(
                    "호출의 값이 매개변수의 형식과 다릅니다{}. 값마다 매개변수의 형식대로 쓰세요.",
                    places(&self.paths)
                );
            }
            NoteKind::UnknownMark => {
                "호출처럼 보이는 글이 여기서 읽지 않는 형식입니다. 안내된 형식으로 호출하세요."
            }
            NoteKind::OtherFormat => {
                "호출처럼 보이는 글이 앞의 호출과 다른 형식입니다. 한 가지 형식으로 호출하세요."
            }
            NoteKind::Quoted => {
                "따옴표나 코드, 주석 안의 호출은 인용으로 보아 실행하지 않았습니다. 필요하면 따로 한 줄에 쓰세요."
            }
            NoteKind::Unreadable => {
                "목록의 호출 하나를 읽을 수 없어 목록을 글로 보았습니다. 인자는 `이름=값`으로, 문자열은 따옴표로 쓰세요."
            }
            NoteKind::Escaped => {
                "글자를 `\\u` 이스케이프로 썼습니다. 틀리기 쉬우니 글자 그대로 쓰세요."
            }
        };
        said.to_owned()
    }

    /// One rule for each kind of repair, each once.
    fn listed(&self, rule: fn(RepairKind) -> &'static str) -> String {
        let mut rules: Vec<&str> = Vec::new();
        for repair in &self.repairs {
            let rule = rule(repair.kind);
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules.join(", ")
    }
}

fn rule_in_english(kind: RepairKind) -> &'static str {
    match kind {
        RepairKind::Comma => "commas only between members",
        RepairKind::Quotes | RepairKind::Key => "double quotes around keys and strings",
        RepairKind::Literal => "`true`, `false` and `null` in lower case",
        RepairKind::Comment => "no comments",
        RepairKind::Control => "line breaks in strings as `\\n`",
        RepairKind::Escape => "backslashes in strings doubled",
        RepairKind::Brace => "each brace closed once",
        RepairKind::Closer => "every brace and tag closed",
        RepairKind::Colon => "`:` behind a key",
    }
}

fn rule_in_korean(kind: RepairKind) -> &'static str {
    match kind {
        RepairKind::Comma => "쉼표는 항목 사이에만",
        RepairKind::Quotes | RepairKind::Key => "키와 문자열은 큰따옴표로",
        RepairKind::Literal => "`true`, `false`, `null`은 소문자로",
        RepairKind::Comment => "주석 없이",
        RepairKind::Control => "문자열의 줄바꿈은 `\\n`으로",
        RepairKind::Escape => "문자열의 역슬래시는 두 번",
        RepairKind::Brace => "괄호는 한 번씩만",
        RepairKind::Closer => "괄호와 태그는 모두 닫아서",
        RepairKind::Colon => "키 뒤에는 `:`",
    }
}
