//! Formats whose arguments are JSON, or Python's literals.

use hanok_parse::Format;
use serde_json::{Map, Value, json as value};

use super::{Form, Meant, each, joined, json};

pub(crate) const ALL: &[Form] = &[
    open(Form::new(Format::React, |meant| {
        each(meant, |name, args| format!("Action: {name}\nAction Input: {}\n", json(args)))
    })),
    open(Form::new(Format::React, |meant| {
        let calls = each(meant, |name, args| format!("행동: {name}\n행동 입력: {}\n", json(args)));
        format!("생각: 찾아보자\n{calls}")
    })),
    open(Form::new(Format::React, |meant| {
        each(meant, |name, args| {
            format!("**Action:** `{name}`\n**Action Input:**\n```json\n{}\n```\n", json(args))
        })
    })),
    Form::new(Format::JsonAction, |meant| {
        each(meant, |name, args| {
            format!("```json\n{{\"action\": \"{name}\", \"action_input\": {}}}\n```\n", json(args))
        })
    }),
    open(one(Form::new(Format::Smolagents, |meant| {
        each(meant, |name, args| format!("Action:\n{}\n", object(name, "arguments", args)))
    }))),
    one(Form::new(Format::BareJson, |meant| {
        each(meant, |name, args| object(name, "arguments", args) + "\n")
    })),
    Form::new(Format::BareJson, |meant| list(meant, "parameters") + "\n"),
    Form::new(Format::Xlam, |meant| format!("```json\n{}\n```", list(meant, "arguments"))),
    Form::new(Format::OpenaiJson, |meant| {
        let calls = meant.iter().map(|(name, args)| {
            value!({ "id": "c", "type": "function", "function": { "name": name, "arguments": json(args) } })
        });
        value!({ "tool_calls": calls.collect::<Vec<_>>() }).to_string() + "\n"
    }),
    Form::new(Format::ToolInputXml, |meant| {
        each(meant, |name, args| {
            format!("<tool_call>{name}</tool_call>\n<tool_input>{}</tool_input>\n", json(args))
        })
    }),
    Form::new(Format::Hermes, |meant| {
        each(meant, |name, args| {
            format!("<tool_call>\n{}\n</tool_call>\n", object(name, "arguments", args))
        })
    }),
    open(Form::new(Format::Llama3Json, |meant| {
        let calls = joined(meant, "; ", |name, args| object(name, "parameters", args));
        format!("<|python_tag|>{calls}")
    })),
    Form::new(Format::SolarOpen, |meant| {
        let calls = each(meant, |name, args| {
            let args = json(args);
            format!(
                "<|tool_call:begin|>0<|tool_call:name|>{name}<|tool_call:args|>{args}<|tool_call:end|>"
            )
        });
        format!("<|tool_calls|>{calls}")
    }),
    Form::new(Format::Nemotron, |meant| {
        format!("<TOOLCALL>{}</TOOLCALL>", list(meant, "arguments"))
    }),
    open(Form::new(Format::Sarashina, |meant| {
        format!("<|tool_calls|>{}", list(meant, "arguments"))
    })),
    open(one(Form::new(Format::Gigachat3, |meant| {
        each(meant, |name, args| format!("<|function_call|>{}", object(name, "arguments", args)))
    }))),
    Form::new(Format::CallingTool, |meant| {
        each(meant, |name, args| format!("[Calling tool: {name}({})]", json(args)))
    }),
    Form::new(Format::Cwm, |meant| {
        each(meant, |name, args| format!("<tool: function>\n{name} {}\n</tool>", json(args)))
    }),
    Form::new(Format::LangchainXml, |meant| {
        each(meant, |name, args| {
            format!("<tool>{name}</tool><tool_input>{}</tool_input>", json(args))
        })
    }),
    Form::new(Format::FunctionTag, |meant| {
        each(meant, |name, args| format!("<function={name}>{}</function>", json(args)))
    }),
    open(one(Form::new(Format::LlamaBuiltin, |meant| {
        each(meant, |name, args| format!("<|python_tag|>{name}.call({})", keywords(args)))
    }))),
    one_line(Form::new(Format::Pythonic, |meant| pythonic(meant) + "\n")),
    Form::new(Format::Pythonic, |meant| {
        format!("<|python_start|>{}<|python_end|>", pythonic(meant))
    }),
    Form::new(Format::Olmo3, |meant| {
        let calls = joined(meant, "\n", |name, args| format!("{name}({})", keywords(args)));
        format!("<function_calls>\n{calls}\n</function_calls>")
    }),
    Form::new(Format::Lfm2, |meant| {
        format!("<|tool_call_start|>{}<|tool_call_end|>", pythonic(meant))
    }),
    open(Form::new(Format::Mistral, |meant| format!("[TOOL_CALLS] {}", list(meant, "arguments")))),
    open(Form::new(Format::MistralV11, |meant| {
        each(meant, |name, args| format!("[TOOL_CALLS]{name}[ARGS]{}", json(args)))
    })),
    open(Form::new(Format::MistralV11, |meant| {
        each(meant, |name, args| {
            format!("[TOOL_CALLS]{name}[CALL_ID]a1b2c3d4e[ARGS]{}", json(args))
        })
    })),
    open(Form::new(Format::Granite, |meant| format!("<|tool_call|>{}", list(meant, "arguments")))),
    // The arguments stand first.
    open(Form::new(Format::Granite20bFc, |meant| {
        each(meant, |name, args| {
            format!("<function_call> {}", value!({ "arguments": args, "name": name }))
        })
    })),
    Form::new(Format::Hermes, |meant| {
        each(meant, |name, args| {
            let call = value!({ "arguments": args, "name": name });
            format!("<tool_call>{call}</tool_call>")
        })
    }),
    Form::new(Format::Longcat, |meant| {
        each(meant, |name, args| {
            let call = object(name, "arguments", args);
            format!("<longcat_tool_call>\n{call}\n</longcat_tool_call>")
        })
    }),
    Form::new(Format::Jamba, |meant| {
        format!("<tool_calls>{}</tool_calls>", list(meant, "arguments"))
    }),
    one(Form::new(Format::Internlm, |meant| {
        each(meant, |name, args| {
            let call = object(name, "parameters", args);
            format!("<|action_start|> <|plugin|>\n{call}<|action_end|>")
        })
    })),
    Form::new(Format::DeepseekV3, |meant| {
        let calls = joined(meant, "\n", |name, args| {
            format!(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{}\n```<｜tool▁call▁end｜>",
                json(args)
            )
        });
        format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>")
    }),
    Form::new(Format::DeepseekV31, |meant| {
        let calls = each(meant, |name, args| {
            format!("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{}<｜tool▁call▁end｜>", json(args))
        });
        format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>")
    }),
    Form::new(Format::KimiK2, |meant| {
        let mut calls = String::new();
        for (index, (name, args)) in meant.iter().enumerate() {
            calls += &format!(
                "<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{}<|tool_call_end|>",
                json(args)
            );
        }
        format!("<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>")
    }),
    alone(Form::new(Format::Harmony, |meant| {
        let calls = joined(meant, "<|start|>assistant", |name, args| {
            format!(
                "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{}<|call|>",
                json(args)
            )
        });
        format!("<|channel|>analysis<|message|>I should call.<|end|><|start|>assistant{calls}")
    })),
    Form::new(Format::Cohere, |meant| {
        let calls = meant.iter().enumerate().map(|(index, (name, args))| {
            value!({ "tool_call_id": index.to_string(), "tool_name": name, "parameters": args })
        });
        format!("<|START_ACTION|>{}<|END_ACTION|>", Value::Array(calls.collect()))
    }),
    Form::new(Format::Apertus, |meant| {
        let calls = meant.iter().map(|(name, args)| value!({ *name: args }));
        format!("<|tools_prefix|>{}<|tools_suffix|>", Value::Array(calls.collect()))
    }),
    open(Form::new(Format::Phi4mini, |meant| format!("functools{}", list(meant, "arguments")))),
    open(one(Form::new(Format::Gigachat3, |meant| {
        each(meant, |name, args| {
            format!("function call<|role_sep|>\n{}", object(name, "arguments", args))
        })
    }))),
    Form::new(Format::Inkling, |meant| {
        each(meant, |name, args| {
            let call = object(name, "args", args);
            format!("<|message_model|>{name}<|content_invoke_tool_json|>{call}<|end_message|>")
        })
    }),
    Form::new(Format::Granite4, |meant| {
        each(meant, |name, args| {
            format!("<tool_call>\n{}\n</tool_call>\n", object(name, "arguments", args))
        })
    }),
    Form::new(Format::HunyuanA13b, |meant| {
        format!("<tool_calls>\n{}\n</tool_calls>", list(meant, "arguments"))
    }),
    Form::new(Format::Plamo3, |meant| {
        let calls = each(meant, |name, args| {
            format!(
                "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|>\
                 <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{}\
                 <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
                json(args)
            )
        });
        format!("<|plamo:begin_tool_requests:plamo|>{calls}<|plamo:end_tool_requests:plamo|>")
    }),
    Form::new(Format::K2Horizon, |meant| {
        let calls = each(meant, |name, args| {
            format!("<ifm|tool_call>{}</ifm|tool_call>", object(name, "arguments", args))
        });
        format!("<ifm|tool_calls>{calls}</ifm|tool_calls>")
    }),
    open(Form::new(Format::Ernie45, |meant| {
        each(meant, |name, args| {
            format!("<tool_call>{}</tool_call>\n", object(name, "arguments", args))
        }) + "</s>"
    })),
    open(Form::new(Format::Glm53, |meant| {
        each(meant, |name, args| format!("<tool_call>{name}>{}", json(args)))
    })),
    Form::new(Format::ToolCode, |meant| {
        let calls = joined(meant, "\n", |name, args| format!("print({name}({}))", keywords(args)));
        format!("```tool_code\n{calls}\n```\n")
    }),
    open(Form::new(Format::Functionary, |meant| {
        each(meant, |name, args| {
            format!("<|from|>assistant\n<|recipient|>{name}\n<|content|>{}", json(args))
        })
    })),
    open(Form::new(Format::Functionary, |meant| {
        each(meant, |name, args| format!(">>>{name}\n{}\n", json(args)))
    })),
    open(Form::new(Format::Hyperclovax, |meant| {
        format!("-> tool/function_call\n{}", list(meant, "arguments"))
    })),
    open(Form::new(Format::UiTars, |meant| {
        each(meant, |name, args| format!("Action: {name}({})\n", keywords(args)))
    })),
    Form {
        hinted: true,
        ..open(Form::new(Format::GranitePythonic, |meant| {
            joined(meant, "\n", |name, args| format!("{name}({})", keywords(args)))
        }))
    },
    open(Form::new(Format::QwenAgent, |meant| {
        each(meant, |name, args| format!("✿FUNCTION✿: {name}\n✿ARGS✿: {}\n", json(args)))
    })),
];

/// Nothing says where it ends, so that no prose may follow.
const fn open(form: Form) -> Form {
    Form { prose: (form.prose.0, false), ..form }
}

/// It holds one call.
const fn one(form: Form) -> Form {
    Form { most: 1, ..form }
}

/// All of the text is made of its marks.
const fn alone(form: Form) -> Form {
    Form { prose: (false, false), ..form }
}

const fn one_line(form: Form) -> Form {
    Form { prose: (true, false), ..form }
}

/// A call as models write it, the name first.
fn object(name: &str, key: &str, args: &Map<String, Value>) -> String {
    format!("{{\"name\": \"{name}\", \"{key}\": {}}}", json(args))
}

fn list(meant: &[Meant], key: &str) -> String {
    format!("[{}]", joined(meant, ", ", |name, args| object(name, key, args)))
}

fn pythonic(meant: &[Meant]) -> String {
    format!("[{}]", joined(meant, ", ", |name, args| format!("{name}({})", keywords(args))))
}

fn keywords(args: &Map<String, Value>) -> String {
    let args = args.iter().map(|(key, value)| format!("{key}={}", literal(value)));
    args.collect::<Vec<_>>().join(", ")
}

/// The value as Python writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), literal(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}
