"""Whatever a notebook holds becomes a picture every vendor takes, or a sentence that says why not."""

import base64
import http.server
import io
import shutil
import ssl
import struct
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import matplotlib as mpl
import numpy as np
import PIL.Image
import pytest

from agent_nb.errors import ConfigError
from agent_nb.fetch import fetch_https, is_public
from agent_nb.messages import Image
from agent_nb.pictures import MAX_EDGE, fit_image, to_image

mpl.use("agg")


def encoded(picture: PIL.Image.Image, kind: str = "PNG", **settings) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **settings)
    return buffer.getvalue()


def opened(image: Image) -> PIL.Image.Image:
    picture = PIL.Image.open(io.BytesIO(image.data))
    assert picture.get_format_mimetype() == image.media_type
    return picture


RED = PIL.Image.new("RGB", (8, 6), "red")
PNG = encoded(RED)


def figure():
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(2, 1), dpi=50)
    drawn.subplots().plot([1, 2, 3])
    return drawn


class Drawn:
    def _repr_png_(self):
        return PNG


def test_bytes_are_kept_as_they_are(tmp_path: Path):
    path = tmp_path / "red.png"
    path.write_bytes(PNG)
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    for source in (PNG, bytearray(PNG), path, str(path), url, Image(PNG), Drawn()):
        assert to_image(source).data == PNG
    assert to_image(path).name == "red.png"
    assert to_image(PNG, "mine").name == "mine"


@pytest.mark.parametrize(
    ("source", "size"),
    [
        (RED, (8, 6)),
        (figure(), (100, 50)),
        (figure().axes[0], (100, 50)),
        (np.zeros((6, 8)), (8, 6)),
        (np.zeros((6, 8, 1), "uint8"), (8, 6)),
        (np.zeros((6, 8, 3)), (8, 6)),
        (np.zeros((6, 8, 4), "uint8"), (8, 6)),
        (np.ones((6, 8), bool), (8, 6)),
        (np.full((6, 8), np.nan), (8, 6)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_objects_become_pictures(source, size):
    assert opened(to_image(source)).size == size


def test_arrays_keep_their_values():
    unit = np.array([[0.0, 1.0], [0.5, 0.25]])
    assert np.asarray(opened(to_image(unit))).tolist() == [[0, 255], [127, 63]]
    assert np.asarray(opened(to_image(np.array([[0, 300], [-5, 7]])))).tolist() == [[0, 255], [0, 7]]


@pytest.mark.parametrize("mode", ["CMYK", "P", "LA", "1", "I;16", "I", "F", "YCbCr", "HSV", "PA", "RGBa"])
def test_odd_modes_become_plain(mode: str):
    picture = opened(to_image(PIL.Image.new(mode, (8, 6))))
    assert picture.mode in ("L", "RGB", "RGBA")
    assert picture.size == (8, 6)


def test_transparency_survives_a_palette():
    see_through = PIL.Image.new("RGBA", (8, 6), (255, 0, 0, 0)).convert("P")
    see_through.info["transparency"] = 0
    data = encoded(see_through, transparency=0)
    assert opened(to_image(data)).mode == "RGBA"


def test_an_animation_gives_its_first_frame():
    frames = [PIL.Image.new("RGB", (8, 6), colour) for colour in ("red", "blue")]
    picture = opened(to_image(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])))
    assert getattr(picture, "n_frames", 1) == 1
    assert picture.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


def test_a_turned_photo_stands_upright():
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "A camera's name"
    image = to_image(encoded(RED, "JPEG", exif=exif))
    assert opened(image).size == (6, 8)
    assert b"A camera" not in image.data


def test_a_large_picture_is_scaled():
    assert max(opened(to_image(PIL.Image.new("L", (6000, 30)))).size) == MAX_EDGE


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
def test_fitting_keeps_to_the_limits(mode: str):
    channels = {"RGB": 3, "RGBA": 4, "L": 1}[mode]
    noise = np.random.default_rng(1).integers(0, 255, (300, 400, channels), "uint8")
    image = to_image(PIL.Image.fromarray(noise.squeeze()))
    fitted = fit_image(image, 200, 9_000)
    picture = opened(fitted)
    assert len(fitted.data) <= 9_000
    assert max(picture.size) <= 200
    assert picture.size[0] / picture.size[1] == pytest.approx(4 / 3, rel=0.05)


def test_a_fitting_picture_is_the_same_object():
    image = to_image(PNG)
    assert fit_image(image, 100, 10_000) is image
    assert fit_image(image, 4, 10_000) is fit_image(image, 4, 10_000)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP"])
def test_a_file_cut_anywhere_never_crashes(kind: str):
    frames = [PIL.Image.effect_noise((24, 16), 90).convert("RGB") for _ in range(2)]
    several = {"save_all": True, "append_images": frames[1:]} if kind in ("GIF", "WEBP", "TIFF") else {}
    data = encoded(frames[0], kind, **several)
    for end in range(0, len(data), max(1, len(data) // 40)):
        try:
            assert opened(to_image(data[:end])).size == (24, 16)
        except ConfigError:
            continue


def bomb() -> bytes:
    """A PNG of 200 bytes that claims 2.5 thousand million pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"", "empty"),
        (b"just text", "not a picture we can read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'></svg>", "SVG"),
        (b"<?xml version='1.0'?><svg></svg>", "SVG"),
        (b"\0\0\0\x18ftypmp42", "video"),
        (b"\0\0\0\x18ftypheic", "HEIC"),
        (b"\x1a\x45\xdf\xa3 webm", "video"),
        (b"%PDF-1.7", "PDF"),
        (PNG[:48], "damaged"),
        (bomb(), "too many pixels"),
        ([1, 2], "A list is not a picture"),
        (None, "not a picture"),
        (PIL.Image.Image, "not a picture"),
        (np.zeros(5), "shape"),
        (np.zeros((2, 2, 7)), "shape"),
        (np.zeros((0, 5)), "shape"),
        (np.array([["a"]]), "numbers"),
        ("nowhere/to/be/found.png", "No picture at"),
        (".", "cannot be read"),
        ("data:image/png;base64,%%%", "base64"),
        ("data:image/png", "comma"),
        ("http://example.org/a.png", "https only"),
        ("file:///etc/passwd", "https only"),
        ("https://127.0.0.1/a.png", "private"),
        ("https://localhost/a.png", "private"),
        ("https://[::1]/a.png", "private"),
        ("https://[::ffff:10.0.0.1]/a.png", "private"),
        ("https://169.254.169.254/latest/meta-data", "private"),
        ("https://10.1.2.3/a.png", "private"),
        ("https://0/a.png", "private"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_picture_says_why(source, words):
    with pytest.raises(ConfigError, match=words) as caught:
        to_image(source)
    assert "\n" not in str(caught.value)


def test_libraries_are_recognised_not_imported():
    code = (
        "import sys; from agent_nb.pictures import to_image\n"
        "try: to_image(object())\n"
        "except Exception as exc: print(type(exc).__name__)\n"
        "print([name for name in ('numpy', 'matplotlib', 'PIL', 'httpx2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["ConfigError", "[]"]


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111"])
def test_the_open_internet_is_public(address: str):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.1.1", "100.64.0.1", "0.0.0.0"),
        *(
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "fe80::1%eth0",
            "fc00::1",
            "::ffff:127.0.0.1",
            "2002:7f00:1::",
        ),
    ],
)
def test_private_addresses_are_not_public(address: str):
    assert not is_public(address)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("a certificate needs the openssl program")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return key, cert


@pytest.fixture
def https_server(certificate):
    """A real TLS server on localhost with a few paths."""
    key, cert = certificate

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            match self.path.partition("?")[0]:
                case "/red.png":
                    self.answer(200, PNG)
                case "/big":
                    self.answer(200, b"x" * 5000)
                case "/away":
                    self.answer(302, b"", location="/red.png")
                case "/inside":
                    self.answer(302, b"", location="https://10.0.0.1/secret")
                case "/plain":
                    self.answer(302, b"", location="http://localhost/red.png")
                case "/round":
                    self.answer(302, b"", location="/round")
                case _:
                    self.answer(404, b"")

        def answer(self, status: int, body: bytes, **headers: str):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    trust = ssl.create_default_context(cafile=str(cert))

    def fetch(path: str, **settings) -> bytes:
        only_here = settings.pop("allowed", lambda address: address in ("127.0.0.1", "::1"))
        url = f"https://localhost:{server.server_port}{path}"
        return fetch_https(url, allowed=only_here, context=trust, **settings)

    yield fetch
    server.shutdown()
    server.server_close()


def test_a_file_is_read_over_https(https_server):
    assert https_server("/red.png?size=1") == PNG
    assert https_server("/away") == PNG


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/inside", "private"),
        ("/plain", "Only https"),
        ("/round", "too often"),
        ("/none", "404"),
    ],
)
def test_a_bad_address_is_refused(https_server, path: str, words: str):
    with pytest.raises(ConfigError, match=words):
        https_server(path)


def test_a_large_file_is_refused(https_server):
    with pytest.raises(ConfigError, match="larger"):
        https_server("/big", max_bytes=1000)


def test_the_name_is_checked_before_connecting(https_server):
    with pytest.raises(ConfigError, match="private"):
        https_server("/red.png", allowed=is_public)


def test_a_slow_server_is_given_up(https_server):
    with pytest.raises(ConfigError, match="could not be read"):
        https_server("/red.png", seconds=0.0)
