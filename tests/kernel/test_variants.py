"""Variants in a real kernel: options, variables, picking through the page, cassettes."""

import re

from tests.support.wire import Hold, Say, reply

MODEL = "openai:gpt-6.1-sol"
THREE = "%%agent hero -m demo: -n 3 --pace 0\nA landing page for a bakery"


def test_a_cell_leaves_all_its_variants(page):
    cell = page.kernel.run(THREE)
    assert cell.status == "ok", cell.errors
    assert page.kernel.value("len({v.html for v in hero.variants})") == "3"
    assert page.kernel.value("hero.html == hero.variants[0].html, files is hero.files") == "(True, True)"
    (shown,) = cell.displays
    assert re.findall(r'aria-label="Variant (\d)"', shown["text/html"]) == ["1", "2", "3"]
    assert "Variant 1 of 3, the first to succeed" in shown["text/html"]
    assert page.kernel.run(THREE).displays == cell.displays


def test_stop_ends_one_variant_or_all(page, server):
    server.plan(*[reply(Say("I begin."), Hold())] * 3)
    cell = page.start(f"%%agent held -m {MODEL} -n 3\nA form")
    page.pump(lambda: len(page.of("text_delta")) >= 3)
    page.command("hello")
    assert page.command("pick", variant=0)["error"].startswith("Variant 1 is still running.")
    assert page.command("stop", variant=1)["ok"]
    page.pump(lambda: page.of("run_finished"))
    assert [(event["variant"], event["reason"]) for event in page.of("run_finished")] == [(1, "stopped")]
    assert page.command("stop")["ok"]
    page.finish(cell)
    assert page.kernel.value("[v.reason for v in held.variants]") == "['stopped', 'stopped', 'stopped']"
    server.forget()


def test_the_page_gets_the_files_of_each_variant(page):
    page.finish(page.start(THREE))
    pages = [page.command("file", path="index.html", variant=number)["text"] for number in range(3)]
    assert repr(pages) == page.kernel.value("[v.html for v in hero.variants]")


def test_a_dry_run_names_all_models(page):
    cell = page.kernel.run(f"%%agent x -m demo: -m {MODEL} -n 2 --dry-run\nA form")
    assert f"Dry run, nothing sent. Models: demo (2), {MODEL} (2)" in cell.stdout
    assert "for the first turn of all 4." in cell.stdout


def test_an_interrupt_ends_all_variants(page, server):
    server.plan(*[reply(Say("I begin."), Hold())] * 2)
    cell = page.start(f"%%agent cut -m {MODEL} -n 2\nA form")
    page.pump(lambda: len(page.of("text_delta")) >= 2)
    page.kernel.interrupt()
    page.finish(cell)
    assert page.kernel.value("[v.reason for v in cut.variants]") == "['interrupted', 'interrupted']"
    server.forget()
