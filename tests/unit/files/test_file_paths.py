import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.core.errors import FileError
from agent_nb.files import media_type, safe_path


@pytest.mark.parametrize(
    ("given_path", "path"),
    [
        ("index.html", "index.html"),
        ("./css/site.css", "css/site.css"),
        ("css//./site.css", "css/site.css"),
        ("css\\site.css", "css/site.css"),
        (" notes.txt ", "notes.txt"),
        (".well-known/a b.txt", ".well-known/a b.txt"),
        ("bilder/größe.png", "bilder/größe.png"),
        ("a..b/...", "a..b/..."),
        (".\\ a", "a"),
        ("a / b.css", "a/b.css"),
    ],
)
def test_paths_have_one_form(given_path: str, path: str) -> None:
    assert safe_path(given_path) == path


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "needs a path"),
        ("   ", "needs a path"),
        (7, "needs a path"),
        ("/etc/passwd", "is absolute"),
        ("~/x", "is absolute"),
        ("./~", "is absolute"),
        ("\\\\server\\share", "is absolute"),
        ("C:\\x", "is absolute"),
        ("c:x", "is absolute"),
        ("https://example.org/x", "has a colon"),
        ("../x", "without '..'"),
        ("a/../../x", "without '..'"),
        ("a\\..\\x", "without '..'"),
        ("a\0b", "control characters"),
        ("a\nb", "control characters"),
        ("a\ud800", "control characters"),
        ("css/", "is a folder"),
        (".", "names no file"),
        ("x" * 201, "too long"),
        ("長" * 67, "too long"),
    ],
)
def test_unsafe_paths_are_refused_clearly(path: str, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        safe_path(path)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="./\\~:a C\0", max_size=12) | st.text(max_size=20))
def test_accepted_paths_stay_inside(path: str) -> None:
    try:
        safe = safe_path(path)
    except FileError:
        return
    assert safe_path(safe) == safe
    assert not safe.startswith("/")
    assert not {"", ".", ".."} & set(safe.split("/"))


def test_media_types_do_not_depend_on_system() -> None:
    assert media_type("a.js") == "text/javascript"
    assert media_type("A.HTML") == "text/html"
    assert media_type("LICENSE") == "text/plain"
    assert media_type("blob", b"") == "application/octet-stream"
