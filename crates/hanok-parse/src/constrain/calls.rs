//! Rules for calls.

use crate::constrain::{
    rules::{Rules, Written, joined, literal, one_of},
    spelling::{Arguments, Block, Body, Call, Tool},
    values::arguments,
};

/// An id that a call may have: any word.
pub(crate) const ID: &str = "[0-9a-zA-Z]{1,32}";

/// What a mark begins, from the mark to the end.
pub(crate) fn block(block: &Block<'_>, tools: &[Tool<'_>], rules: &mut Rules) -> Written {
    let body = match &block.body {
        Body::Call(own) => call(own, tools, rules)?,
        Body::List(heads, items, tails) => {
            let item = one_of(items.iter().map(|item| call(item, tools, rules)))?;
            let gap = rules.gap();
            let items = format!("{item} ({gap} \",\" {gap} {item})*");
            format!("{} {gap} {items} {gap} {}", either(heads)?, either(tails)?)
        }
        Body::Python => python(tools, rules)?,
    };
    Ok(format!("{} {body} {}", literal(&block.open), literal(&block.close)))
}

/// Calls as Python writes them, in a list or a line each.
pub(crate) fn python(tools: &[Tool<'_>], rules: &mut Rules) -> Written {
    rules.rule("python-calls", |rules| {
        let call = |tool: &Tool<'_>| {
            let arguments = arguments(rules, *tool, Arguments::Python)?;
            Ok(format!("{} {arguments}", literal(tool.name)))
        };
        let calls = joined(tools.iter().map(call), " | ")?;
        let (gap, call) = (rules.gap(), rules.fixed("python-call", &calls));
        let list = format!("\"[\" {gap} {call} ({gap} \",\" {gap} {call})* {gap} \"]\"");
        Ok(format!("{gap} ({list} | {call} (\"\\n\" {call})*) {gap}"))
    })
}

fn call(call: &Call<'_>, tools: &[Tool<'_>], rules: &mut Rules) -> Written {
    let Some(tool) = tools.get(call.tool) else { return Ok(literal("")) };
    let id = call.id.as_ref().map(|behind| format!(" {ID} {}", literal(behind)));
    let (id, arguments) = (id.unwrap_or_default(), arguments(rules, *tool, call.arguments)?);
    Ok(format!("{}{id} {arguments} {}", either(&call.heads)?, either(&call.tails)?))
}

/// One of some texts.
fn either(texts: &[String]) -> Written {
    one_of(texts.iter().map(|text| Ok(literal(text))))
}
