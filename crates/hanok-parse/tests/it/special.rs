//! Which tokens are special, where a server knows it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

use hanok_parse::{Declared, Format, Parser, Reasoning, Reply};

use crate::support::{line, parser, reads_all};

/// Pieces of a text, each with whether it came as a special token: what stands in bars, corners or brackets did.
fn in_tokens(text: &str, special: bool) -> Vec<(&str, bool)> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find(['<', '[']) {
        let close = if rest[start..].starts_with('<') { '>' } else { ']' };
        let Some(len) = rest[start..].find(close) else { break };
        let (before, tail) = rest.split_at(start);
        let (token, behind) = tail.split_at(len + 1);
        let is_token = !token.starts_with("[{");
        pieces.extend([(before, false), (token, special && is_token)]);
        rest = behind;
    }
    pieces.push((rest, false));
    pieces
}

fn fed(parser: &Parser, pieces: &[(&str, bool)]) -> Reply {
    let (mut stream, mut events) = (parser.stream().marks_are_special(), Vec::new());
    for (text, special) in pieces {
        match special {
            true => stream.feed_special(text, &mut events),
            false => stream.feed(text, &mut events),
        }
    }
    stream.finish(&mut events)
}

#[test]
fn only_special_tokens_are_marks_where_they_are_known() {
    let declared = Declared::new().tool("rm").tool("find");
    let parser = reads_all(declared).formats([Format::Qwen3Xml, Format::Hermes]);
    let call = "{\"name\": \"rm\", \"arguments\": {}}";
    let function = "<function=find></function>";
    for (pieces, want) in [
        (vec![("<tool_call>", false), (call, false), ("</tool_call>", false)], ""),
        (vec![("<tool_call>", true), (call, false), ("</tool_call>", true)], "rm{}"),
        (vec![("<function=rm></function>", false)], ""),
        (vec![("<tool_call>", true), (function, false), ("</tool_call>", true)], "find{}"),
        (
            vec![
                ("<tool_call>", true),
                (function, false),
                (function, false),
                ("</tool_call>", true),
            ],
            "find{} find{}",
        ),
        (vec![("<think>", true), ("x</think>", false), ("<tool_call>", true), (call, false)], ""),
        (
            vec![
                ("<think>", true),
                ("x", false),
                ("</think>", true),
                ("<tool_call>", true),
                (call, false),
            ],
            "rm{}",
        ),
    ] {
        assert_eq!(line(&fed(&parser, &pieces)), want, "{pieces:?}");
    }
}

#[test]
fn marks_of_every_kind_are_special_tokens_where_these_are_known() {
    let parser = reads_all(Declared::new().tool("rm").tool("find"));
    let json = "{\"name\": \"rm\", \"arguments\": {}}";
    for (format, text) in [
        (Format::Hermes, format!("<tool_call>{json}</tool_call>")),
        (Format::Mistral, "[TOOL_CALLS]rm[ARGS]{}".to_owned()),
        (
            Format::KimiK2,
            "<|tool_call_begin|>rm:0<|tool_call_argument_begin|>{}<|tool_call_end|>".to_owned(),
        ),
        (
            Format::DeepseekV3,
            "<｜tool▁call▁begin｜>rm<｜tool▁sep｜>{}<｜tool▁call▁end｜>".to_owned(),
        ),
        (Format::Gemma4, "<|tool_call>call:rm{}<tool_call|>".to_owned()),
        (Format::KimiK3, "<|open|>call tool=\"rm\"<|sep|><|close|>call<|sep|>".to_owned()),
        (Format::Gigachat3, format!("function call<|role_sep|>{json}")),
        (Format::Harmony, "<|channel|>commentary to=functions.rm<|message|>{}<|call|>".to_owned()),
        (Format::Harmony, " to=functions.rm<|channel|>commentary<|message|>{}<|call|>".to_owned()),
        (Format::Harmony, " to=functions.rm<|message|>{}".to_owned()),
        (Format::Glm45, "rm<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>".to_owned()),
    ] {
        for parser in [parser.clone(), parser.clone().format(format)] {
            let own = line(&parser.parse(&text));
            assert!(own.starts_with("rm{"), "{text}: {own}");
            assert_eq!(line(&fed(&parser, &in_tokens(&text, true))), own, "{text}");
            assert_eq!(line(&fed(&parser, &in_tokens(&text, false))), "", "{text}");
        }
    }
    // The first mark came as one, and the model spells the next.
    let spelled = [("<|channel|>", true), ("commentary to=functions.rm<|message|>{}", false)];
    assert!(fed(&parser, &spelled).calls.is_empty());
    // Of a mark with words behind its token the token came as one.
    for (open, thought) in [("<|channel>", "thought\nx"), ("<|channel|>", "analysis<|message|>x")] {
        let call = format!("<tool_call>{json}</tool_call>");
        let pieces = [(open, true), (thought, false), ("<tool_call>", true), (json, false)];
        let hermes = parser.clone().format(Format::Hermes);
        assert!(fed(&hermes, &pieces).calls.is_empty(), "{open}{thought}{call}");
    }
    // What ends reasoning besides its close mark is a token, too.
    let pieces = [
        ("<|channel|>", true),
        ("analysis", false),
        ("<|message|>", true),
        ("<|return|>\nAction: rm\nAction Input: {}", false),
    ];
    assert!(fed(&parser, &pieces).calls.is_empty());
    // Sentences are no tokens.
    let granite = [("Here is my thought process:\nAction: rm\nHere is my response:\n네", false)];
    assert_eq!(fed(&parser, &granite).content, "네");
    // Nor are labels and bare JSON.
    for text in
        ["Action: rm\nAction Input: {}", json, "functools[{\"name\": \"rm\", \"arguments\": {}}]"]
    {
        assert_eq!(line(&fed(&parser, &[(text, false)])), "rm{}", "{text}");
        let hermes = parser.clone().format(Format::Hermes);
        assert_eq!(line(&fed(&hermes, &[(text, false)])), "", "{text}");
    }
}

/// contract 6
#[test]
fn calls_that_are_promoted_know_which_tokens_are_special() {
    let promoting = parser().reasoning(Reasoning::Promote);
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    for (special, want) in [(true, "f{}"), (false, "")] {
        let mut pieces = vec![("<think>", true)];
        pieces.extend(in_tokens(call, special));
        assert_eq!(line(&fed(&promoting, &pieces)), want, "{special}");
    }
}
