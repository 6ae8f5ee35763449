//! What the parsers are given. The measurements of others include this file, so that all read the same.

/// Sentences as models write them, with what looks like marks and is none.
const SENTENCES: [&str; 12] = [
    "The lease runs for two years, and either side may end it with two months' notice. ",
    "연차는 1년에 15일이며, 3년부터는 2년마다 하루씩 늘어납니다. ",
    "If the deposit is not paid back in time, interest is due at 5 % a year (see section 4.2). ",
    "Note: a fee of 0.4 % applies; this is what the agent may ask for at most. ",
    "계약서의 특약 사항은 반드시 서면으로 남겨 두는 것이 좋습니다. ",
    "It's worth asking for a copy of the register before you sign - it is free of charge online. ",
    "Run `cargo build` first; the call `f(x)` then returns a value that is less than 10 (x < 10). ",
    "전세 3억 5천만 원을 5 % 올리면 3억 6,750만 원입니다. ",
    "Set the option {\"dry_run\": true} in the file, or leave it out altogether. ",
    "In short: read the contract, compare the numbers, and keep what was said in writing. ",
    "결론부터 말하면, 두 조건 모두 법이 정한 범위 안에 있습니다. ",
    "This answers the first question; the second one needs the answer of a tool. ",
];

/// `bytes` of an answer at least: paragraphs and lists.
pub(crate) fn prose(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    let mut draw = Draw(7);
    while text.len() < bytes {
        match draw.below(8) {
            0 => text.push_str("- "),
            1 => text.push_str("2. "),
            _ => {}
        }
        for _ in 0..=draw.below(5) {
            text.push_str(draw.sentence());
        }
        text.push_str(if draw.below(3) == 0 { "\n\n" } else { "\n" });
    }
    text
}

/// So many calls in Hermes' form, and nothing else.
pub(crate) fn calls(count: usize) -> String {
    let mut text = String::new();
    let mut draw = Draw(11);
    for index in 0..count {
        let query = draw.sentence().replace('"', "\\\"");
        let note = draw.sentence().replace('"', "\\\"");
        text.push_str(&format!(
            "<tool_call>\n{{\"name\": \"find\", \"arguments\": {{\"q\": \"{query}\", \"page\": {index}, \"filters\": \
             {{\"tags\": [\"lease\", \"세입자\"], \"max\": 12.5, \"exact\": false}}, \"note\": \"{note}\\n\"}}}}\n</tool_call>\n"
        ));
    }
    text
}

/// So many calls in ReAct's form, and nothing else.
pub(crate) fn react(count: usize) -> String {
    let mut text = String::new();
    for index in 0..count {
        text.push_str("Action: find\nAction Input: ");
        text.push_str(&format!("{{\"q\": \"{index}\", \"page\": 1}}\n"));
    }
    text
}

/// `text` in pieces of at most 8 bytes that cut no character.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, others) = rest.split_at(rest.floor_char_boundary(8));
        pieces.push(piece);
        rest = others;
    }
    pieces
}

/// Numbers that are the same in every run.
pub(crate) struct Draw(pub(crate) u32);

impl Draw {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % end
    }

    fn sentence(&mut self) -> &'static str {
        SENTENCES.get(self.below(SENTENCES.len())).copied().unwrap_or_default()
    }
}
