"""What JupyterLite 0.8 gets wrong for the lessons, put right in its built scripts."""

from pathlib import Path
from typing import NamedTuple


class Patch(NamedTuple):
    """Replaces a piece of the scripts that match `files`."""

    files: str
    old: str
    new: str


# Names to the page each file of Python's own that did not arrive, or came as the HTML page of a network filter.
REPORT_MISSING_FILES = r"""
const ownFile = /\.(wasm|whl)$|\/(python_stdlib\.zip|pyodide-lock\.json)$/;
const originalFetch = globalThis.fetch;
globalThis.fetch = async (file, ...options) => {
  let response;
  try {
    response = await originalFetch(file, ...options);
    return response;
  } finally {
    const { href, pathname } = new URL(file.url ?? file, location);
    const arrived = response?.ok && !response.headers.get("content-type")?.startsWith("text/html");
    if (ownFile.test(pathname) && !arrived) postMessage({ missingFile: href });
  }
};
"""

PATCHES = (
    # Cassettes are text. JupyterLite takes each extension with "json" in it for one JSON value, fails to read it and
    # then says that there is no such file.
    Patch("build/*.js", r"/\.(ipynb|[^/]*json[^/]*)$/", r"/\.(ipynb|json)$/"),
    # Python waits for the page to read or write a file. When that fails, as in a full storage, the page never answers
    # and Python hangs. The next three carry the failure to Python as an `OSError`.
    Patch(
        "build/*.js",
        "._driveContentsProcessor.processDriveRequest(e);",
        "._driveContentsProcessor.processDriveRequest(e)"
        '.catch(e=>({failed:"QuotaExceededError"===e?.name?507:500}));',
    ),
    Patch(
        "service-worker.js",
        "new Response(JSON.stringify(i.response))",
        "new Response(JSON.stringify(i.response),{status:i.response?.failed??200})",
    ),
    Patch(
        "extensions/@jupyterlite/pyodide-kernel-extension/static/comlink.worker.*.js",
        "if(t.status>=400)throw new this.FS.ErrnoError(this.ERRNO_CODES.EINVAL)",
        "if(t.status>=400)throw new this.FS.ErrnoError(this.ERRNO_CODES[507===t.status?'ENOSPC':'EINVAL'])",
    ),
    # Where the host isolates its pages (COOP and COEP headers), the kernel talks to the page in a way that now and then
    # loses an answer, so that a cell never ends. It gets its files through the service worker there, too.
    Patch("extensions/@jupyterlite/pyodide-kernel-extension/static/*.js", "crossOriginIsolated", "!1"),
    # The kernel would install jedi and complete with it: 2 s more at the start, and 3 s for the first completion, in
    # which no cell runs. IPython completes from the values of the notebook at once.
    Patch(
        "extensions/@jupyterlite/pyodide-kernel-extension/static/comlink.worker.*.js",
        '"pyodide-kernel","jedi","ipython"',
        '"pyodide-kernel","ipython"',
    ),
    Patch(
        "extensions/@jupyterlite/pyodide-kernel-extension/static/comlink.worker.*.js",
        '.push("import pyodide_kernel")',
        '.push("import pyodide_kernel","pyodide_kernel.ipython_shell.Completer.use_jedi = False")',
    ),
    # Tells live.js that Python has started.
    Patch(
        "extensions/@jupyterlite/pyodide-kernel-extension/static/comlink.worker.*.js",
        "await this.initGlobals(e),",
        "await this.initGlobals(e),postMessage({pythonStarted:!0}),",
    ),
    # Without its .wasm file Pyodide waits for ever, and without a wheel it starts all the same.
    Patch("static/pyodide/pyodide.mjs", "export{", f"{REPORT_MISSING_FILES}export{{"),
    # The script that says on the site's pages what keeps a lesson from running says it in JupyterLite, too.
    Patch("lab/index.html", "</head>", '<script src="../../_static/live.js"></script></head>'),
)


def apply(folder: Path) -> None:
    """Applies every patch to JupyterLite in `folder`; one that fits nowhere ends the build."""
    for patch in PATCHES:
        found = [path for path in folder.glob(patch.files) if patch.old in path.read_text(encoding="utf-8")]
        if not found:
            raise SystemExit(
                f"JupyterLite has changed: nothing in {patch.files} contains {patch.old!r}. "
                "See in docs/scripts/site/patches.py whether the patch is still needed."
            )
        for path in found:
            path.write_text(path.read_text(encoding="utf-8").replace(patch.old, patch.new), encoding="utf-8")
