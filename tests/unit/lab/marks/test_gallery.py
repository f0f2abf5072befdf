"""The overview of a class: nothing of a student's becomes markup or script in it."""

from agent_nb.lab.marks.gallery import overview
from agent_nb.lab.marks.row import Row

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
