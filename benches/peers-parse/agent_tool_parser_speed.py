"""The speed of agent-tool-parser on a text: `FILE CALLS ROUNDS` prints a list with MB/s in one piece."""

import statistics
import sys
import time

from agent_tool_parser import try_parse_tool_calls


def main() -> None:
    path, calls, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    size = len(text.encode())
    speeds = []
    for _ in range(rounds + 1):
        begun = time.process_time()
        read = try_parse_tool_calls(text)
        took = time.process_time() - begun
        found = len(read) if isinstance(read, (list, tuple)) else 0
        if found != calls:
            sys.exit(f"agent-tool-parser: {found} calls of {calls} were read")
        speeds.append(size / took / 1e6)
    print([statistics.median(speeds[1:])])


main()
