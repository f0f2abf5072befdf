"""Puts bytecode into wheels, so that the browser need not compile them at every start. Runs in Pyodide."""

import importlib.util
import marshal
import sysconfig
import warnings
import zipfile

OURS = "agent_nb/"
"""Its sources stay: tracebacks in a lesson show them, and `Run.cells` writes parts of them into notebooks."""


def compile_wheel(path: str) -> None:
    """Replaces the sources in a wheel by bytecode; ours get it beside them."""
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    for name in [name for name in files if name.endswith(".py")]:
        if name.startswith(OURS):
            files[importlib.util.cache_from_source(name)] = _bytecode(name, files[name])
        else:
            files[f"{name}c"] = _bytecode(name, files.pop(name))
    record = next(name for name in files if name.endswith(".dist-info/RECORD"))
    files[record] = "".join(f"{name},,\n" for name in files).encode()
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            wheel.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def _bytecode(name: str, source: bytes) -> bytes:
    """A .pyc file that is never compared with its source (PEP 552)."""
    with warnings.catch_warnings(action="ignore"):
        code = compile(source, f"{sysconfig.get_path('purelib')}/{name}", "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)
