"""Whether every regular expression of the package takes linear time on texts that are hard for it.

    python -m benchmarks.bench_patterns

Each is timed on generated texts of two sizes. Processor time that grows by the square of the size, or faster, fails.
"""

import sys
import time
from typing import Any

from benchmarks.patterns import Pattern, hard_texts, patterns
from benchmarks.quality import write_figures

SIZES = 1_000, 8_000
MOST = 24.0
"""The growth that is accepted: 8 is linear, 64 is quadratic."""
NOTICED = 0.0003
"""Seconds. What takes less at the smaller size is not quadratic."""
START = 20
"""Characters that an exponential pattern cannot take, either."""


def seconds(pattern: Pattern, method: str, text: str | bytes) -> float:
    compiled: Any = pattern.compiled
    began = time.process_time()
    if method in ("search", "match", "fullmatch"):
        getattr(compiled, method)(text)
    else:
        for _ in compiled.finditer(text):
            pass
    return time.process_time() - began


def growth(pattern: Pattern, method: str) -> tuple[float, str]:
    """The worst growth over all texts, and the start of the text."""
    worst, where = 0.0, ""
    is_bytes = isinstance(pattern.compiled.pattern, bytes)
    texts = zip(*(hard_texts(pattern.compiled, size) for size in SIZES), strict=True)
    for pair in texts:
        small, large = (text.encode("latin-1", "replace") if is_bytes else text for text in pair)
        if seconds(pattern, method, small[:START] + small[-1:]) > 0.05:
            return float("inf"), pair[0][:40]
        if seconds(pattern, method, small) < NOTICED:
            continue
        grown = min(_ratio(pattern, method, small, large) for _ in range(2))
        if grown > worst:
            worst, where = (grown, pair[0][:40])
        if grown > MOST:
            break
    return worst, where


def _ratio(pattern: Pattern, method: str, small: str | bytes, large: str | bytes) -> float:
    before = min(seconds(pattern, method, small) for _ in range(3))
    return min(seconds(pattern, method, large) for _ in range(2)) / before


def measured() -> tuple[int, float, list[str]]:
    """The number of patterns, the worst growth, and those that grow too much."""
    found, unknown = patterns()
    worst, failed = 0.0, [f"{place}: no example of its values" for place in unknown]
    for pattern in found:
        for method in sorted(pattern.methods):
            grown, text = growth(pattern, method)
            worst = max(worst, grown)
            if grown > MOST:
                failed.append(f"{pattern.place} {method}: {grown:.1f} on {text!r}")
    return len(found), worst, failed


def main() -> int:
    count, worst, failed = measured()
    print(f"{count} patterns: at most {worst:.1f} times the processor time on 8 times the text")
    print("\n".join(failed))
    write_figures("patterns", {"patterns": count, "worst growth": round(worst, 1), "failed": len(failed)})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
