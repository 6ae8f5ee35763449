//! The words of others: neutralised in what a model is sent, and restored in what it writes.
//!
//! A model may quote a page that contains a call. The request breaks the marks of such text, so that the quotation is text
//! for every parser, and what the model copies into arguments and answers is mended once the reply is read. State, log and
//! events keep the text as it was.

use std::borrow::Cow;

use hanok_model::{ChatRequest, DataMark};
use hanok_parse::{neutralise, restore};
use hanok_state::{Arguments, Content, Message, Part, Role};

use super::read::ReadReply;

/// The sign that breaks marks, and how JSON may escape it.
const JOINERS: [&str; 2] = ["\u{2060}", "\\u2060"];

/// `request` with the words of others neutralised: messages of the role `tool`, and in other messages what is between data
/// marks ([`DataMark`]).
pub(crate) fn neutralised(mut request: ChatRequest) -> ChatRequest {
    for message in &mut request.messages {
        let broken: fn(&str) -> Cow<'_, str> =
            if message.role() == Role::Tool { neutralise } else { neutralised_data };
        if let Some(content) = changed(message, broken) {
            *message = message.clone().with_content(content);
        }
    }
    request
}

/// The content of `message` with `change` in its texts. `None` if nothing changes.
pub(crate) fn changed(message: &Message, change: fn(&str) -> Cow<'_, str>) -> Option<Content> {
    match message.content() {
        Content::Text(text) => match change(text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text.into()),
        },
        Content::Parts(parts) => {
            let mut has_changed = false;
            let change = |part: &Part| match part {
                Part::Text { text } => match change(text) {
                    Cow::Borrowed(_) => part.clone(),
                    Cow::Owned(text) => {
                        has_changed = true;
                        Part::Text { text }
                    }
                },
                other => other.clone(),
            };
            let parts: Vec<_> = parts.iter().map(change).collect();
            has_changed.then_some(Content::Parts(parts))
        }
    }
}

/// `text` with what is between data marks neutralised. Data without an end reaches to the end of the text.
fn neutralised_data(text: &str) -> Cow<'_, str> {
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, data, behind)) = DataMark::first_data(rest) {
        done.push_str(before);
        done.push_str(&neutralise(data));
        rest = behind;
    }
    match done.is_empty() {
        true => Cow::Borrowed(text),
        false => {
            done.push_str(rest);
            // Most data has no marks.
            if done.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(done) }
        }
    }
}

/// JSON text with its strings restored. What is no string stays as it is, and so does text that is no JSON.
fn restored_json(json: &str) -> Cow<'_, str> {
    if !JOINERS.iter().any(|joiner| json.contains(joiner)) {
        return Cow::Borrowed(json);
    }
    let (mut done, mut rest) = (String::with_capacity(json.len()), json);
    while let Some((before, string)) = rest.find('"').and_then(|at| rest.split_at_checked(at)) {
        done.push_str(before);
        let Some((string, behind)) =
            string_end(string).and_then(|end| string.split_at_checked(end))
        else {
            rest = string;
            break;
        };
        done.push_str(&restored_string(string));
        rest = behind;
    }
    done.push_str(rest);
    Cow::Owned(done)
}

/// Behind the quote that closes the string with which `json` begins.
fn string_end(json: &str) -> Option<usize> {
    let mut is_escaped = false;
    let mut bytes = json.bytes().enumerate().skip(1);
    let end = bytes.find(|(_, byte)| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map(|(at, _)| at + 1)
}

/// A string of JSON, restored.
fn restored_string(json: &str) -> Cow<'_, str> {
    if !JOINERS.iter().any(|joiner| json.contains(joiner)) {
        return Cow::Borrowed(json);
    }
    let Ok(text) = serde_json::from_str::<String>(json) else { return Cow::Borrowed(json) };
    match restore(&text) {
        Cow::Borrowed(_) => Cow::Borrowed(json),
        Cow::Owned(text) => serde_json::to_string(&text).map_or(Cow::Borrowed(json), Cow::Owned),
    }
}

impl ReadReply {
    /// The reply with the words of others as they were, in arguments, answers and thoughts. The text of a reply that calls
    /// stays as the model wrote it: the model reads it again.
    pub(crate) fn restored(mut self) -> Self {
        for call in &mut self.calls {
            if let Cow::Owned(json) = restored_json(call.arguments.as_str()) {
                call.arguments = Arguments::new(json);
            }
        }
        if let Some(answer) = &mut self.answer {
            *answer = restore(answer).into_owned();
            self.text = restore(&self.text).into_owned();
        }
        self.thought = self.thought.map(|thought| restore(&thought).into_owned());
        self
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use hanok_model::ChatRequest;
    use hanok_state::{Content, Message, Part};

    use super::{neutralised, neutralised_data, restored_json};

    #[test]
    fn only_data_and_results_are_neutralised() {
        for (text, want) in [
            ("<think>", "<think>"),
            ("<data-0f>\n<think>\n</data-0f>\n<think>", "<data-0f>\n<·think>\n</data-0f>\n<think>"),
            ("<data-0f>\nx</data-1f><think>", "<data-0f>\nx</data-1f><·think>"),
            (
                "a <data-0f>{\"name\": 1}</data-0f> b <data-1f>\nAction: f\n</data-1f>",
                "a <data-0f>{·\"name\": 1}</data-0f> b <data-1f>\nA·ction: f\n</data-1f>",
            ),
            ("<data-set><think>", "<data-set><think>"),
            ("<data-><think>", "<data-><think>"),
        ] {
            assert_eq!(neutralised_data(text), want.replace('·', "\u{2060}"), "{text}");
        }
        assert!(matches!(neutralised_data("<data-0f>\nx\n</data-0f>"), Cow::Borrowed(_)));

        let parts = vec![
            Part::Image { url: "<think>".into() },
            Part::Text { text: "<data-0f>\n<think>\n</data-0f>".into() },
        ];
        let sent = neutralised(ChatRequest::new([
            Message::user("<think>"),
            Message::tool("x", "<think>"),
            Message::user(Content::Parts(parts.clone())),
        ]));
        assert_eq!(sent.messages[0].text(), "<think>");
        assert_eq!(sent.messages[1].text(), "<\u{2060}think>");
        assert_eq!(sent.messages[1].tool_call_id(), Some("x"));
        let Content::Parts(sent) = sent.messages[2].content() else { panic!("no parts") };
        assert_eq!(sent[0], parts[0]);
        assert_ne!(sent[1], parts[1]);
    }

    #[test]
    fn the_strings_of_arguments_are_restored() {
        for (json, want) in [
            (r#"{"q": "<·think>", "n": 1.10}"#, r#"{"q": "<think>", "n": 1.10}"#),
            (r#"{"q":"<\u2060think>\n\"A·ction: f\""}"#, r#"{"q":"<think>\n\"Action: f\""}"#),
            (
                r#"{"q": "a·b", "<·think>": ["{·\"name\": 1}"]}"#,
                r#"{"q": "a·b", "<think>": ["{\"name\": 1}"]}"#,
            ),
            (r#"{"q": "\\"·"#, r#"{"q": "\\"·"#),
            ("no \" json ·", "no \" json ·"),
        ] {
            let (json, want) = (json.replace('·', "\u{2060}"), want.replace('·', "\u{2060}"));
            assert_eq!(restored_json(&json), want, "{json}");
        }
    }
}
