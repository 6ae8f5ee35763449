//! Formats whose strings are written as they are.

use hanok_parse::Format;
use serde_json::Value;

use super::{Args, Form, Meant, NEW, each, joined, raw};

pub(crate) const ALL: &[Form] = &[
    tags(Format::Qwen3Xml, |calls| {
        each(calls, |name, args| {
            let args =
                params(args, |key, text| format!("<parameter={key}>\n{text}\n</parameter>\n"));
            format!("<tool_call>\n<function={name}>\n{args}</function>\n</tool_call>\n")
        })
    }),
    tags(Format::Qwen3Xml, |calls| {
        each(calls, |name, args| {
            let args =
                params(args, |key, text| format!("<parameter={key}>\n{text}\n</parameter>\n"));
            format!("<function={name}>\n{args}</function>\n")
        })
    }),
    tags(Format::SeedOss, |calls| {
        each(calls, |name, args| {
            let args =
                params(args, |key, text| format!("<parameter={key}>\n{text}\n</parameter>\n"));
            format!("<seed:tool_call>\n<function={name}>\n{args}</function>\n</seed:tool_call>\n")
        })
    }),
    tags(Format::Glm45, |calls| {
        each(calls, |name, args| {
            let args = params(args, |key, text| {
                format!("<arg_key>{key}</arg_key>\n<arg_value>{text}</arg_value>\n")
            });
            format!("<tool_call>{name}\n{args}</tool_call>\n")
        })
    }),
    tags(Format::Glm47, |calls| each(calls, glm)),
    // The chat template wrote the first mark.
    Form {
        prose: false,
        ..tags(Format::Glm47, |calls| {
            let text = each(calls, glm);
            text.strip_prefix("<tool_call>").map(str::to_owned).unwrap_or(text)
        })
    },
    tags(Format::HyV3, |calls| {
        let calls = each(calls, |name, args| {
            format!("<tool_call>{name}<tool_sep>{}</tool_call>", pairs(args))
        });
        format!("<tool_calls>{calls}</tool_calls>")
    }),
    tags(Format::HyV4, |calls| {
        let calls = each(calls, |name, args| {
            let pairs = pairs(args).replace("arg_key>", "arg_key:6124c78e>");
            let pairs = pairs.replace("arg_value>", "arg_value:6124c78e>");
            format!("<tool_call:6124c78e>{name}{pairs}</tool_call:6124c78e>")
        });
        format!("<tool_calls:6124c78e>{calls}</tool_calls:6124c78e>")
    }),
    tags(Format::DeepseekV32, |calls| dsml("｜DSML｜", "function_calls", calls)),
    tags(Format::DeepseekV4, |calls| dsml("｜DSML｜", "tool_calls", calls)),
    tags(Format::DeepseekV4, |calls| dsml("｜｜DSML｜｜", "tool_calls", calls)),
    tags(Format::DeepseekV4, |calls| dsml("|DSML|", "tool_calls", calls)),
    tags(Format::DeepseekV4, |calls| dsml("||DSML||", "tool_calls", calls)),
    tags(Format::DeepseekV41, |calls| dsml("｜DSML｜ ", "calls", calls)),
    tags(Format::Gigachat3, |calls| dsml("｜GCML｜", "tool_calls", calls)),
    tags(Format::AnthropicXml, |calls| xml("function_calls", "", calls)),
    tags(Format::AnthropicXml, |calls| {
        xml("function_calls", "", calls)
            .replace("<invoke name=", "<invoke  id='1'\n name = ")
            .replace("<parameter name=", "<parameter  of=\"name=x\" name = ")
    }),
    tags(Format::Dots, |calls| xml("dots_function_call", "", calls)),
    tags(Format::Muse, |calls| xml("atem:function_calls", "atem:", calls)),
    tags(Format::MinimaxM2, |calls| xml("minimax:tool_call", "", calls)),
    tags(Format::MinimaxM2, |calls| {
        xml("minimax:tool_call", "", calls)
            .replace("name=\"find\"", "name=find")
            .replace("name=\"q\"", "name='q'")
    }),
    tags(Format::Minicpm5, |calls| {
        each(calls, |name, args| {
            let args = params(args, |key, text| format!("<param name=\"{key}\">{text}</param>"));
            format!("<function name=\"{name}\">{args}</function>")
        })
    }),
    tags(Format::Minicpm5, |calls| {
        each(calls, |name, args| {
            let args = params(args, |key, text| {
                format!("<param name=\"{key}\"><![CDATA[{text}]]></param>")
            });
            format!("<function name=\"{name}\">{args}</function>")
        })
    }),
    tags(Format::Minicpm5, |calls| {
        each(calls, |name, args| {
            let args = params(args, |key, text| format!("<param name=\"{key}\">{text}</param>\n"));
            format!("<function name=\"{name}\">\n<arguments>\n{args}</arguments>\n</function>\n")
        })
    }),
    tags(Format::Minicpm5, |calls| {
        each(calls, |name, args| {
            let args =
                params(args, |key, text| format!("<param  id=1 name = '{key}'>{text}</param>"));
            format!("<function  id=\"1\" name='{name}' >{args}</function>")
        })
    }),
    tags(Format::Step3, |calls| {
        let calls = each(calls, |name, args| {
            let args = params(args, |key, text| {
                format!("<steptml:parameter name=\"{key}\">{text}</steptml:parameter>")
            });
            format!(
                "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"{name}\">{args}</steptml:invoke><｜tool_call_end｜>"
            )
        });
        format!("<｜tool_calls_begin｜>{calls}<｜tool_calls_end｜>")
    }),
    tags(Format::K2Horizon, |calls| {
        let calls = each(calls, |name, args| {
            let args = params(args, |key, text| {
                format!("<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_value>{text}</ifm|arg_value>")
            });
            format!("<ifm|tool_call>{name}{args}</ifm|tool_call>")
        });
        format!("<ifm|tool_calls>{calls}</ifm|tool_calls>")
    }),
    tags(Format::K2Horizon, |calls| {
        let calls = each(calls, |name, args| {
            let args: String = args
                .iter()
                .map(|(key, value)| {
                    format!(
                        "<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_type>{}</ifm|arg_type>\n<ifm|arg_value>{}</ifm|arg_value>\n",
                        kind(value),
                        raw(value)
                    )
                })
                .collect();
            format!("<ifm|tool_call>{name}\n{args}</ifm|tool_call>")
        });
        format!("<ifm|tool_calls>\n{calls}</ifm|tool_calls>")
    }),
    Form {
        prose: false,
        ..tags(Format::KimiK3, |calls| {
            let calls = each(calls, |name, args| {
                let args: String = args
                    .iter()
                    .map(|(key, value)| {
                        format!(
                            "<|open|>argument key=\"{key}\" type=\"{}\"<|sep|>{}<|close|>argument<|sep|>",
                            kind(value),
                            raw(value)
                        )
                    })
                    .collect();
                format!("<|open|>call tool=\"{name}\" index=\"1\"<|sep|>{args}<|close|>call<|sep|>")
            });
            format!("<|open|>tools<|sep|>{calls}<|close|>tools<|sep|><|close|>message<|sep|>")
        })
    },
    // Beam's, behind the headers of gpt-oss.
    Form {
        prose: false,
        ..tags(Format::Harmony, |calls| {
            joined(calls, "<|start|>assistant", |name, args| {
                let args = params(args, |key, text| {
                    format!("<rfl:parameter name=\"{key}\">{text}</rfl:parameter>")
                });
                format!(" to={name}<|channel|>analysis <|constrain|>xml<|message|>{args}<|call|>")
            })
        })
    },
    Form {
        elements: true,
        ..tags(Format::MinimaxM3, |calls| {
            let calls = each(calls, |name, args| {
                let args: String = args.iter().map(|(key, value)| element(key, value)).collect();
                format!("{M3}<invoke  id=\"1\" name = '{name}'>{args}{M3}</invoke>\n")
            });
            format!("{M3}<tool_call>\n{calls}{M3}</tool_call>")
        })
    },
    Form {
        elements: true,
        ..tags(Format::MinimaxM3, |calls| {
            let calls = each(calls, |name, args| {
                let args: String = args.iter().map(|(key, value)| element(key, value)).collect();
                format!("{M3}<invoke name=\"{name}\">{args}{M3}</invoke>\n")
            });
            format!("{M3}<tool_call>\n{calls}{M3}</tool_call>")
        })
    },
    tags(Format::SolarOpen2, |calls| {
        each(calls, |name, args| {
            let args = params(args, |key, text| {
                format!("<|tool_arg:start|>{key}<|tool_arg:value|>{text}<|tool_arg:end|>\n")
            });
            format!("<|tool_call:start|>{name}\n{args}<|tool_call:end|>\n")
        })
    }),
    tags(Format::Iquest, |calls| {
        each(calls, |name, args| {
            format!("<iquestcoder_tool_call>{name}{}</iquestcoder_tool_call>", pairs(args))
        })
    }),
    tags(Format::Iquest, |calls| {
        each(calls, |name, args| {
            format!("<iquest_tool_call>{name}\n{}</iquest_tool_call>", pairs(args))
        })
    }),
    tags(Format::HyV4, |calls| {
        each(calls, |name, args| {
            let pairs =
                pairs(args).replace("arg_key>", "arg_key:x>").replace("arg_value>", "arg_value:x>");
            format!("<tool_call:x>{name}<tool_sep:x>{pairs}<end_of_tool_call:x>")
        })
    }),
    tags(Format::Gemma4, |calls| {
        let calls = each(calls, |name, args| format!("call:{name}{}", gemma(args, "<|\"|>")));
        format!("<|tool_call>{calls}<tool_call|>")
    }),
    tags(Format::Gemma4, |calls| {
        each(calls, |name, args| {
            format!("<|tool_call>call:{name}{}<tool_call|>", gemma(args, "<|\"|>"))
        })
    }),
    tags(Format::Functiongemma, |calls| {
        each(calls, |name, args| {
            format!(
                "<start_function_call>call:{name}{}<end_function_call>",
                gemma(args, "<escape>")
            )
        })
    }),
];

const M3: &str = "]<]minimax[>[";

const fn tags(format: Format, write: fn(&[Meant<'_>]) -> String) -> Form {
    Form { format, write, ..NEW }
}

fn params(args: &Args, write: impl Fn(&str, &str) -> String) -> String {
    args.iter().map(|(key, value)| write(key, &raw(value))).collect()
}

fn pairs(args: &Args) -> String {
    params(args, |key, text| format!("<arg_key>{key}</arg_key><arg_value>{text}</arg_value>"))
}

fn glm(name: &str, args: &Args) -> String {
    format!("<tool_call>{name}{}</tool_call>", pairs(args))
}

fn xml(section: &str, prefix: &str, calls: &[Meant<'_>]) -> String {
    let calls = each(calls, |name, args| {
        let args = params(args, |key, text| {
            format!("<{prefix}parameter name=\"{key}\">{text}</{prefix}parameter>\n")
        });
        format!("<{prefix}invoke name=\"{name}\">\n{args}</{prefix}invoke>\n")
    });
    format!("<{section}>\n{calls}</{section}>")
}

fn dsml(mark: &str, section: &str, calls: &[Meant<'_>]) -> String {
    let calls = each(calls, |name, args| {
        let args: String = args
            .iter()
            .map(|(key, value)| {
                format!(
                    "<{mark}parameter name=\"{key}\" string=\"{}\">{}</{mark}parameter>\n",
                    value.is_string(),
                    raw(value)
                )
            })
            .collect();
        format!("<{mark}invoke name=\"{name}\">\n{args}</{mark}invoke>\n")
    });
    format!("<{mark}{section}>\n{calls}</{mark}{section}>")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn element(key: &str, value: &Value) -> String {
    let inner = match value {
        Value::Array(items) => items.iter().map(|item| element("item", item)).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| element(key, value)).collect(),
        other => raw(other),
    };
    format!("{M3}<{key}>{inner}{M3}</{key}>")
}

/// Gemma's notation: keys bare, strings between `quote`s.
fn gemma(args: &Args, quote: &str) -> String {
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
        Value::Object(members) => {
            let members =
                members.iter().map(|(key, value)| format!("{key}:{}", gemma_value(value, quote)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        plain => plain.to_string(),
    }
}
