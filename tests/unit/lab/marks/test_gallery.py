"""The overview of a class and the file of a student: nothing of a student's becomes markup or script in them."""

import json
import re

from agent_nb.lab.marks.gallery import overview, viewer
from agent_nb.lab.marks.row import Row
from agent_nb.lab.marks.versions import Version

EVIL = "\"'><script>alert(1)</script><!-- \u202e"


def test_names_and_notes_are_text():
    rows = [
        Row(
            student=EVIL,
            notes=(EVIL,),
            same_page_as=("محمد",),
            hints=1,
            held_back=3,
            hand_edits=2,
            chain_breaks=1,
        ),
        Row(student="محمد"),
        Row(student="broken", error=EVIL),
    ]
    page = overview(rows, [f"{EVIL}/0001.html", "", ""])
    assert "<script" not in page
    assert "\u202e" not in page.partition("<main>")[0]
    assert 'Same page as <a href="#s2"><bdi>محمد</bdi></a>' in page
    assert "checks 0 of 0, 0 runs, $0.00, 1 hint, 3 held back, 2 edits by hand, 1 break in the log." in page
    assert page.count("<iframe") == page.count('<iframe loading="lazy"') == 1
    assert "No page." in page
    assert "default-src 'none'; style-src 'unsafe-inline'; frame-src" in page


def test_a_viewer_holds_the_documents_as_data():
    document = f"{EVIL}<p>Page</p>"
    page = viewer(EVIL, [Version("first", "<p>1</p>"), Version("second", document)], 3)
    scripts = re.findall("<script", page)
    assert len(scripts) == 2
    assert 'max="2" value="2"' in page
    assert "3 versions left out" in page
    (data,) = re.findall(r'<script type="application/json" id="versions">([^<]*)</script>', page)
    assert json.loads(data)[1] == {"label": "second", "document": document}
    assert "frame-src 'none'" in page
    assert "allow-same-origin" not in page
    assert " disabled" in viewer("a", [Version("only", "")], 0)
