"""A viewer's report is untrusted: what is read from it is limited, and its images are encoded again."""

import base64
import io
import json
import math
from typing import Any

import PIL.Image

from agent_nb.pages.page_check import (
    MAX_HEIGHT,
    MAX_IMAGE_BYTES,
    CheckRequest,
    PageCheck,
    checks_in,
    outputs_of,
    read_report,
    summary_of,
)
from tests.support.page_viewer import png_of

REQUEST = CheckRequest(files={"index.html": "<h1>é</h1>"}, path="index.html")


def png(width: int, height: int, noise: bool = False) -> str:
    image = PIL.Image.effect_noise((width, height), 90) if noise else PIL.Image.new("RGB", (width, height))
    return png_of(image)


def shot(width: int, height: int, **more: Any) -> dict[str, Any]:
    return {"width": width, "height": height, "png": png(width, height), **more}


def read(report: Any) -> PageCheck:
    return read_report(report, REQUEST, "your browser")


def test_a_report_becomes_a_check() -> None:
    check = read(
        {
            "screenshots": [shot(390, 900), shot(1280, 700)],
            "console": [{"level": "error", "text": "boom", "line": 3, "file": "index.html"}],
            "blocked": [{"address": "https://a.example/x.png", "reason": "not allowed"}],
            "overflow": {"pixels": 41, "selector": "table"},
            "findings": [{"rule": "label", "impact": "critical", "summary": "s", "targets": ["input"]}],
        }
    )

    assert [(one.width, one.height, one.cut) for one in check.screenshots] == [
        (390, 900, False),
        (1280, 700, False),
    ]
    assert (check.console[0].text, check.console[0].line) == ("boom", 3)
    assert check.size == len("<h1>é</h1>".encode())
    assert not check.notes
    assert summary_of(check) == "1 error, 1 blocked load, 1 accessibility problem, 41 px too wide for a phone"


def test_anything_else_is_left_out() -> None:
    for report in (None, [], "text", {"screenshots": "x", "console": 3, "overflow": [], "findings": None}):
        assert "There is no screenshot at 390 px and 1280 px." in read(report).notes

    check = read(
        {
            "screenshots": [{"width": 390, "height": 10, "png": "not base64!"}, shot(1280, 5), 7],
            "console": [{"level": "shout", "text": 7, "line": math.nan}, {"line": -math.inf}, None],
            "overflow": {"pixels": math.inf, "selector": None},
            "findings": [{"impact": "minor"}, {"impact": "serious", "targets": [1, "a", "b", "c", "d"]}],
        }
    )

    assert [one.width for one in check.screenshots] == [1280]
    assert [(line.level, line.text, line.line) for line in check.console] == [("info", "", None)] * 2
    assert check.overflow is not None
    assert check.overflow.pixels == 1_000_000
    assert [finding.targets for finding in check.findings] == [("a", "b", "c")]
    json.dumps(outputs_of(check), allow_nan=False)


def test_lists_and_texts_are_limited() -> None:
    check = read({"console": [{"text": "x" * 9000, "level": "error"}] * 500, "notes": ["n"] * 99})

    assert len(check.console) == 20
    assert all(len(line.text) == 300 for line in check.console)
    assert "480 more entries of `console` are left out." in check.notes
    assert len(check.notes) < 12


def test_images_are_encoded_again_and_cut() -> None:
    data = base64.b64decode(png(390, 20)) + b"<script>not an image</script>"
    tall = {"width": 390, "height": 40_000, "png": png(390, 6000)}
    noisy = {"width": 1280, "height": 1500, "png": png(1280, 1500, noise=True)}
    huge = {"width": 1280, "height": 9000, "png": png(1280, 9000)}

    check = read(
        {"screenshots": [{"width": 390, "height": 20, "png": base64.b64encode(data).decode()}, tall]}
    )
    assert b"script" not in check.screenshots[0].image.data
    assert (check.screenshots[1].height, check.screenshots[1].cut) == (40_000, True)
    assert PIL.Image.open(io.BytesIO(check.screenshots[1].image.data)).size == (390, MAX_HEIGHT)
    assert len(read({"screenshots": [noisy]}).screenshots[0].image.data) <= MAX_IMAGE_BYTES
    assert not read({"screenshots": [huge]}).screenshots


def test_outputs_hold_the_whole_check() -> None:
    check = read({"screenshots": [shot(390, 9), shot(1280, 9)], "console": [{"text": "hello"}]})
    outputs = outputs_of(check)

    assert checks_in(json.loads(json.dumps(outputs))) == (check,)
    assert checks_in([{"text/plain": "other"}, *outputs, *outputs]) == (check, check)


def test_errors_come_first() -> None:
    logged = [{"level": "info", "text": str(number)} for number in range(50)]
    check = read({"console": [*logged, {"level": "warning", "text": "w"}, {"level": "error", "text": "e"}]})

    assert [line.text for line in check.console[:3]] == ["e", "w", "0"]
