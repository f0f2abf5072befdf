// Adds bytecode to wheels, compiled by the Python that is going to run it: `node bytecode.mjs PYODIDE_FOLDER NAME...`.
// The wheels are in Pyodide's folder.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...names] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: folder });
python.FS.mkdirTree("/wheels");
python.mountNodeFS("/wheels", folder);
python.runPython(readFileSync(new URL("bytecode.py", import.meta.url), "utf8"));
for (const name of names) python.globals.get("compile_wheel")(`/wheels/${name}`);
process.exit(0);
