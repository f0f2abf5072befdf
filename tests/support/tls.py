"""A certificate for servers on this machine."""

import shutil
import subprocess
from pathlib import Path

import pytest


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A new key and certificate for `localhost`; skips the test where there is no openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("a certificate needs the openssl program")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return key, certificate
