"""Whatever a notebook holds becomes an image every vendor takes, or a sentence that says why not."""

import base64
import io
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import matplotlib as mpl
import numpy as np
import PIL.Image
import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Image
from agent_nb.images.convert import (
    MAX_EDGE,
    MOST_THUMBNAILS,
    THUMBNAIL_BYTES,
    THUMBNAIL_EDGE,
    fit_image,
    thumbnails,
    to_image,
)
from tests.support.drawings import encoded

mpl.use("agg")


def opened(image: Image) -> PIL.Image.Image:
    pixels = PIL.Image.open(io.BytesIO(image.data))
    assert pixels.get_format_mimetype() == image.media_type
    return pixels


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
def test_objects_become_images(source, size):
    assert opened(to_image(source)).size == size


def test_arrays_keep_their_values():
    unit = np.array([[0.0, 1.0], [0.5, 0.25]])
    assert np.asarray(opened(to_image(unit))).tolist() == [[0, 255], [127, 63]]
    assert np.asarray(opened(to_image(np.array([[0, 300], [-5, 7]])))).tolist() == [[0, 255], [0, 7]]


@pytest.mark.parametrize("mode", ["CMYK", "P", "LA", "1", "I;16", "I", "F", "YCbCr", "HSV", "PA", "RGBa"])
def test_odd_modes_become_plain(mode: str):
    pixels = opened(to_image(PIL.Image.new(mode, (8, 6))))
    assert pixels.mode in ("L", "RGB", "RGBA")
    assert pixels.size == (8, 6)


def test_transparency_survives_a_palette():
    see_through = PIL.Image.new("RGBA", (8, 6), (255, 0, 0, 0)).convert("P")
    see_through.info["transparency"] = 0
    data = encoded(see_through, transparency=0)
    assert opened(to_image(data)).mode == "RGBA"


def test_an_animation_gives_its_first_frame():
    frames = [PIL.Image.new("RGB", (8, 6), colour) for colour in ("red", "blue")]
    pixels = opened(to_image(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])))
    assert getattr(pixels, "n_frames", 1) == 1
    assert pixels.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


def test_the_users_animation_stays_at_its_frame_which_is_sent():
    frames = [PIL.Image.new("RGB", (8, 6), colour) for colour in ("red", "blue")]
    animation = PIL.Image.open(io.BytesIO(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])))
    animation.seek(1)
    assert opened(to_image(animation)).convert("RGB").getpixel((0, 0)) == (0, 0, 255)
    assert animation.tell() == 1


def test_a_turned_photo_stands_upright():
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "A camera's name"
    image = to_image(encoded(RED, "JPEG", exif=exif))
    assert opened(image).size == (6, 8)
    assert b"A camera" not in image.data


def test_a_large_image_is_scaled():
    assert max(opened(to_image(PIL.Image.new("L", (6000, 30)))).size) == MAX_EDGE


def test_an_image_made_here_is_not_read_again():
    for image in (to_image(PNG), to_image(PIL.Image.new("RGB", (9, 9))), fit_image(to_image(PNG), 4, 10_000)):
        assert to_image(image) is image
        named = to_image(image, "shot.png")
        assert (named.data, named.name) == (image.data, "shot.png")
        assert to_image(named) is named


def test_an_image_made_elsewhere_is_checked():
    with pytest.raises(ConfigError, match="not an image"):
        to_image(Image(b"no image at all"))
    cut = Image(encoded(PIL.Image.effect_noise((64, 64), 90))[:-400], "image/png")
    with pytest.raises(ConfigError, match="truncated"):
        to_image(cut)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
def test_fitting_keeps_to_the_limits(mode: str):
    channels = {"RGB": 3, "RGBA": 4, "L": 1}[mode]
    noise = np.random.default_rng(1).integers(0, 255, (300, 400, channels), "uint8")
    image = to_image(PIL.Image.fromarray(noise.squeeze()))
    fitted = fit_image(image, 200, 9_000)
    pixels = opened(fitted)
    assert len(fitted.data) <= 9_000
    assert max(pixels.size) <= 200
    assert pixels.size[0] / pixels.size[1] == pytest.approx(4 / 3, rel=0.05)


def test_a_fitting_image_is_the_same_object():
    image = to_image(PNG)
    assert fit_image(image, 100, 10_000) is image
    assert fit_image(image, 4, 10_000) is fit_image(image, 4, 10_000)


def test_an_equal_image_is_scaled_once():
    image = to_image(encoded(PIL.Image.effect_noise((80, 80), 90)), "noise")
    again = Image(bytes(bytearray(image.data)), image.media_type, "noise")
    assert fit_image(again, 8, 10_000) is fit_image(image, 8, 10_000)
    assert thumbnails([again])[0] is thumbnails([image])[0]


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


def bomb(width: int = 50_000, height: int = 50_000) -> bytes:
    """A PNG of 200 bytes that claims 2.5 thousand million pixels, or as many as given."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"just text", "not an image that can be read"),
        (b"", "not an image that can be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "give a PNG, JPEG"),
        ("data:video/mp4;base64,AAAA", "not an image that can be read"),
        (b"%PDF-1.7", "not an image that can be read"),
        (PNG[:48], "damaged"),
        (bomb(), "too many pixels"),
        (bomb(10_000, 10_000), "too many pixels .10000 x 10000."),
        ([1, 2], "A list is not an image"),
        (None, "not an image"),
        (np.zeros(5), "shape"),
        (np.zeros((2, 2, 7)), "shape"),
        (np.zeros((0, 5)), "shape"),
        (np.array([["a"]]), "numbers"),
        ("nowhere/to/be/found.png", "cannot be read: No such file"),
        (".", r"'\.' cannot be read: Is a directory."),
        ("/dev/zero", "cannot be read: It is not a regular file"),
        ("data:image/png;base64,%%%", "base64"),
        ("data:image/png", "comma"),
        ("http://example.org/a.png", "https only"),
        ("file:///etc/passwd", "https only"),
        ("https://127.0.0.1/a.png", "private"),
        ("https://[::1]/a.png", "private"),
        ("https://0/a.png", "private"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_image_says_why(source, message):
    with pytest.raises(ConfigError, match=message) as caught:
        to_image(source)
    assert "\n" not in str(caught.value)


def test_an_image_in_memory_with_too_many_pixels_says_how_many():
    with pytest.raises(ConfigError, match=r"too many pixels \(10000 x 10000\)"):
        to_image(PIL.Image.new("1", (10_000, 10_000)))


def test_libraries_are_recognised_not_imported():
    code = (
        "import sys; from agent_nb.images.convert import to_image\n"
        "try: to_image(object())\n"
        "except Exception as exc: print(type(exc).__name__)\n"
        "print([name for name in ('numpy', 'matplotlib', 'PIL', 'httpx2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["ConfigError", "[]"]


def test_a_cmyk_photo_keeps_its_colours():
    photo = encoded(PIL.Image.new("RGB", (8, 6), "red").convert("CMYK"), "JPEG")
    assert PIL.Image.open(io.BytesIO(photo)).mode == "CMYK"
    red, green, blue = opened(to_image(photo)).convert("RGB").getpixel((3, 3))
    assert red > 200
    assert max(green, blue) < 60


def noise(width: int, height: int, mode: str = "RGB") -> Image:
    pixels = np.random.default_rng(2).integers(0, 255, (height, width, 4), "uint8")
    return to_image(PIL.Image.fromarray(pixels).convert(mode))


@pytest.mark.parametrize(("width", "height"), [(800, 500), (40, 1000), (12, 8), (1, 1)])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
def test_thumbnails_are_small_and_alike(width: int, height: int, mode: str):
    (small,) = thumbnails([noise(width, height, mode)])
    drawn = PIL.Image.open(io.BytesIO(small.data))
    assert (small.width, small.height) == (width, height)
    assert drawn.format == "JPEG"
    assert max(drawn.size) == min(THUMBNAIL_EDGE, max(width, height))
    assert 0 < len(small.data) <= THUMBNAIL_BYTES
    assert drawn.size[0] == pytest.approx(drawn.size[1] * width / height, abs=1)


def test_what_is_clear_becomes_paper():
    (small,) = thumbnails([to_image(PIL.Image.new("RGBA", (20, 20), (0, 0, 0, 0)))])
    assert PIL.Image.open(io.BytesIO(small.data)).getpixel((5, 5)) == (255, 255, 255)


def test_of_very_many_some_are_drawn():
    shown = thumbnails([noise(4, 4)] * (MOST_THUMBNAILS + 3))
    assert [bool(small.data) for small in shown] == [True] * MOST_THUMBNAILS + [False] * 3
