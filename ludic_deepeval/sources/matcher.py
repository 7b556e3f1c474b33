"""Apply a regular expression. A program of its own, so that a pattern that never ends can be ended: see `in_code`.

It reads `{"pattern", "text", "most"}` as JSON and writes `{"matches": [{group: [start, end]}]}` or `{"error"}`. It
runs without this package, from its own file.
"""

import json
import re
import sys


def answer(request: dict[str, object]) -> dict[str, object]:
    """Return the spans of the named groups of every match, or why there are none."""
    try:
        pattern = re.compile(str(request["pattern"]))
    except (re.error, OverflowError, RecursionError) as error:
        return {"error": f"not a regular expression: {error}"}
    if "text" not in pattern.groupindex:
        return {"error": "no group called text"}
    matches: list[dict[str, tuple[int, int]]] = []
    for match in pattern.finditer(str(request["text"])):
        spans = {name: match.span(name) for name in pattern.groupindex}
        matches.append({name: span for name, span in spans.items() if span[0] >= 0})
        if len(matches) == request["most"]:
            break
    return {"matches": matches}


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
