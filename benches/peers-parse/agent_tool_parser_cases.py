"""What agent-tool-parser reads: `FILE` has a text as JSON in each line, and a line with its calls is printed for each."""

import json
import sys

from agent_tool_parser import try_parse_tool_calls


def calls(text: str) -> list:
    try:
        read = try_parse_tool_calls(text)
    # A panic of its core is no `Exception`.
    except BaseException:
        read = []
    return [[call.name, call.args] for call in read or []]


def main() -> None:
    with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
        for line in file:
            print(json.dumps(calls(json.loads(line))))


main()
