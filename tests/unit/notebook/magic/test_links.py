"""A downloaded folder with links in it: nothing is written or packed through them."""

import os
import time
import zipfile

import pytest

from agent_nb.classroom.log import FILE
from tests.support.notebooks import notebook

DEMO = "%%agent hero -m demo: --pace 0\nA form"
MINE = "my own file, with a private key"


@pytest.fixture
def outside(tmp_path_factory):
    """A folder of the user with one file, which must stay as it is."""
    folder = tmp_path_factory.mktemp("outside")
    files = {"mine": MINE, ".000001-20260101-120000-a-b.json.abcdefgh": "looks like a leftover of ours"}
    for name, text in files.items():
        (folder / name).write_text(text)
    yield folder
    assert {file.name: file.read_text() for file in folder.iterdir()} == files


RECORD, SAVE = (DEMO.replace("\n", f" {option}\n") for option in ("--record", "--save site"))
EXPORT = (DEMO, "%agent export hero")
MAP = "from agent_nb import Agent\nawait Agent(model='demo:').map(['A form'], save='maps')"
FILES = [
    (FILE, (DEMO,), f"This run is not in {FILE}, which cannot be written: {FILE} is a "),
    (".agent_nb/lab-log.lock", (DEMO,), "lab-log.lock is a "),
    (".agent_nb/runs/.lock", (DEMO,), "The run could not be saved in .agent_nb: .lock is a "),
    (".agent_nb/.gitignore", (DEMO,), ""),
    ("cassettes/hero.run.jsonl", (RECORD,), "Delete it, or record to another path"),
    ("site/index.html", (SAVE,), "'index.html' replaces content not written by a run"),
    ("hero.replay.html", EXPORT, "cannot be written: Its content was not written by a run"),
    ("saved.json", (DEMO, "hero.save('saved.json')"), "Its content was not written by a run"),
    ("x/index.html", (DEMO, "files.save('x')"), "has content not written by a run"),
]
FOLDERS = [
    (".agent_nb", (DEMO,), "The run could not be saved in .agent_nb: .agent_nb is a link"),
    (".agent_nb/runs", (DEMO,), "The run could not be saved in .agent_nb: runs is a link"),
    ("cassettes", (RECORD,), "cannot be recorded: cassettes is a link"),
    ("site", (SAVE,), "'site' could not be written: site is a link"),
    ("site", (SAVE.replace("site", "site/deep"),), "could not be written: site is a link"),
    ("site", (DEMO, "%agent export hero site/hero.html"), "cannot be written: site is a link"),
    ("site", (DEMO, "hero.save('site/hero.json')"), "site is a link"),
    ("site", (DEMO, "hero.to_replay('site/hero.html')"), "site is a link"),
    ("site", (DEMO, "hero.files.save('site')"), "site is a link"),
    ("site", (DEMO, "hero.files.save('site/deep', overwrite=True)"), "site is a link"),
    ("maps", (MAP,), "maps is a link"),
    ("maps", (MAP.replace("maps", "maps/deep"),), "maps is a link"),
]


@pytest.mark.parametrize(
    ("make", "target", "attack"),
    [
        *[(make, "mine", attack) for make in (os.symlink, os.link) for attack in FILES],
        *[(os.symlink, "", attack) for attack in FOLDERS],
    ],
)
def test_no_link_is_written_through(shell, tmp_path, outside, make, target, attack):  # noqa: PLR0917
    link, cells, said = attack
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    make(outside / target, tmp_path / link)
    assert said in run(shell, tmp_path, cells)


def run(shell, tmp_path, cells) -> str:
    (tmp_path / "lab.toml").write_text("[lab]")
    ended = [shell.run(cell) for cell in cells]
    shown = [bundle["text/plain"] for cell in ended for bundle in cell.displays]
    return "".join([*shown, *(f"{cell.stdout}{cell.error or ''}" for cell in ended)])


@pytest.mark.parametrize("make", [os.symlink, os.link])
@pytest.mark.parametrize("packed", ["log", "run", "notebook"])
def test_a_submission_holds_no_target_of_a_link(shell, tmp_path, tmp_path_factory, make, packed):
    (tmp_path / "lab.toml").write_text("[lab]")
    assert shell.run(DEMO).ok
    assert shell.run("del hero").ok
    (tmp_path / "week.ipynb").write_bytes(notebook(DEMO))
    run = next((tmp_path / ".agent_nb" / "runs").glob("0*.jsonl"))
    place = {"log": tmp_path / FILE, "run": run, "notebook": tmp_path / "week.ipynb"}[packed]
    secret = tmp_path_factory.mktemp("outside") / "mine"
    text = place.read_text().replace("A form", MINE)
    secret.write_text(text if packed != "log" else MINE)
    os.utime(secret, (time.time() + 1,) * 2)
    place.unlink()
    make(secret, place)
    cell = shell.run("%agent submit week.ipynb")
    written = tmp_path / "week-submission.zip"
    if packed == "run":
        with zipfile.ZipFile(written) as archive:
            assert [name for name in archive.namelist() if name.startswith(("runs/", "pages/"))] == []
    else:
        assert f"{place.name} cannot be read: {place.name} is a" in str(cell.error)
        assert not written.exists()


def test_the_log_is_not_shown_through_a_link(shell, tmp_path, outside):
    (tmp_path / FILE).symlink_to(outside / "mine")
    assert f"{FILE} is a link" in str(shell.run("%agent lab log").error)
