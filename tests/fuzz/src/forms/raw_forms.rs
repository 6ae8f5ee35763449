//! Formats whose strings are written as they are, and typed by the tool's parameters.

use hanok_parse::Format;
use serde_json::{Map, Value};

use super::{Form, each};

pub(crate) const ALL: &[Form] = &[
    raw(
        Form::new(Format::Qwen3Xml, |meant| {
            each(meant, |name, args| {
                let args =
                    params(args, |key, text| format!("<parameter={key}>\n{text}\n</parameter>\n"));
                format!("<tool_call>\n<function={name}>\n{args}</function>\n</tool_call>\n")
            })
        }),
        &["</parameter>", "<parameter=", "</function>", "\r"],
    ),
    raw(
        Form::new(Format::SeedOss, |meant| {
            each(meant, |name, args| {
                let args =
                    params(args, |key, text| format!("<parameter={key}>{text}</parameter>\n"));
                format!(
                    "<seed:tool_call>\n<function={name}>\n{args}</function>\n</seed:tool_call>\n"
                )
            })
        }),
        &["</parameter>", "<parameter=", "</function>", "\n"],
    ),
    raw(
        Form::new(Format::Glm45, |meant| {
            each(meant, |name, args| {
                let args = params(args, |key, text| {
                    format!("<arg_key>{key}</arg_key>\n<arg_value>{text}</arg_value>\n")
                });
                format!("<tool_call>{name}\n{args}</tool_call>\n")
            })
        }),
        &["</arg_value>", "<arg_key>"],
    ),
    raw(
        Form::new(Format::Glm47, |meant| {
            each(meant, |name, args| {
                let args = params(args, |key, text| {
                    format!("<arg_key>{key}</arg_key><arg_value>{text}</arg_value>")
                });
                format!("<tool_call>{name}{args}</tool_call>")
            })
        }),
        &["</arg_value>", "<arg_key>"],
    ),
    raw(
        Form::new(Format::HyV3, |meant| {
            let calls = each(meant, |name, args| {
                let args = params(args, |key, text| {
                    format!("<arg_key>{key}</arg_key><arg_value>{text}</arg_value>")
                });
                format!("<tool_call>{name}<tool_sep>{args}</tool_call>")
            });
            format!("<tool_calls>{calls}</tool_calls>")
        }),
        &["</arg_value>", "<arg_key>"],
    ),
    raw(
        Form::new(Format::HyV4, |meant| {
            let calls = each(meant, |name, args| {
                let args = params(args, |key, text| {
                    format!(
                        "<arg_key:6124c78e>{key}</arg_key:6124c78e><arg_value:6124c78e>{text}</arg_value:6124c78e>"
                    )
                });
                format!("<tool_call:6124c78e>{name}{args}</tool_call:6124c78e>")
            });
            format!("<tool_calls:6124c78e>{calls}</tool_calls:6124c78e>")
        }),
        &["</arg_value", "<arg_key"],
    ),
    raw(
        Form::new(Format::Step3, |meant| {
            let calls = each(meant, |name, args| {
                let args = params(args, |key, text| {
                    format!("<steptml:parameter name=\"{key}\">{text}</steptml:parameter>")
                });
                format!(
                    "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"{name}\">{args}</steptml:invoke>\
                     <｜tool_call_end｜>"
                )
            });
            format!("<｜tool_calls_begin｜>{calls}<｜tool_calls_end｜>")
        }),
        &["</steptml:parameter>", "<steptml:parameter", "</steptml:invoke>"],
    ),
    raw(
        Form::new(Format::DeepseekV32, |meant| {
            dsml("function_calls", "", &each(meant, |name, args| invoke(name, args, "")))
        }),
        &["</｜DSML｜parameter>", "<｜DSML｜parameter", "</｜DSML｜invoke>"],
    ),
    raw(
        Form::new(Format::DeepseekV4, |meant| {
            dsml("tool_calls", "", &each(meant, |name, args| invoke(name, args, "")))
        }),
        &["</｜DSML｜parameter>", "<｜DSML｜parameter", "</｜DSML｜invoke>"],
    ),
    raw(
        Form::new(Format::DeepseekV41, |meant| {
            dsml("calls", " ", &each(meant, |name, args| invoke(name, args, " ")))
        }),
        &[
            "</｜DSML｜ parameter>",
            "<｜DSML｜ parameter",
            "</｜DSML｜ invoke>",
            "</｜DSML｜parameter>",
            "<｜DSML｜parameter",
            "</｜DSML｜invoke>",
        ],
    ),
    raw(
        Form::new(Format::AnthropicXml, |meant| {
            format!("<function_calls>\n{}</function_calls>", each(meant, xml))
        }),
        XML,
    ),
    raw(
        Form::new(Format::Dots, |meant| {
            format!("<dots_function_call>\n{}</dots_function_call>", each(meant, xml))
        }),
        XML,
    ),
    raw(
        Form::new(Format::MinimaxM2, |meant| {
            format!("<minimax:tool_call>\n{}</minimax:tool_call>", each(meant, xml))
        }),
        XML,
    ),
    raw(
        Form::new(Format::Minicpm5, |meant| {
            each(meant, |name, args| {
                let args =
                    params(args, |key, text| format!("<param name=\"{key}\">{text}</param>"));
                format!("<function name=\"{name}\">{args}</function>")
            })
        }),
        &["</param>", "<param ", "</function>", "<![CDATA["],
    ),
    Form {
        prose: (false, false),
        ..raw(
            Form::new(Format::KimiK3, |meant| {
                let mut calls = String::new();
                for (index, (name, args)) in meant.iter().enumerate() {
                    let args: String = args.iter().map(|(key, value)| xtml(key, value)).collect();
                    calls += &format!(
                        "<|open|>call tool=\"{name}\" index=\"{}\"<|sep|>{args}<|close|>call<|sep|>",
                        index + 1
                    );
                }
                format!("<|open|>tools<|sep|>{calls}<|close|>tools<|sep|><|close|>message<|sep|>")
            }),
            &["<|close|>", "<|open|>"],
        )
    },
    raw(
        Form::new(Format::Muse, |meant| {
            let calls = each(meant, |name, args| {
                let args = params(args, |key, text| {
                    format!("<atem:parameter name=\"{key}\">{text}</atem:parameter>\n")
                });
                format!("<atem:invoke name=\"{name}\">\n{args}</atem:invoke>\n")
            });
            format!("<atem:function_calls>\n{calls}</atem:function_calls>")
        }),
        &["</atem:parameter>", "<atem:parameter", "</atem:invoke>"],
    ),
    raw(
        Form::new(Format::SolarOpen2, |meant| {
            each(meant, |name, args| {
                let args = params(args, |key, text| {
                    format!("<|tool_arg:start|>{key}<|tool_arg:value|>{text}<|tool_arg:end|>\n")
                });
                format!("<|tool_call:start|>{name}\n{args}<|tool_call:end|>\n")
            })
        }),
        &["<|tool_arg:end|>", "<|tool_arg:start|>", "<|tool_call:end|>"],
    ),
    raw(
        Form::new(Format::Iquest, |meant| {
            each(meant, |name, args| {
                let args = params(args, |key, text| {
                    format!("<arg_key>{key}</arg_key><arg_value>{text}</arg_value>")
                });
                format!("<iquest_tool_call>{name}{args}</iquest_tool_call>")
            })
        }),
        &["</arg_value>", "<arg_key>"],
    ),
    Form {
        elements: true,
        bare_keys: true,
        ..raw(
            Form::new(Format::MinimaxM3, |meant| {
                let calls = each(meant, |name, args| {
                    let args: String =
                        args.iter().map(|(key, value)| element(key, value)).collect();
                    format!("{M3}<invoke name=\"{name}\">{args}{M3}</invoke>\n")
                });
                format!("{M3}<tool_call>\n{calls}{M3}</tool_call>")
            }),
            &[M3],
        )
    },
    Form {
        bare_keys: true,
        ..raw(
            Form::new(Format::Gemma4, |meant| {
                each(meant, |name, args| {
                    format!("<|tool_call>call:{name}{}<tool_call|>", gemma(args, "<|\"|>"))
                })
            }),
            &["<|\"|>"],
        )
    },
    Form {
        bare_keys: true,
        ..raw(
            Form::new(Format::Functiongemma, |meant| {
                each(meant, |name, args| {
                    let args = gemma(args, "<escape>");
                    format!("<start_function_call>call:{name}{args}<end_function_call>")
                })
            }),
            &["<escape>"],
        )
    },
];

const M3: &str = "]<]minimax[>[";

/// The value as an element of MiniMax M3.
fn element(key: &str, value: &Value) -> String {
    let inner = match value {
        Value::Array(items) => items.iter().map(|item| element("item", item)).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| element(key, value)).collect(),
        plain => text(plain),
    };
    format!("{M3}<{key}>{inner}{M3}</{key}>")
}

const XML: &[&str] = &["</parameter>", "<parameter", "</invoke>"];

const fn raw(form: Form, never: &'static [&'static str]) -> Form {
    Form { never, ..form }
}

/// The value as it stands between tags.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn params(args: &Map<String, Value>, write: impl Fn(&str, &str) -> String) -> String {
    args.iter().map(|(key, value)| write(key, &text(value))).collect()
}

fn xml(name: &str, args: &Map<String, Value>) -> String {
    let args = params(args, |key, text| format!("<parameter name=\"{key}\">{text}</parameter>\n"));
    format!("<invoke name=\"{name}\">\n{args}</invoke>\n")
}

fn dsml(section: &str, gap: &str, calls: &str) -> String {
    format!("<｜DSML｜{gap}{section}>\n{calls}</｜DSML｜{gap}{section}>")
}

fn invoke(name: &str, args: &Map<String, Value>, gap: &str) -> String {
    let args: String = args
        .iter()
        .map(|(key, value)| {
            let (is_string, text) = (value.is_string(), text(value));
            format!(
                "<｜DSML｜{gap}parameter name=\"{key}\" string=\"{is_string}\">{text}</｜DSML｜{gap}parameter>\n"
            )
        })
        .collect();
    format!("<｜DSML｜{gap}invoke name=\"{name}\">\n{args}</｜DSML｜{gap}invoke>\n")
}

fn xtml(key: &str, value: &Value) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let text = text(value);
    format!("<|open|>argument key=\"{key}\" type=\"{kind}\"<|sep|>{text}<|close|>argument<|sep|>")
}

/// Gemma's own notation: keys bare, strings between `quote`s.
fn gemma(args: &Map<String, Value>, quote: &str) -> String {
    let members = args.iter().map(|(key, value)| format!("{key}:{}", gemma_value(value, quote)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn gemma_value(value: &Value, quote: &str) -> String {
    match value {
        Value::String(text) => format!("{quote}{text}{quote}"),
        Value::Array(items) => {
            let items = items.iter().map(|item| gemma_value(item, quote));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => gemma(members, quote),
        plain => plain.to_string(),
    }
}
