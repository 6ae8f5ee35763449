//! Messages as async-openai's types.

use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls,
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestAssistantMessageContent,
    ChatCompletionRequestMessage, ChatCompletionRequestMessageContentPartImage,
    ChatCompletionRequestMessageContentPartText, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestSystemMessageContent, ChatCompletionRequestToolMessage,
    ChatCompletionRequestToolMessageContent, ChatCompletionRequestUserMessage,
    ChatCompletionRequestUserMessageContent, ChatCompletionRequestUserMessageContentPart,
    FunctionCall, ImageUrl,
};
use hanok_state::{Content, Message, Part, Role, ToolCall};
use serde_json::{Map, Value};

/// `message` as far as the types can say it; [`complete`] adds the rest to its JSON.
pub(super) fn typed(message: &Message) -> ChatCompletionRequestMessage {
    let (text, name) = (message.text().into_owned(), message.name().map(str::to_owned));
    match message.role() {
        Role::System => ChatCompletionRequestMessage::System(ChatCompletionRequestSystemMessage {
            content: ChatCompletionRequestSystemMessageContent::Text(text),
            name,
        }),
        Role::User => ChatCompletionRequestMessage::User(ChatCompletionRequestUserMessage {
            content: match message.content() {
                Content::Text(_) => ChatCompletionRequestUserMessageContent::Text(text),
                Content::Parts(parts) => ChatCompletionRequestUserMessageContent::Array(
                    parts.iter().filter_map(part).collect(),
                ),
            },
            name,
        }),
        Role::Assistant => {
            let calls: Vec<_> = message.tool_calls().iter().map(call).collect();
            let content = ChatCompletionRequestAssistantMessageContent::Text(text);
            ChatCompletionRequestMessage::Assistant(ChatCompletionRequestAssistantMessage {
                content: (!is_silent(message)).then_some(content),
                name,
                tool_calls: (!calls.is_empty()).then_some(calls),
                ..ChatCompletionRequestAssistantMessage::default()
            })
        }
        Role::Tool => ChatCompletionRequestMessage::Tool(ChatCompletionRequestToolMessage {
            content: ChatCompletionRequestToolMessageContent::Text(text),
            tool_call_id: message.tool_call_id().unwrap_or_default().to_owned(),
        }),
    }
}

/// Adds to `json`, which was made of [`typed`], what the types cannot say of `message`.
pub(super) fn complete(message: &Message, json: &mut Map<String, Value>) {
    // The types leave the content out; some servers ask for it beside calls, and OpenAI takes `null`.
    if is_silent(message) {
        json.insert("content".to_owned(), Value::Null);
    // Gateways take parts that OpenAI has not, such as `video_url`, and images in observations.
    } else if let Content::Parts(parts) = message.content()
        && (message.role() != Role::User || parts.iter().any(|one| part(one).is_none()))
    {
        let content = message.to_openai().get_mut("content").map(Value::take);
        json.insert("content".to_owned(), content.unwrap_or_default());
    }
    // Only an assistant's message has calls there. In a conversation that was imported another may have them.
    if message.role() != Role::Assistant && !message.tool_calls().is_empty() {
        let calls = message.to_openai().get_mut("tool_calls").map(Value::take);
        json.insert("tool_calls".to_owned(), calls.unwrap_or_default());
    }
    if message.role() == Role::Tool {
        // Gemini's API and older servers go by the name of an observation, which OpenAI dropped.
        if let Some(name) = message.name() {
            json.insert("name".to_owned(), name.into());
        }
        // The type wants an id; an observation of a server that gave none has none, and an empty one is refused.
        if message.tool_call_id().is_none() {
            json.remove("tool_call_id");
        }
    }
}

/// Whether a message has calls and no words: its content is then `null`.
fn is_silent(message: &Message) -> bool {
    message.text().is_empty() && !message.tool_calls().is_empty()
}

/// A part of a user's message, unless the types have none of its kind.
fn part(part: &Part) -> Option<ChatCompletionRequestUserMessageContentPart> {
    match part {
        Part::Text { text } => Some(ChatCompletionRequestUserMessageContentPart::Text(
            ChatCompletionRequestMessageContentPartText {
                text: text.clone(),
                prompt_cache_breakpoint: None,
            },
        )),
        Part::Image { url } => Some(ChatCompletionRequestUserMessageContentPart::ImageUrl(
            ChatCompletionRequestMessageContentPartImage {
                image_url: ImageUrl { url: url.clone(), detail: None },
                prompt_cache_breakpoint: None,
            },
        )),
        _ => None,
    }
}

fn call(call: &ToolCall) -> ChatCompletionMessageToolCalls {
    ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall {
        id: call.id.clone(),
        function: FunctionCall {
            name: call.name.clone(),
            arguments: call.arguments.as_str().to_owned(),
        },
    })
}

#[cfg(test)]
mod tests {
    use hanok_state::Arguments;
    use serde_json::json;

    use super::*;

    /// What is sent of a message is what it is in OpenAI's format, whatever the types can say of it.
    #[test]
    fn nothing_of_a_message_is_lost_in_the_types() {
        let text = |text: &str| Part::Text { text: text.into() };
        let other = || Part::Other {
            json: Arguments::new(json!({"type": "video_url", "video_url": "v"}).to_string()),
        };
        let contents = [
            Content::from(""),
            Content::from("안녕"),
            Content::Parts(vec![]),
            Content::Parts(vec![text("이 사진은 "), Part::Image { url: "data:,".into() }]),
            Content::Parts(vec![text("a"), other(), text("b")]),
        ];
        let call = ToolCall { id: "c".into(), name: "now".into(), arguments: Arguments::default() };
        let calls = [vec![], vec![call.clone()], vec![call.clone(), call]];
        for role in [Role::System, Role::User, Role::Assistant, Role::Tool] {
            for (content, calls) in contents.iter().flat_map(|c| calls.iter().map(move |o| (c, o)))
            {
                let bare = Message::new(role, content.clone()).with_tool_calls(calls.clone());
                let named = bare.clone().with_name("n");
                let answering = named.clone().with_tool_call_id("c");
                for message in [bare, named, answering] {
                    let mut sent = serde_json::to_value(typed(&message)).unwrap();
                    complete(&message, sent.as_object_mut().unwrap());
                    assert_eq!(sent, message.to_openai());
                }
            }
        }
    }
}
