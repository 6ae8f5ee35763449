//! The places where a text is somebody else's, or shown: what stands there is no call.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::collections::BTreeSet;

use hanok_parse::{Format, FormatTable};
use serde_json::{Value, json};

/// A tool's result: its marks, besides those of the tables.
pub(crate) const RESULTS: &[(&str, &str)] = &[
    ("<tool_response>", "</tool_response>"),
    ("<tool_response>\n", "\n</tool_response>"),
    ("<tool_result>", "</tool_result>"),
    ("<tool_results>", "</tool_results>"),
    ("<tool_output>", "</tool_output>"),
    ("<tool_output name=\"x\">", "</tool_output>"),
    ("<TOOL_OUTPUT>\n", "\n</TOOL_OUTPUT>"),
    ("<Tool_Output>", "</Tool_Output>"),
    ("<tool_outputs>", "</tool_outputs>"),
    ("<|tool_output|>", "<|/tool_output|>"),
    ("<observation>", "</observation>"),
    ("<Observation>\n", "\n</Observation>"),
    ("<OBSERVATION>", "</OBSERVATION>"),
    ("<function_results><result>\n", "\n</result></function_results>"),
    (
        "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>",
        "<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
    ),
    ("<|observation|>\n", "\n<|assistant|>\n"),
    ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    // Tokens of nobody that is known.
    ("[TOOL_RESULT]\n", "\n<|assistant|>"),
    ("<|tool_response_begin|>\n", "\n<|assistant|>"),
    ("<|ipython|>\n", "\n<|assistant|>"),
    ("✿RESULT✿: ", "\n✿RETURN✿: "),
    ("Observation: ", "\nThought: 음"),
    ("Observation:\n", "\nThought: 음"),
    ("관찰: ", "\n생각: 음"),
    ("**Observation:** ", "\nFinal Answer: 네"),
];

/// Reasoning: its marks, besides those of the tables.
pub(crate) const REASONING: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<THINK>", "</THINK>"),
    ("<tHINK>", "</Think>"),
    ("<ThinkinG>", "</thinkinG>"),
    ("<thOUGHT>", "</THought>"),
    ("<REAsoning>", "</reasonING>"),
    ("<thinking>", "</thinking>"),
    ("<Thinking>", "</Thinking>"),
    ("<mm:think>", "</mm:think>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|think|>", "<|end|>"),
    ("<|think:start|>", "<|think:end|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<think:x>", "</think:x>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("Here is my thought process:", "Here is my response:\n네"),
    ("Here's my thought process:", "Here's my response:\n네"),
    ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]\n네"),
    ("", "</think>"),
    ("", "</tHiNK>"),
];

/// The turn of another role: what ends the model's own, and the header. Besides those of the tables.
pub(crate) const TURNS: &[&str] = &[
    "<|im_end|>\n<|im_start|>user\n",
    "<|im_end|>\n<|im_start|>tool\n",
    "<|im_end|>\n<|im_start|>system\n",
    "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
    "<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n",
    "<|end_of_text|><|start_of_role|>user<|end_of_role|>",
    "</s>[INST] ",
    "</s> [INST] ",
    "</s>[SYSTEM_PROMPT]",
    "<end_of_turn>\n<start_of_turn>user\n",
    "<turn|>\n<|turn>user\n",
    "<|user|>\n",
    "<|system|>\n",
    "<|end|>\n<|user|>\n",
    "<|end|><|start|>user<|message|>",
    "<|start|>user<|message|>",
    "<|end|><|begin|>user<|content|>",
    "<｜end▁of▁sentence｜><｜User｜>",
    "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
    "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>",
    "<|im_end|><|im_user|>",
    "<|im_end|><|im_system|>",
    "<|assistant_end|><|user_start|>",
    "<|assistant_end|><|system_start|>",
    "[|endofturn|]\n[|user|]",
    "[|endofturn|]\n[|system|]",
    "[|endofturn|]\n[|tool|]",
    "</s>[TOOL_RESULTS]",
    "<|eot|><|header_start|>user<|header_end|>\n\n",
    "<|eot|><|header_start|>ipython<|header_end|>\n\n",
    "<seed:eos><seed:bos>user\n",
    "[e~[\n]~b]user\n",
    "[e~[\n]~b]tool\n",
    "<|end_message|><|message_user|>",
    "<|close|>message<|sep|><|end_of_msg|><|open|>message role=\"user\"<|sep|>",
    "<|open|>message role=\"tool\"",
    "<|plamo:op|>input\n",
    "<|message_sep|>\n\nuser<|role_sep|>\n",
    "<|message_sep|>function result<|role_sep|>\n",
    "<|endofresponse|><|userprompt|>",
    "<|hy_User|>",
    "<|end|><|tool|>",
    "<|role_end|><role>HUMAN</role>",
    "<|role_end|><role>SYSTEM</role>",
    "<|role_end|><role>OBSERVATION</role>",
    "<extra_id_1>User\n",
    "\n<extra_id_1>Tool\n",
    // Marks of nobody that is known.
    "<|end|><|role_start|>user<|role_end|>",
    "<|im_end|>\n<turn>tool\n",
    "</s>\n<|human|>",
    "<|eot|><a><b>User: ",
];

/// Something that a text shows.
pub(crate) type Shown = fn(&str) -> Option<String>;

pub(crate) const SHOWN: &[(&str, Shown)] = &[
    ("blockquote", |call| {
        Some(call.trim_end().lines().map(|line| format!("> {line}\n")).collect())
    }),
    ("comment", |call| Some(format!("<!-- {call} -->"))),
    ("comment on lines", |call| Some(format!("<!--\n{call}\n-->\n끝"))),
    ("table cell", |call| cell(call).map(|call| format!("| 예 | {call} | 끝 |"))),
    ("table cell in a list", |call| cell(call).map(|call| format!("- | {call} | 끝 |"))),
    ("inline code", |call| without(call, "`").map(|call| format!("이렇게 씁니다: `{call}` 끝."))),
    ("inline code of two signs", |call| without(call, "`").map(|call| format!("예: ``{call}``"))),
    ("inline code with words", |call| {
        without(call, "`").and_then(cell).map(|call| format!("예 `x {call} y` 끝"))
    }),
    ("inline code on lines", |call| without(call, "`").map(|call| format!("예: `\n{call}\n` 끝"))),
    ("inline code of two signs on lines", |call| {
        without(call, "`").map(|call| format!("예\n``\n{call}\n``\n끝"))
    }),
    ("double quotes", |call| without(call, "\0").map(|call| format!("이렇게 \"{call}\" 씁니다."))),
    ("double quotes with words", |call| {
        cell(call).map(|call| format!("이렇게 \"x {call} y\" 씁니다."))
    }),
    ("double quotes on lines", |call| {
        without(call, "\0").map(|call| format!("이렇게\n\"\n{call}\n\"\n씁니다."))
    }),
    ("curly quotes on lines", |call| {
        without(call, "”").map(|call| format!("이렇게\n“\n{call}\n”\n씁니다."))
    }),
    ("curly quotes over lines", |call| {
        without(call, "”").map(|call| format!("이렇게 “네.\n{call}\n그렇게” 씁니다."))
    }),
    ("cell of a table without a bar before it", |call| {
        cell(call).map(|call| format!("예 | 뜻\n--- | :---:\n하나 | {call} | 끝\n"))
    }),
    ("two in curly quotes", |call| {
        without(call, "”").map(|call| format!("이렇게 “{call}, {call}” 씁니다."))
    }),
    ("two in double quotes", |call| {
        without(call, "\0").map(|call| format!("이렇게 \"{call}, {call}\" 씁니다."))
    }),
    ("curly quotes", |call| without(call, "”").map(|call| format!("이렇게 “{call}” 씁니다."))),
    ("curly quotes with words", |call| {
        without(call, "”").map(|call| format!("이렇게 “x {call} y” 씁니다."))
    }),
    ("low quotes", |call| without(call, "“").map(|call| format!("So: „x {call} y“ sagte er."))),
    ("full-width quotes", |call| {
        without(call, "＂").map(|call| format!("이렇게 ＂{call}＂ 씁니다."))
    }),
    ("quotes before a particle", |call| {
        cell(call).map(|call| format!("이렇게 'x {call}'라고 씁니다."))
    }),
    ("curly quotes before a particle", |call| {
        without(call, "’").map(|call| format!("문서는 ‘{call}’라고 말합니다."))
    }),
    ("double quotes before a particle", |call| {
        without(call, "\0").map(|call| format!("이렇게:\n\"\n{call}\n\"라고 하네요."))
    }),
    ("corner quotes", |call| without(call, "」").map(|call| format!("이렇게 「{call}」 씁니다."))),
    ("blockquote behind a dash", |call| cell(call).map(|call| format!("- > {call}"))),
    ("blockquote behind a number", |call| cell(call).map(|call| format!("네.\n1. > {call}"))),
    ("fence in a fence", |call| Some(format!("````markdown\n```json\n{call}\n```\n````\n끝"))),
    ("fence in a fence of tildes", |call| Some(format!("~~~markdown\n```\n{call}\n```\n~~~\n끝"))),
    ("fence in a fence of backticks", |call| {
        Some(format!("예:\n```markdown\n설명\n```json\n{call}\n```\n```\n끝"))
    }),
    ("fence in a fence of a file", |call| {
        Some(format!("```md:README.md\n설명\n```json\n{call}\n```\n```\n끝"))
    }),
    ("fence in a fence with a title", |call| {
        Some(format!("```python title=\"a.py\"\n```json\n{call}\n```\n```\n끝"))
    }),
    ("fence in a fence with words", |call| {
        Some(format!("```python linenos\n설명\n```json\n{call}\n```\n```\n끝"))
    }),
    ("fence in a fence of C#", |call| Some(format!("```c#\n// x\n```json\n{call}\n```\n```\n끝"))),
    ("fence in a fence of a path", |call| {
        Some(format!("```docs/a.md\n설명\n```json\n{call}\n```\n```\n끝"))
    }),
    ("fence in a fence of a Korean word", |call| {
        Some(format!("```예시\n```json\n{call}\n```\n```\n끝"))
    }),
    ("fence in a fence with a long name", |call| {
        let name = "long-".repeat(20);
        Some(format!("```{name}\n설명\n```json\n{call}\n```\n```\n끝"))
    }),
    ("fence with words in a fence", |call| {
        Some(format!("```markdown\n설명\n```json title=\"a\"\n{call}\n```\n```\n끝"))
    }),
    ("fence of four signs in a list", |call| {
        Some(format!("- ````markdown\n  ```json\n{call}\n  ```\n  ````\n끝"))
    }),
    ("fence in a fence in a list", |call| {
        Some(format!("1. ```markdown\n   예:\n   ```json\n{call}\n   ```\n   ```\n끝"))
    }),
    ("fence of tildes in a list", |call| Some(format!("- ~~~\n{call}\n  ~~~\n끝"))),
    ("fence in a list in a fence", |call| {
        Some(format!("```markdown\n- ```json\n{call}\n  ```\n```\n끝"))
    }),
    ("fence in a list in a fence in a fence", |call| {
        Some(format!("```md\n설명\n```txt\n- ```json\n  x\n  ```\n{call}\n```\n```\n끝"))
    }),
    ("fence of tildes in its like", |call| Some(format!("~~~\n~~~json\n{call}\n~~~\n~~~\n끝"))),
    ("fence of four signs in its like", |call| {
        Some(format!("````md\n````json\n{call}\n````\n````\n끝"))
    }),
    ("blockquote of three signs", |call| {
        Some(call.trim_end().lines().map(|line| format!(">>> {line}\n")).collect())
    }),
    ("blockquote of four signs", |call| {
        Some(call.trim_end().lines().map(|line| format!(">>>> {line}\n")).collect())
    }),
    ("blockquote in a list behind another one", |call| {
        cell(call).map(|call| format!("> 네\n- > {call}"))
    }),
    ("fence directly in a fence", |call| Some(format!("```markdown\n```json\n{call}\n```\n```\n"))),
    ("blockquote in a list", |call| {
        Some(format!(
            "- 예:\n{}",
            call.trim_end().lines().map(|line| format!("  > {line}\n")).collect::<String>()
        ))
    }),
    ("unknown element", |call| Some(format!("<search_results>\n{call}\n</search_results>\n끝"))),
    ("unknown element with attributes", |call| {
        Some(format!("네.\n<page url=\"x\" n='2'>{call}</page>"))
    }),
    ("unknown elements in elements", |call| {
        Some(format!("<pre><code>\n{call}\n</code></pre>\n끝"))
    }),
    ("unknown element that closes late", |call| {
        Some(format!("<생각>\n하나 <b>둘</b>\n\n{call}\n\n셋\n</생각>"))
    }),
    ("unknown element of bars", |call| Some(format!("<|note|>{call}<|/note|>끝"))),
    ("character data", |call| {
        without(call, "]]>").map(|call| format!("<![CDATA[\n{call}\n]]>\n끝"))
    }),
    ("here document", |call| Some(format!("cat <<'EOF'\n{call}\nEOF\n끝"))),
    ("environment", |call| Some(format!("\\begin{{verbatim}}\n{call}\n\\end{{verbatim}}\n끝"))),
    ("fence of another language", |call| {
        without(call, "```").map(|call| format!("```log\n{call}\n```\n끝"))
    }),
    ("fence with other text", |call| {
        without(call, "```").map(|call| format!("```\nfrom the page:\n{call}\n```\n끝"))
    }),
    ("value of a function that did not begin", |call| {
        without(call, "</parameter>").map(|call| {
            format!("<unction=write>\n<parameter=x>\n{call}\n</parameter>\n</function>")
        })
    }),
    ("value of an invocation that did not begin", |call| {
        without(call, "</parameter>").map(|call| {
            format!("<invok name=\"write\"><parameter name=\"x\">{call}</parameter></invoke>")
        })
    }),
    ("value of pairs that did not begin", |call| {
        without(call, "</arg_value>").map(|call| {
            format!("<ool_call>write<arg_key>x</arg_key><arg_value>{call}</arg_value></tool_call>")
        })
    }),
    ("final answer", |call| Some(format!("Final Answer: 이렇게 쓰세요.\n{call}"))),
    ("json answer", |call| {
        Some(json!({ "action": "Final Answer", "action_input": call }).to_string())
    }),
];

/// The call, where it has no `sign` that ends the place.
pub(crate) fn without<'a>(call: &'a str, sign: &str) -> Option<&'a str> {
    let call = call.trim();
    (!call.contains(sign)).then_some(call)
}

/// The call, as a table has it in a row: a sign of columns in it ends no row.
pub(crate) fn cell(call: &str) -> Option<&str> {
    without(call, "\n")
}

/// A place of the tables: its mark, and what ends it.
pub(crate) struct Place {
    pub(crate) open: String,
    pub(crate) closes: Vec<String>,
}

/// The marks of this kind that stand in the tables of all formats, with the words that belong to them.
pub(crate) fn marks(kind: &str, words: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut all = BTreeSet::new();
    for format in Format::ALL {
        let table: Value = serde_json::from_str(&FormatTable::builtin(*format).to_json()).unwrap();
        for mark in table["marks"].as_array().unwrap() {
            if let Some(of) = mark.get(kind) {
                let list = words.iter().filter_map(|word| of[*word].as_array()).flatten();
                let list = list.map(|word| word.as_str().unwrap().to_owned()).collect();
                all.insert((mark["token"].as_str().unwrap().to_owned(), list));
            }
        }
    }
    assert!(!all.is_empty(), "{kind}");
    all.into_iter().collect()
}

pub(crate) fn places(kind: &str, own: &[(&str, &str)]) -> Vec<Place> {
    let own = own.iter().map(|(open, close)| ((*open).to_owned(), vec![(*close).to_owned()]));
    let places = own.chain(marks(kind, &["closes", "until"]));
    places.map(|(open, closes)| Place { open, closes }).collect()
}

/// The turns of others: those of the tables behind nothing, and behind what ends the model's own.
pub(crate) fn turns() -> Vec<String> {
    let mut turns: Vec<String> = TURNS.iter().map(|turn| (*turn).to_owned()).collect();
    for (token, own) in marks("turn", &["own"]).into_iter().chain(marks("part", &["own"])) {
        match own.as_slice() {
            [] => turns.push(token),
            _ => turns.extend(["user\n", "tool\n"].map(|role| format!("{token}{role}"))),
        }
    }
    turns
}
