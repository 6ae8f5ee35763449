"""Reads tool calls, answers and reasoning out of the text a language model writes.

Every text is some reply: no text raises. All spans are in characters of the text, as `(start, end)`, so that
`text[start:end]` is the part of it. A `str` with half a surrogate pair is a `UnicodeEncodeError`.

Arguments that several functions have:

tools: What may be called: a list of tools as Chat Completions has them, with a JSON Schema in `parameters`, or of names alone.
    Without it nothing may be called, and each call is an error. `"any"` takes every name: the caller checks them.
formats: The formats that the model may write, by name (`FORMATS`). What looks like another one is text. Default: all.
asked: The formats that the prompt asks for: their forms without a mark count, such as `Action:` or bare JSON.
bare: Whether forms without a mark are read: "off" never, "asked" those of `asked` and of `formats`, "on" all of them.
in_reasoning: The prompt ended in an open `<think>`.

Wrong arguments raise `ValueError` or `TypeError`, with words.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, final

__all__ = [
    "FORMATS",
    "Call",
    "Event",
    "Note",
    "Problem",
    "Reply",
    "Stream",
    "parse",
    "formats_of_template",
    "neutralise",
    "restore",
]

_Tools: TypeAlias = Sequence[Mapping[str, Any] | str] | Literal["any"] | None
_Names: TypeAlias = Sequence[str] | str | None
_Bare: TypeAlias = Literal["off", "asked", "on"]
_Finish: TypeAlias = Literal["stop", "length", "abort"]
_Span: TypeAlias = tuple[int, int]

FORMATS: Final[tuple[str, ...]]
"""The names of all formats."""

def parse(
    text: str,
    tools: _Tools = None,
    *,
    formats: _Names = None,
    asked: _Names = None,
    bare: _Bare = "asked",
    in_reasoning: bool = False,
    finish: _Finish = "stop",
) -> Reply:
    """Returns what `text` says, which has to be all that the model wrote.

    finish: Why the text ended. After "length" or "abort" a call without an end of its own is an error, and no call.
    """

def formats_of_template(template: str) -> list[str]:
    """Returns the names of the formats that a model with this chat template is told to write: none if no mark in it is known."""

def neutralise(text: str) -> str:
    """Breaks the marks of all formats in text that others wrote, so that a model may quote it and calls nothing.

    For tool results, documents and memories that go into a prompt. Each mark gets one U+2060, a sign without width.
    """

def restore(text: str) -> str:
    """Mends the marks that `neutralise` broke, in what the model copied into arguments and answers. Never parse the result again."""

@final
class Stream:
    """Reads a text that comes in pieces, and tells at once what it says. However the text is cut, the reply is the same."""

    def __new__(
        cls,
        tools: _Tools = None,
        *,
        formats: _Names = None,
        asked: _Names = None,
        bare: _Bare = "asked",
        in_reasoning: bool = False,
        committed: bool = False,
    ) -> Stream:
        """committed: Text that was told is never taken back, for events that are sent on, and calls are told at the end.

        With `formats`, calls are told as they come: one may be dropped, which frees its number, and its arguments may be reset.
        """

    def feed(self, piece: str) -> list[Event]:
        """Takes the next piece of the text. Returns what can be told now. Raises `ValueError` after `finish`."""

    def feed_special(self, piece: str) -> list[Event]:
        """Takes a special token, or several. Once one is fed so, a mark counts only if it came so."""

    def finish(self, reason: _Finish = "stop") -> tuple[list[Event], Reply]:
        """The text has ended, for this reason. Returns the last events, and what the whole text says."""

@final
class Reply:
    """What a text says."""

    @property
    def calls(self) -> list[Call]:
        """The calls, in the order of the text. All of them name a tool of `tools`."""
    @property
    def content(self) -> str:
        """The text outside of calls, labels and reasoning, trimmed."""
    @property
    def reasoning(self) -> str | None:
        """The text between reasoning marks."""
    @property
    def thought(self) -> str | None:
        """The text behind `Thought:` labels."""
    @property
    def answer(self) -> str | None:
        """The text behind a label such as `Final Answer:`, trimmed."""
    @property
    def error(self) -> Problem | None:
        """The first thing that was meant as a call and cannot be one. Good calls stay beside it."""
    @property
    def notes(self) -> list[Note]:
        """What was repaired or left out."""
    @property
    def finish_reason(self) -> Literal["stop", "tool_calls", "length", "abort"]:
        """The reason that a server may give for the end."""

@final
class Call:
    """One call that the text asks for."""

    @property
    def name(self) -> str:
        """The name as it was declared."""
    @property
    def arguments(self) -> str:
        """The arguments as the text of a JSON object, as Chat Completions has them."""
    @property
    def id(self) -> str | None:
        """The id that the text gives the call, if its format has one."""
    @property
    def format(self) -> str | None:
        """The name of the format by which the call was read."""
    @property
    def mark(self) -> Literal["special", "tag", "bare"]:
        """How the call was marked: by a special token, by a tag, or by nothing but JSON, Python's syntax or a label."""
    @property
    def span(self) -> _Span:
        """The call, from its mark to the end of its arguments."""
    def decode(self) -> dict[str, Any]:
        """Returns the arguments as a `dict`. Integers keep all their digits."""

@final
class Problem:
    """Something that was meant as a call and cannot be one. No exception."""

    @property
    def kind(self) -> Literal["truncated", "malformed", "missing_input", "unknown_tool", "unknown_agent"]:
        """What is wrong."""
    @property
    def name(self) -> str | None:
        """The name that was called, if one could be read."""
    @property
    def suggestion(self) -> str | None:
        """The declared name that is nearest to an unknown one."""
    @property
    def message(self) -> str:
        """A sentence that the model can act on."""
    @property
    def paths(self) -> list[str]:
        """The places of values of a wrong type: `rows[0].id`."""
    @property
    def span(self) -> _Span:
        """Where."""

@final
class Note:
    """Something that was repaired or left out."""

    @property
    def kind(self) -> str:
        """What happened: "repaired", "quoted", "mistyped" and others."""
    @property
    def message(self) -> str:
        """A sentence that the model can act on."""
    @property
    def paths(self) -> list[str]:
        """The places of values that contradict their types: `rows[0].id`."""
    @property
    def span(self) -> _Span:
        """Where."""

@final
class Event:
    """What a stream tells while it reads.

    `kind`, and what is set with it:

    - "content", "thought", "reasoning", "answer": `text`, the next piece
    - "call_started": `call`, its place among the calls from 0, `name`, and `id` if the text has one
    - "arguments": `call`, and `text`, the next piece of the JSON text
    - "arguments_reset": `call`, whose arguments so far are void and come again
    - "call_finished", "call_dropped": `call`, which is complete, or none
    - "retracted": all that was told is void, but for reasoning
    - "failed": `error`
    - "noted": `note`
    - "finished": the text has ended
    """

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str | None: ...
    @property
    def call(self) -> int | None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def id(self) -> str | None: ...
    @property
    def error(self) -> Problem | None: ...
    @property
    def note(self) -> Note | None: ...
