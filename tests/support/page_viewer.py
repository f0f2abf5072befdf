"""A viewer that reports what it is told to, without a browser."""

import asyncio
import base64
from typing import Any

import PIL.Image

from agent_nb.pages.page_check import CheckRequest, PageCheck, read_report
from tests.support.drawings import encoded


def png_of(image: PIL.Image.Image) -> str:
    return base64.b64encode(encoded(image)).decode()


def plain_png(width: int, height: int) -> str:
    return png_of(PIL.Image.new("RGB", (width, height), "navy"))


class ReportingViewer:
    """Gives each look the next report, with screenshots in one colour; remembers what it was asked."""

    def __init__(self, *reports: dict[str, Any]) -> None:
        self._reports = list(reports)
        self.requests: list[CheckRequest] = []

    async def check(self, request: CheckRequest) -> PageCheck:
        await asyncio.sleep(0)
        self.requests.append(request)
        shots = [
            {"width": width, "height": 600, "png": plain_png(width, 600), "cut": False}
            for width in request.widths
        ]
        report = self._reports.pop(0) if self._reports else {}
        return read_report({"screenshots": shots, **report}, request, "your browser")
