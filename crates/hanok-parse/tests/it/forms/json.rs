//! Formats whose arguments are JSON, or Python's literals.

use hanok_parse::Format;
use serde_json::{Value, json};

use super::{Args, Form, Meant, NEW, each, joined, object};

pub(crate) const ALL: &[Form] = &[
    Form {
        write: |calls| {
            each(calls, |name, args| format!("Action: {name}\nAction Input: {}\n", object(args)))
        },
        ..NEW
    },
    Form {
        write: |calls| {
            each(calls, |name, args| {
                format!("**행동:** `{name}`\n**행동 입력:**\n```json\n{}\n```\n", object(args))
            })
        },
        ..NEW
    },
    Form {
        write: |calls| each(calls, |name, args| format!("Action: {name}({})\n", object(args))),
        ..NEW
    },
    Form {
        format: Format::Smolagents,
        write: |calls| {
            each(calls, |name, args| format!("Action:\n{}\n", call(name, "arguments", args)))
        },
        ..NEW
    },
    Form {
        format: Format::JsonAction,
        write: |calls| {
            each(calls, |name, args| {
                format!(
                    "```json\n{{\"action\":\"{name}\",\"action_input\":{}}}\n```\n",
                    object(args)
                )
            })
        },
        ..NEW
    },
    Form {
        format: Format::BareJson,
        write: |calls| each(calls, |name, args| call(name, "arguments", args) + "\n"),
        ..NEW
    },
    Form { format: Format::BareJson, write: |calls| list(calls, "parameters"), ..NEW },
    Form {
        format: Format::OpenaiJson,
        write: |calls| {
            let calls = calls.iter().map(|(name, args)| {
                json!({ "id": "c", "function": { "name": name, "arguments": object(args) } })
            });
            json!({ "tool_calls": calls.collect::<Vec<_>>() }).to_string()
        },
        ..NEW
    },
    Form {
        format: Format::OpenaiJson,
        write: |calls| {
            each(calls, |name, args| {
                let call = json!({ "name": name, "arguments": object(args) });
                json!({ "function_call": call }).to_string()
            })
        },
        several: false,
        ..NEW
    },
    Form {
        format: Format::ToolInputXml,
        write: |calls| {
            each(calls, |name, args| {
                format!(
                    "<tool_call>{name}</tool_call>\n<tool_input>{}</tool_input>\n",
                    object(args)
                )
            })
        },
        ..NEW
    },
    tag(Format::Hermes, |calls| {
        each(calls, |name, args| {
            format!("<tool_call>\n{}\n</tool_call>\n", call(name, "arguments", args))
        })
    }),
    tag(Format::Hermes, |calls| {
        each(calls, |name, args| format!("<tool_call>{name}({})</tool_call>\n", keywords(args)))
    }),
    tag(Format::Granite4, |calls| {
        each(calls, |name, args| {
            format!("<tool_call>{}</tool_call>", call(name, "arguments", args))
        })
    }),
    tag(Format::Ernie45, |calls| {
        let calls = each(calls, |name, args| {
            format!("<tool_call>{}</tool_call>\n", call(name, "arguments", args))
        });
        format!("{calls}</s>")
    }),
    tag(Format::Xlam, |calls| format!("```json\n{}\n```", list(calls, "arguments"))),
    tag(Format::Xlam, |calls| format!("<tool_call>{}</tool_call>", list(calls, "arguments"))),
    tag(Format::Llama3Json, |calls| {
        let calls = joined(calls, "; ", |name, args| call(name, "parameters", args));
        format!("<|python_tag|>{calls}<|eom_id|>")
    }),
    tag(Format::Llama3Json, |calls| {
        let calls = joined(calls, ";", |name, args| {
            format!(
                "{{\"type\":\"function\",\"function\":{{\"name\":\"{name}\",\"parameters\":{}}}}}",
                object(args)
            )
        });
        format!("<|python_tag|>{calls}")
    }),
    tag(Format::FunctionTag, |calls| {
        each(calls, |name, args| format!("<function={name}>{}</function>", object(args)))
    }),
    Form {
        several: false,
        ..tag(Format::LlamaBuiltin, |calls| {
            each(calls, |name, args| format!("<|python_tag|>{name}.call({})", keywords(args)))
        })
    },
    tag(Format::Pythonic, |calls| format!("<|python_start|>{}<|python_end|>", python(calls))),
    tag(Format::Pythonic, python),
    tag(Format::Olmo3, |calls| {
        let calls = joined(calls, "\n", |name, args| format!("{name}({})", keywords(args)));
        format!("<function_calls>\n{calls}\n</function_calls>")
    }),
    tag(Format::Lfm2, |calls| format!("<|tool_call_start|>{}<|tool_call_end|>", python(calls))),
    tag(Format::Lfm2, |calls| {
        format!("<|tool_call_start|>{}<|tool_call_end|>", list(calls, "arguments"))
    }),
    tag(Format::Mistral, |calls| format!("[TOOL_CALLS] {}</s>", list(calls, "arguments"))),
    tag(Format::MistralV11, |calls| {
        each(calls, |name, args| format!("[TOOL_CALLS]{name}[ARGS]{}", object(args)))
    }),
    tag(Format::MistralV11, |calls| {
        each(calls, |name, args| format!("[TOOL_CALLS]{name}{}", object(args)))
    }),
    tag(Format::MistralV11, |calls| {
        each(calls, |name, args| format!("[TOOL_CALLS]{name}[CALL_ID]aB3[ARGS]{}", object(args)))
    }),
    tag(Format::Granite, |calls| format!("<|tool_call|>{}", list(calls, "arguments"))),
    tag(Format::Granite, |calls| format!("<tool_call>{}", list(calls, "arguments"))),
    tag(Format::Granite20bFc, |calls| {
        each(calls, |name, args| format!("<function_call> {}\n", call(name, "arguments", args)))
    }),
    tag(Format::Glm53, |calls| {
        each(calls, |name, args| format!("<tool_call>{name}>{}", object(args)))
    }),
    Form {
        hinted: true,
        ..tag(Format::GranitePythonic, |calls| {
            joined(calls, "\n", |name, args| format!("{name}({})", keywords(args)))
        })
    },
    tag(Format::Longcat, |calls| {
        each(calls, |name, args| {
            format!("<longcat_tool_call>{}</longcat_tool_call>\n", call(name, "arguments", args))
        })
    }),
    tag(Format::Jamba, |calls| format!("<tool_calls>{}</tool_calls>", list(calls, "arguments"))),
    tag(Format::HunyuanA13b, |calls| {
        format!(
            "<tool_calls>[{}]</tool_calls>",
            joined(calls, ", ", |name, args| call(name, "arguments", args))
        )
    }),
    tag(Format::Internlm, |calls| {
        each(calls, |name, args| {
            format!("<|action_start|><|plugin|>{}<|action_end|>", call(name, "parameters", args))
        })
    }),
    tag(Format::Internlm, |calls| {
        each(calls, |name, args| {
            format!(
                "<|action_start|> <|plugin|>\n{}<|action_end|>\n",
                call(name, "parameters", args)
            )
        })
    }),
    tag(Format::DeepseekV3, |calls| {
        let calls = joined(calls, "\n", |name, args| {
            format!(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{}\n```<｜tool▁call▁end｜>",
                object(args)
            )
        });
        format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>")
    }),
    tag(Format::DeepseekV31, |calls| {
        let calls = each(calls, |name, args| {
            format!("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{}<｜tool▁call▁end｜>", object(args))
        });
        format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>")
    }),
    tag(Format::KimiK2, |calls| {
        let calls = each(calls, |name, args| {
            format!(
                "<|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
                object(args)
            )
        });
        format!("<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>")
    }),
    Form { prose: false, ..tag(Format::Harmony, harmony) },
    Form {
        prose: false,
        ..tag(Format::Harmony, |calls| {
            joined(calls, "<|start|>assistant", |name, args| {
                format!(
                    " to=functions.{name}<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
                    object(args)
                )
            })
        })
    },
    tag(Format::Cohere, |calls| {
        let calls = joined(calls, ",\n", |name, args| {
            format!(
                "{{\"tool_call_id\":\"0\",\"tool_name\":\"{name}\",\"parameters\":{}}}",
                object(args)
            )
        });
        format!("<|START_ACTION|>[\n{calls}\n]<|END_ACTION|>")
    }),
    tag(Format::Apertus, |calls| {
        let calls = joined(calls, ", ", |name, args| format!("{{\"{name}\": {}}}", object(args)));
        format!("<|tools_prefix|>[{calls}]<|tools_suffix|>")
    }),
    tag(Format::Phi4mini, |calls| format!("functools{}", list(calls, "arguments"))),
    Form {
        several: false,
        ..tag(Format::Gigachat3, |calls| {
            each(calls, |name, args| {
                format!("function call<|role_sep|>\n{}", call(name, "arguments", args))
            })
        })
    },
    tag(Format::Inkling, |calls| {
        each(calls, |name, args| {
            let call = call(name, "args", args);
            format!("<|message_model|>{name}<|content_invoke_tool_json|>{call}<|end_message|>")
        })
    }),
    tag(Format::Plamo3, |calls| {
        let calls = each(calls, |name, args| {
            format!(
                "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|>\
                 <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{}\
                 <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
                object(args)
            )
        });
        format!("<|plamo:begin_tool_requests:plamo|>{calls}<|plamo:end_tool_requests:plamo|>")
    }),
    tag(Format::K2Horizon, |calls| {
        let calls = each(calls, |name, args| {
            format!("<ifm|tool_call>{}</ifm|tool_call>", call(name, "arguments", args))
        });
        format!("<ifm|tool_calls>{calls}</ifm|tool_calls>")
    }),
    tag(Format::SolarOpen, |calls| {
        let calls = each(calls, |name, args| {
            format!(
                "<|tool_call:begin|>b462b4f8<|tool_call:name|>{name}<|tool_call:args|>{}<|tool_call:end|>",
                object(args)
            )
        });
        format!("<|tool_calls|>{calls}<|calls|>")
    }),
    tag(Format::Sarashina, |calls| format!("<|tool_calls|>{}", list(calls, "arguments"))),
    tag(Format::Nemotron, |calls| format!("<TOOLCALL>{}</TOOLCALL>", list(calls, "arguments"))),
    tag(Format::Gigachat3, |calls| {
        joined(calls, "\n", |name, args| {
            format!("<|function_call|>{}", call(name, "arguments", args))
        })
    }),
    tag(Format::Phi4mini, |calls| {
        format!("<|tool_call|>{}<|/tool_call|>", list(calls, "arguments"))
    }),
    tag(Format::Hyperclovax, |calls| {
        format!("-> tool/function_call\n{}", list(calls, "arguments"))
    }),
    tag(Format::ToolCode, |calls| {
        let calls = joined(calls, "\n", |name, args| format!("{name}({})", keywords(args)));
        format!("```tool_code\n{calls}\n```\n")
    }),
    tag(Format::ToolCode, |calls| {
        let calls = joined(calls, "\n", |name, args| format!("print({name}({}))", keywords(args)));
        format!("```tool_code\n{calls}\n```\n")
    }),
    Form {
        several: false,
        ..tag(Format::ToolCode, |calls| {
            each(calls, |name, args| {
                format!("tool_code = {name}({})\nprint(tool_code)", keywords(args))
            })
        })
    },
    tag(Format::CallingTool, |calls| {
        each(calls, |name, args| format!("[Calling tool: {name}({})]", object(args)))
    }),
    tag(Format::Functionary, |calls| {
        each(calls, |name, args| {
            format!("<|from|>assistant\n<|recipient|>{name}\n<|content|>{}", object(args))
        })
    }),
    tag(Format::Functionary, |calls| {
        each(calls, |name, args| format!(">>>{name}\n{}\n", object(args)))
    }),
    tag(Format::Cwm, |calls| {
        each(calls, |name, args| format!("<tool: function>\n{name} {}\n</tool>\n", object(args)))
    }),
    tag(Format::LangchainXml, |calls| {
        each(calls, |name, args| {
            format!("<tool>{name}</tool><tool_input>{}</tool_input>\n", object(args))
        })
    }),
    tag(Format::UiTars, |calls| {
        joined(calls, "\n", |name, args| format!("Action: {name}({})", keywords(args))) + "\n"
    }),
    tag(Format::QwenAgent, |calls| {
        each(calls, |name, args| format!("✿FUNCTION✿: {name}\n✿ARGS✿: {}\n", object(args)))
    }),
];

const fn tag(format: Format, write: fn(&[Meant<'_>]) -> String) -> Form {
    Form { format, write, ..NEW }
}

fn harmony(calls: &[Meant<'_>]) -> String {
    let calls = joined(calls, "<|start|>assistant", |name, args| {
        format!(
            "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{}<|call|>",
            object(args)
        )
    });
    format!("<|channel|>analysis<|message|>I call <tool_call>.<|end|><|start|>assistant{calls}")
}

fn call(name: &str, key: &str, args: &Args) -> String {
    format!("{{\"name\":\"{name}\",\"{key}\":{}}}", object(args))
}

fn list(calls: &[Meant<'_>], key: &str) -> String {
    format!("[{}]", joined(calls, ", ", |name, args| call(name, key, args)))
}

fn python(calls: &[Meant<'_>]) -> String {
    format!("[{}]", joined(calls, ", ", |name, args| format!("{name}({})", keywords(args))))
}

fn keywords(args: &Args) -> String {
    let args = args.iter().map(|(key, value)| format!("{key}={}", literal(value)));
    args.collect::<Vec<_>>().join(", ")
}

/// The value as Python writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => {
            let text = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
            format!("'{text}'")
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("'{key}': {}", literal(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        number => number.to_string(),
    }
}
