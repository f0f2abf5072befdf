"""What a certificate holds, its forms, and that a changed file is found without running it."""

import re

import pytest

from agent_nb import Limits
from agent_nb._base.secrets import MASK, register
from agent_nb.core.errors import ConfigError
from agent_nb.features.certificate.certificate import certificate_of
from agent_nb.features.certificate.forms import ChangedError, html_form, read_html
from agent_nb.providers.scripted import call, text
from agent_nb.run import load
from tests.support.certified import ANSWER, CODES, TABLE, computed, facts_in, mended
from tests.support.scripts import run_script
from tests.support.shells import start_shell

KEY = "sk-ant-api03-" + "a" * 40


@pytest.fixture
def shell(tmp_path):
    with start_shell(tmp_path) as shell:
        assert shell.run(TABLE).ok
        yield shell


@pytest.fixture
def html(shell):
    computed(shell, *CODES)
    assert shell.run("%agent certify ran").ok
    return (shell.session.home / "ran.certificate.html").read_text()


def test_it_says_where_each_number_came_from(shell):
    made = computed(shell, *CODES, prompt="Compute for 1999").certificate
    rows = [(each.text, each.source, each.cell, each.policy) for each in made.numbers]
    assert rows == [
        ("2.50", "computed", 2, "exact"),
        ("3.3125", "computed", 2, "exact"),
        ("87.2", "computed", 3, "rounded as shown"),
        ("56,532", "computed", 3, "exact"),
        ("77.7", "not computed", 0, ""),
        ("1999", "given", 0, ""),
    ]
    assert (made.numbers[2].value, made.numbers[2].line) == (87.1875, "total 87.1875 of 56532")
    assert [each.text for each in made.numbers if each.source == "not computed"] == [
        *shell.names["ran"].unsupported
    ]


def test_it_has_the_code_and_what_it_read(shell):
    made = computed(shell, *CODES).certificate
    assert [(each.name, each.kind, each.type, each.size) for each in made.inputs] == [
        ("scaled", "code", "function", ""),
        ("sales", "data", "pandas.DataFrame", "12 x 2"),
        ("scale", "data", "float", ""),
    ]
    assert [cell.source for cell in made.cells][-2:] == [*CODES]
    assert [cell.is_users for cell in made.cells] == [True, False, False]
    assert "def scaled(x):" in made.cells[0].source
    assert made.packages["python"].count(".") == 2


def test_digests_are_those_of_before_the_code_ran(shell):
    before = computed(shell, "print(sales.sold.sum())").certificate
    changed = computed(shell, "sales.loc[0, 'sold'] = 99.0", "print(sales.sold.sum())").certificate
    assert before.inputs[-1].digest == changed.inputs[-1].digest
    assert shell.run("%agent certify ran").ok
    facts = facts_in((shell.session.home / "ran.certificate.html").read_text())
    assert [each["note"] for each in facts["inputs"] if each["name"] == "sales"] == ["it has changed since"]
    assert "`sales` has changed since the run" in str(
        shell.run("%agent certify ran b.html --with-data").error
    )


def test_what_is_slow_or_has_no_order_is_not_recorded(shell):
    shell.run(
        "import time\nclass Slow(dict):\n    def items(self): time.sleep(60)\nlock = object()\n"
        "class Sized:\n    columns = shape = property(lambda self: time.sleep(60))\nslow = Sized()"
    )
    made = computed(shell, "print(lock, slow)").certificate
    notes = {each.name: (each.digest, each.note) for each in made.inputs}
    assert notes["lock"] == ("", "its contents have no known order")
    assert notes["slow"][0] == ""


def test_files_that_code_names_are_inputs(shell):
    (shell.session.home / "prices.csv").write_text("price\n2\n")
    made = computed(shell, "print(open('prices.csv').read())").certificate
    assert [(each.kind, each.name, each.size) for each in made.inputs] == [("file", "prices.csv", "8 bytes")]


def test_with_schema_it_has_no_values_but_those_of_the_answer(shell):
    shell.run("secret_town = pd.DataFrame({'town': ['Zwolle'], 'n': [4242]})")
    first, second = (
        computed(shell, "print(secret_town)", answer="It is 4242.", data="schema").certificate
        for _ in range(2)
    )
    assert "Zwolle" not in html_form(first)
    assert [cell.output for cell in first.cells if cell.output] == []
    assert [(each.source, each.value, each.line) for each in first.numbers] == [("computed", None, "")]
    assert first.inputs[0].digest != second.inputs[0].digest
    assert "contains none" in str(shell.run("%agent certify ran --with-data").error)


def test_secrets_are_masked_in_all_of_it(shell, html):
    register("Tr0ub4dor&3=x+y/z")
    run = computed(shell, f"print({KEY!r}, 'Tr0ub4dor&3=x+y/z')", answer=f"The key is {KEY}.")
    made = certificate_of(run, shell.names)
    for form in (made.to_html(), made.to_markdown()):
        assert KEY not in form
        assert "Tr0ub4dor" not in form
        assert MASK in form
    assert made.is_masked
    shell.run("keys = pd.DataFrame({'api_key': ['x'], 'n': [1]})\npassword = 'correct-horse-42'")
    computed(shell, "print(len(keys))")
    said = shell.run("%agent certify ran c.html --with-data")
    assert "without api_key, which is named like a secret" in said.stdout
    computed(shell, "print(len(password))")
    assert "`password` contains a secret" in str(shell.run("%agent certify ran d.html --with-data").error)


def test_it_survives_save_and_load(shell, tmp_path):
    run = computed(shell, *CODES)
    run.save(tmp_path / "ran.run.jsonl")
    assert load(tmp_path / "ran.run.jsonl").certificate == run.certificate


def test_the_file_gives_the_certificate_again(shell, html):
    made = read_html(html)
    assert (made.name, made.answer, html_form(made)) == ("ran", ANSWER, html)
    assert shell.run("%agent certify ran").ok  # its own file may be written again


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "certify: the following arguments are required: run"),
        ("nobody", "`nobody` is not a finished run"),
        ("ran x.pdf", "files that end in .html or .md, not to 'x.pdf'"),
        ("ran theirs.html", "was not written by a run"),
        ("ran 'x", "No closing quotation"),
    ],
)
def test_what_cannot_be_certified_is_refused_in_one_sentence(shell, line, says):
    computed(shell, CODES[0])
    (shell.session.home / "theirs.html").write_text("mine")
    assert says in str(shell.run(f"%agent certify {line}").error)


def test_the_page_needs_no_script_and_loads_nothing(html):
    assert not re.search(r"<(?:script|img|link|iframe|object)|\son\w+=|(?:src|href)=|url\(", html)
    assert "default-src 'none'" in html
    assert '<mark class="computed">2.50</mark>' in html
    assert '<mark class="not-computed">77.7</mark>' in html


def test_markdown_is_for_a_paper(shell):
    computed(shell, *CODES)
    assert shell.run("%agent certify ran paper.md").ok
    paper = (shell.session.home / "paper.md").read_text()
    assert "| 87.2 | computed | 3 | rounded as shown | total 87.1875 of 56532 |" in paper
    assert paper.count("[Write: ") == 2


async def test_it_says_what_is_stated_and_not_proven():
    run = await run_script([text("Hi.")], limits=Limits(steps=7))
    stated = run.certificate.stated
    assert (stated["model"], stated["reason"]) == (run.model, "end_turn")
    assert stated["settings"]["steps"] == 7
    html = run.certificate.to_html().partition("Stated, not proven")[2]
    assert "No run can prove the words of the question and the answer" in html
    assert f'<td title="as recorded">{run.model}</td>' in html


HOSTILE = (
    '"><script>alert(1)</script><img src=x onerror=alert(1)> \u202e `code` </pre> [a](javascript:x) \x1b[2J'
)


async def test_any_number_and_any_character_can_be_certified():
    turns = [
        [call("run_code", {"code": "f()"})],
        [text("It is 1e300, 12345678901234567890 or \0\ud800 1e999.")],
    ]
    made = (await run_script(*turns, prompt="\0\ud800")).certificate
    assert read_html(made.to_html()) == made


async def test_hostile_texts_stay_text():
    turns = [[call("run_code", {"code": HOSTILE})], [text(f"{HOSTILE} is 12.5 {HOSTILE}")]]
    made = (await run_script(*turns, prompt=HOSTILE)).certificate
    html = made.to_html()
    assert "<script" not in html
    assert "<img" not in html
    assert "\u202e" not in html.partition("<details>")[0]
    assert html.count("</pre>") == html.count("<pre")
    assert read_html(html) == made
    markdown = made.to_markdown()
    assert "\u202e" not in markdown
    assert "\x1b" not in markdown


def forged(html: str) -> list[str]:
    """A hundred changes by hand, of whatever is in the file."""
    words = re.findall(r"(?<=[ >\"])[\w.,]{2,}(?=[ <\",.])", html)
    picked = words[:: max(1, len(words) // 95)]
    changes = [html.replace(word, f"{word}1", 1) for word in picked]
    return [
        *changes,
        html + " ",
        html.replace("87.2", "88.2"),
        html.replace("\n", "\r\n"),
        html[:-20],
        html.upper(),
    ]


def test_a_hundred_changes_by_hand_are_found_without_running_it(html):
    changes = [change for change in forged(html) if change != html][:100]
    assert len(changes) == 100
    for change in changes:
        with pytest.raises(ConfigError):
            read_html(change)


@pytest.mark.parametrize(
    ("text_of_file", "says"),
    [
        ("", "It is not a certificate."),
        ('<pre id="certificate">[1]</pre>', "It is not a certificate."),
        ('<pre id="certificate">' + "[" * 100_000 + "</pre>", "It is not a certificate."),
        (
            '<pre id="certificate">{"form": 99}</pre>',
            "It has form '99', and this version of agent_nb reads form 1.",
        ),
        (
            '<pre id="certificate">{"form": 1, "name": 3}</pre>',
            "The file was changed: `name` is 3, not text.",
        ),
        ('<pre id="certificate">{"form": 1}</pre>', "The file was changed"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_sentence(text_of_file, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        read_html(text_of_file)


def test_a_mended_file_is_read_and_has_to_be_run(html):
    made = read_html(mended(html, lambda wire: wire["numbers"][0].update(text="9.99")))
    assert made.numbers[0].text == "9.99"
    with pytest.raises(ChangedError):
        read_html(html.replace("2.50", "9.99"))
