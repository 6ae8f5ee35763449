"""The module `hanok_parse`, as its users meet it. `cargo xtask wheel` runs this on the wheel."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import hanok_parse
from hanok_parse import Event, Stream, parse

FIND: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "Finds pages.",
        "parameters": {
            "type": "object",
            "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["q"],
        },
    },
}

HERMES = '<tool_call>\n{"name": "find", "arguments": {"q": "휴가 } 정책", "n": 2}}\n</tool_call>'
QWEN = (
    "<tool_call>\n<function=find>\n<parameter=q>\n휴가 } 정책\n</parameter>\n"
    "<parameter=n>\n2\n</parameter>\n</function>\n</tool_call>"
)
MISTRAL = '[TOOL_CALLS] [{"name": "find", "arguments": {"q": "휴가 } 정책", "n": 2}}]'
TEXTS = {"hermes": HERMES, "qwen3_xml": QWEN, "mistral": MISTRAL}


@pytest.mark.parametrize("format", TEXTS)
def test_a_model_calls_in_any_format_and_nothing_is_configured(format: str) -> None:
    text = f"<think>hm</think>찾아보겠습니다. {TEXTS[format]}"
    reply = parse(text, [FIND])
    (call,) = reply.calls
    assert (call.name, call.format) == ("find", format)
    assert call.decode() == {"q": "휴가 } 정책", "n": 2} == json.loads(call.arguments)
    assert call.mark == ("special" if format == "mistral" else "tag")
    assert (reply.content, reply.reasoning) == ("찾아보겠습니다.", "hm")
    assert (reply.answer, reply.error, reply.notes) == (None, None, [])
    assert reply.finish_reason == "tool_calls"


def test_spans_are_in_characters_and_slice_the_text() -> None:
    before = "연차는 며칠입니까? 🙂 " * 300
    text = before + HERMES
    (call,) = parse(text, [FIND]).calls
    assert text[slice(*call.span)].startswith('<tool_call>\n{"name"')
    assert call.span[0] == len(before)


def told(events: list[Event]) -> tuple[str, dict[int, tuple[str | None, str]]]:
    """What is left of the events when their pieces are joined and what was taken back is left out."""
    content, calls = "", dict[int, tuple[str | None, str]]()
    for event in events:
        match event.kind, event.call:
            case "content", _:
                content += event.text or ""
            case "call_started", int(call):
                calls[call] = (event.name, "")
            case "arguments", int(call):
                calls[call] = (calls[call][0], calls[call][1] + (event.text or ""))
            case "arguments_reset", int(call):
                calls[call] = (calls[call][0], "")
            case "call_dropped", int(call):
                del calls[call]
    return content, calls


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("format", TEXTS)
def test_a_stream_says_the_same_as_the_whole_in_every_cut(format: str, committed: bool) -> None:
    text = f"찾아보겠습니다. {TEXTS[format]}"
    whole = parse(text, [FIND], formats=format)
    for cut in range(len(text) + 1):
        stream = Stream([FIND], formats=[format], committed=committed)
        events = stream.feed(text[:cut]) + stream.feed(text[cut:])
        last, reply = stream.finish()
        assert reply == whole
        assert told(events + last) == (whole.content, {0: ("find", whole.calls[0].arguments)})


def test_notes_in_events_are_in_characters_too() -> None:
    text = "휴가 " * 500 + "<tool_call>{'name': 'find', 'arguments': {'q': 'x'},}</tool_call>"
    stream = Stream([FIND])
    events = [event for piece in re.findall("(?s).{1,7}", text) for event in stream.feed(piece)]
    last, reply = stream.finish()
    noted = [event.note for event in events + last if event.note is not None]
    assert noted == reply.notes == parse(text, [FIND]).notes
    assert [note.kind for note in noted] == ["repaired"]
    assert text[slice(*noted[0].span)].startswith("{'name'")


def test_special_tokens_are_marks_and_their_letters_are_not() -> None:
    stream = Stream([FIND])
    stream.feed_special("<tool_call>")
    stream.feed('{"name": "find", "arguments": {"q": "a"}}')
    stream.feed_special("</tool_call>")
    stream.feed(HERMES)
    assert [call.decode() for call in stream.finish()[1].calls] == [{"q": "a"}]


def test_a_page_that_is_neutralised_calls_nothing_and_is_restored() -> None:
    for text in TEXTS.values():
        quoted = hanok_parse.neutralise(text)
        assert parse(quoted, [FIND]).calls == []
        assert hanok_parse.restore(quoted) == text
        assert hanok_parse.neutralise(quoted) == quoted
    assert hanok_parse.neutralise("연차는 15일입니다.") == "연차는 15일입니다."


def test_forms_without_a_mark_count_where_the_prompt_asks_for_them() -> None:
    text = 'Thought: look\nAction: find\nAction Input: {"q": "a"}'
    assert parse(text, [FIND]).calls == []
    reply = parse(text, [FIND], asked=["react"])
    assert ([call.mark for call in reply.calls], reply.thought) == (["bare"], "look")
    assert parse(text, [FIND], asked="react", bare="off").calls == []
    assert parse("Final Answer: 15일", bare="on").answer == "15일"


def test_only_declared_tools_are_called_and_the_model_is_told_why() -> None:
    text = '<tool_call>{"name": "fnd", "arguments": {}}</tool_call>'
    error = parse(text, [FIND]).error
    assert error is not None
    assert (error.kind, error.name, error.suggestion) == ("unknown_tool", "fnd", "find")
    assert "Did you mean `find`?" in error.message
    assert parse(text).calls == [] and parse(text, []).calls == []
    assert [call.name for call in parse(text, "any").calls] == ["fnd"]
    assert [call.name for call in parse(text, ["fnd"]).calls] == ["fnd"]


def test_a_text_that_was_cut_off_calls_nothing() -> None:
    text = "Action: find\nAction Input: /home/us"
    assert len(parse(text, [FIND], asked="react").calls) == 1
    reply = parse(text, [FIND], asked="react", finish="length")
    assert (reply.calls, reply.finish_reason) == ([], "length")
    stream = Stream([FIND], asked="react")
    stream.feed(text)
    assert stream.finish("length")[1] == reply


def test_open_reasoning_of_the_prompt_is_reasoning() -> None:
    reply = parse("hm</think>Yes.", in_reasoning=True)
    assert (reply.reasoning, reply.content) == ("hm", "Yes.")


def test_a_chat_template_says_the_formats() -> None:
    assert hanok_parse.formats_of_template("no marks") == []
    found = hanok_parse.formats_of_template('<tool_call>{"name": …, "arguments": …}</tool_call>')
    assert "hermes" in found and set(found) <= set(hanok_parse.FORMATS)
    assert len(hanok_parse.FORMATS) >= 70


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"formats": "morse"}, ValueError, "there is no format `morse`; FORMATS lists them"),
    ({"formats": ["hermes", "morse"]}, ValueError, "there is no format `morse`"),
    ({"asked": "morse"}, ValueError, "there is no format `morse`"),
    ({"formats": 7}, TypeError, "formats"),
    ({"bare": "maybe"}, ValueError, "bare is `off`, `asked` or `on`, not `maybe`"),
    ({"finish": "tired"}, ValueError, "finish is `stop`, `length` or `abort`, not `tired`"),
    ({"tools": "find"}, ValueError, "tools is a list, `any` or None, not `find`"),
    ({"tools": FIND}, TypeError, "tools is a list, `any` or None"),
    ({"tools": [{"type": "function"}]}, ValueError, "tools[0] has no `function.name`"),
    ({"tools": [FIND, {"name": "x", "parameters": 7}]}, ValueError, "tools[1]: the schema of `x`"),
    ({"tools": [object()]}, TypeError, "not JSON serializable"),
    ({"tools": [float("nan")]}, ValueError, "tools are no JSON"),
    ({"text": "\ud800"}, UnicodeEncodeError, "surrogates not allowed"),
    ({"text": b"bytes"}, TypeError, "text"),
]


@pytest.mark.parametrize(("arguments", "error", "words"), WRONG)
def test_wrong_arguments_are_exceptions_with_words(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=re.escape(words)):
        parse(**{"text": "", **arguments})


def test_a_stream_that_has_ended_says_so() -> None:
    stream = Stream()
    with pytest.raises(ValueError, match="not `tired`"):
        stream.finish("tired")  # type: ignore[arg-type]
    stream.finish()
    for again in (lambda: stream.feed("x"), lambda: stream.finish()):
        with pytest.raises(ValueError, match="the text of this stream has ended"):
            again()


def test_integers_keep_their_digits_and_values_are_compared() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"n": 12345678901234567890123}}</tool_call>'
    reply = parse(text, "any")
    assert reply.calls[0].decode() == {"n": 12345678901234567890123}
    assert reply == parse(text, "any") and reply != parse("", "any")
    assert "12345678901234567890123" in repr(reply)


def test_the_programs_of_the_readme_run() -> None:
    readme = Path(__file__).parent.parent.joinpath("README.md").read_text("utf-8")
    programs = re.findall("(?s)```python\n(.*?)```", readme)
    assert len(programs) == 3
    exec("\n".join(programs), {})
