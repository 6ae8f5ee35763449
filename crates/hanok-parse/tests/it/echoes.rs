//! What a model repeats of a tool's result, or writes in the turn of another role, is never a call.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_parse::{Format, FormatTable, NoteKind, Parser, Reply};

use crate::support::{self, declared, line, parser, reads_all};

/// The marks of results, and where they end.
const RESULTS: [(&str, &str); 26] = [
    ("<tool_response>", "</tool_response>"),
    ("<tool_result>", "</tool_result>"),
    ("<|observation|>", "<|assistant|>"),
    ("<tool_output>", "</tool_output>"),
    ("<TOOL_OUTPUTS>", "</TOOL_OUTPUTS>"),
    ("<|tool_output|>", "<|/tool_output|>"),
    ("<Observation>", "</Observation>"),
    ("<observation>", "</observation>"),
    ("<function_results>", "</function_results>"),
    ("<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"),
    ("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
    ("✿RESULT✿", "✿RETURN✿"),
    ("<|tool_response>", "<tool_response|>"),
    ("<start_function_response>", "<end_function_response>"),
    ("<|tool_response_start|>", "<|tool_response_end|>"),
    ("<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"),
    ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    ("<|tool_response:start|>", "<|tool_response:end|>"),
    ("<tool_response:opensource>", "</tool_response:opensource>"),
    ("<tool_responses:x>\n<tool_response:x>", "</tool_response:x>\n</tool_responses:x>"),
    ("<tool_responses>\n<tool_response>", "</tool_response>\n</tool_responses>"),
    ("<dots_function_response>", "</dots_function_response>"),
    ("<|tool_result|>", "<|end|><|assistant|>"),
    ("<tool_response name=\"x\">", "</tool_response>"),
    ("<tool_result id='1' name='f'>", "</tool_result>"),
    ("<function_results name=\"a\">", "</function_results>"),
];

/// Calls of many formats.
const CALLS: [&str; 14] = [
    "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>",
    "<tool_call><function=f></function></tool_call>",
    "<function=f></function>",
    "\n{\"name\": \"f\", \"arguments\": {}}",
    "\n```json\n{\"name\": \"f\", \"arguments\": {}}\n```",
    "\n[f()]",
    "<|python_tag|>{\"name\": \"f\", \"parameters\": {}}",
    "[TOOL_CALLS]f[ARGS]{}",
    "<function_calls><invoke name=\"f\"></invoke></function_calls>",
    "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    "<|tool_calls_section_begin|><|tool_call_begin|>f<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    "<|channel|>commentary to=functions.f <|message|>{}<|call|>",
    "✿FUNCTION✿: f\n✿ARGS✿: {}",
    "<tool_c",
];

fn whole_and_in_pieces(parser: &Parser, text: &str) -> Reply {
    support::stream::same(parser, text, []);
    parser.parse(text)
}

/// contract 16
#[test]
fn nothing_between_the_marks_of_a_result_is_a_call() {
    for (open, close) in RESULTS {
        for call in CALLS {
            for text in [format!("{open}{call}{close}"), format!("네. {open}\n{call}")] {
                let reply = whole_and_in_pieces(&parser(), &text);
                assert_eq!(line(&reply), "", "{text}");
            }
        }
        for inner in
            ["\nAction: f\nAction Input: {}\n", "\nFinal Answer: 3\n", "<think>x</think>[f()]"]
        {
            let text = format!("{open}{inner}{close}");
            assert_eq!(line(&whole_and_in_pieces(&parser(), &text)), "", "{text}");
        }
        let text = format!("{open}3{close}\nAction: f\nAction Input: {{}}");
        assert_eq!(line(&whole_and_in_pieces(&parser(), &text)), "f{}", "{text}");
    }
}

/// contract 16: what a tag of a result carries is no text, if its bracket is near.
#[test]
fn a_suffix_and_attributes_of_a_result_are_not_shown() {
    let far = "x".repeat(1000);
    for (text, content) in [
        ("<tool_response:x>3</tool_response:x>네".to_owned(), "3네"),
        ("<tool_response name=\"x\">3</tool_response>네".to_owned(), "3네"),
        (format!("<tool_response {far}>3"), &format!("{far}>3")),
        ("<tool_response name=\"x\"".to_owned(), "name=\"x\""),
    ] {
        let reply = whole_and_in_pieces(&parser(), &text);
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", content), "{text}");
    }
}

/// contract 16: a fence whose language says that it shows a result, whichever formats are looked for.
#[test]
fn nothing_in_a_fence_of_a_result_is_a_call() {
    let hermes = reads_all(declared()).format(Format::Hermes);
    for (parser, calls) in [(parser(), &CALLS[..]), (hermes, &CALLS[..1])] {
        for language in ["tool_output", "tool_outputs", "tool_result", "tool_results", "output"] {
            for call in calls {
                for text in [
                    format!("```{language}\n{call}\n```"),
                    format!("네.\n ```{language} \n{call}"),
                    format!("```{language}\n```json\n{call}\n```\n{call}\n```\n끝"),
                ] {
                    assert_eq!(line(&whole_and_in_pieces(&parser, &text)), "", "{text}");
                }
            }
            let text = format!("```{language}\n3\n```\n{}", CALLS[0]);
            assert_eq!(line(&whole_and_in_pieces(&parser, &text)), "f{}", "{text}");
            let text = format!("{}\n```{language}\n3\n```\n{}", CALLS[0], CALLS[0]);
            let reply = whole_and_in_pieces(&parser, &text);
            assert_eq!(line(&reply), "f{}", "{text}");
            let note = reply.notes.last().map(|note| note.kind);
            assert_eq!(note, Some(NoteKind::InventedObservation), "{text}");
        }
        let text = format!("```tool_code_output\n{}\n```", CALLS[0]);
        assert_eq!(line(&whole_and_in_pieces(&parser, &text)), "", "{text}");
    }
    let named = parser().named("f");
    assert_eq!(line(&whole_and_in_pieces(&named, "```tool_output\n{}\n```")), "!missing_input(f)");
}

/// contract 16: a line begins a result, and the next label ends it.
#[test]
fn nothing_behind_the_label_of_a_result_is_a_call_up_to_the_next_label() {
    for label in ["Observation:", "**Observation:**", "관찰:"] {
        for call in CALLS {
            for text in [format!("{label} {call}"), format!("{label}\nTask: x\n{call}")] {
                assert_eq!(line(&whole_and_in_pieces(&parser(), &text)), "", "{text}");
            }
        }
        for (behind, want) in [
            ("Thought: 음\nAction: f\nAction Input: {}", "f{}"),
            ("Final Answer: 네", "=네"),
            ("Thought: 음\n[f()]", "f{}"),
        ] {
            let text = format!("{label} [f()]\n{behind}");
            assert_eq!(line(&whole_and_in_pieces(&parser(), &text)), want, "{text}");
        }
        let nested = format!("{label} <tool_response>x</tool_response>{}", CALLS[0]);
        assert_eq!(line(&whole_and_in_pieces(&parser(), &nested)), "", "{nested}");
    }
}

/// contract 15
#[test]
fn the_turn_of_another_role_ends_the_reply() {
    for header in [
        "<|im_start|>user\n",
        "<|im_start|>tool\n",
        "<|start_header_id|>ipython<|end_header_id|>\n",
        "<start_of_turn>user\n",
        "<|turn>user\n",
        "<|user|>",
        "<｜User｜>",
        "<|im:end|><|im:start|>user<|im:content|>",
        "<|ifm|im_end|><|ifm|im_start|>tool\n",
        "<|start|>user<|message|>",
        "<|start|>functions.f to=assistant<|channel|>commentary<|message|>",
    ] {
        for call in CALLS {
            let text = format!("네.\n{header}{call}");
            let reply = whole_and_in_pieces(&parser(), &text);
            assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", "네."), "{text}");
            assert_eq!(
                reply.notes.last().map(|note| note.kind),
                Some(NoteKind::InventedObservation),
                "{text}"
            );
        }
    }
    for header in ["</s>User: ", "</s>\nHuman: ", "<|im_end|>\n\nUser: 지워\nAssistant: "] {
        let text = format!("네.{header}{}", CALLS[0]);
        let reply = whole_and_in_pieces(&parser(), &text);
        assert_eq!((line(&reply).as_str(), reply.content.as_str()), ("", "네."), "{text}");
    }
    for header in [
        "</s>Users: ",
        "User: ",
        "<|im_start|>assistant\n",
        "<start_of_turn>model\n",
        "<|turn>model\n",
        "<|eot|><|header_start|>assistant<|header_end|>\n\n",
        "<seed:eos><seed:bos>assistant\n",
        "[e~[\n]~b]ai\n",
        "<|end_of_msg|><|open|>message role=\"assistant\"<|sep|>",
        "<|plamo:op|>assistant\n",
        "<|message_sep|>\n\nassistant<|role_sep|>\n",
        "<|im:end|><|im:start|>assistant<|im:content|>",
        "<|ifm|im_end|>\n<|ifm|im_start|>assistant\n",
        "<|end|>",
        "<|end|><b>",
        "<|end|><|x|>model\n",
    ] {
        let text = format!("{header}{}", CALLS[0]);
        assert_eq!(line(&whole_and_in_pieces(&parser(), &text)), "f{}", "{text}");
    }
}

#[test]
fn what_ends_a_turn_is_not_shown() {
    for stop in [
        "<|im_end|>",
        "<|im:end|>",
        "<|ifm|im_end|>",
        "<|endofturn|>",
        "<|end_of_turn|>",
        "<|endofuser|>",
        "<|endofassistant|>",
        "<|end_of_sentence|>",
    ] {
        assert_eq!(whole_and_in_pieces(&parser(), &format!("네.{stop}")).content, "네.", "{stop}");
    }
}

/// contract 17: either sentence closes what either opened, wherever it stands.
#[test]
fn the_sentences_of_reasoning_belong_together() {
    for open in ["Here is my thought process:", "Here's my thought process:"] {
        for close in ["Here is my response:", "Here's my response:"] {
            for between in ["", "\n", "\n\n ", " Here it is. "] {
                let call = CALLS[0];
                let text = format!("{open} {call}{between}{close}\n네{call}");
                let reply = whole_and_in_pieces(&parser(), &text);
                assert_eq!(
                    (line(&reply).as_str(), reply.content.as_str()),
                    ("f{}", "네"),
                    "{text}"
                );
            }
        }
    }
}

/// contract 6: what the chat template opened is reasoning, whatever it repeats.
#[test]
fn a_close_mark_of_reasoning_ends_a_result_that_was_thought_of() {
    let text = format!("다음은 <tool_response> 이다.</think>{}", CALLS[0]);
    assert_eq!(line(&whole_and_in_pieces(&reads_all(declared()), &text)), "f{}");
}

/// contract 15, 16, 17: whichever formats are looked for.
#[test]
fn what_guards_holds_in_a_narrowed_parser_and_one_of_tables() {
    let hermes = reads_all(declared()).format(Format::Hermes);
    let table = FormatTable::builtin(Format::Hermes);
    let tables = reads_all(declared()).tables([&table]).unwrap();
    for parser in [hermes, tables] {
        for (text, want) in [
            ("Observation: ", ""),
            ("관찰:\n", ""),
            ("Observation: 3\nThought: 음\n", "f{}"),
            ("[TOOL_RESULTS]", ""),
            ("<function_results>", ""),
            ("[THINK]", ""),
            ("<seed:think>x</seed:think>", "f{}"),
            ("<|start|>user<|message|>", ""),
            ("<|start|>assistant", "f{}"),
            ("<|channel|>analysis<|message|>", ""),
            ("<|channel|>analysis<|message|>음<|end|>", "f{}"),
            ("<turn|>\n<|turn>user\n", ""),
        ] {
            let text = format!("{text}{}", CALLS[0]);
            assert_eq!(line(&whole_and_in_pieces(&parser, &text)), want, "{text}");
        }
        // Nothing else of other formats is looked for.
        for text in [CALLS[2], CALLS[5], CALLS[7], CALLS[11], "Action: f\nAction Input: {}"] {
            assert_eq!(line(&whole_and_in_pieces(&parser, text)), "", "{text}");
        }
    }
    let named = parser().named("f");
    for (text, want) in
        [("[TOOL_RESULTS]\n", ""), ("Observation:\n", ""), ("[THINK]\nx[/THINK]\n", "f{}")]
    {
        let calls = whole_and_in_pieces(&named, &format!("{text}{{}}")).calls;
        assert_eq!(calls.len(), usize::from(!want.is_empty()), "{text}");
    }
}
