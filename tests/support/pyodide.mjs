// Runs `main` of a Python script in Pyodide under Node and prints what it returns:
// `node pyodide.mjs PYODIDE_FOLDER CHECKOUT SCRIPT [ARGUMENT...]`.
// Packages come from the folder, as its lock file says, and agent_nb from the checkout.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, checkout, script, ...args] = process.argv.slice(2);
// Every page and worker has an address; Node has none, and httpx2's transport may read it.
globalThis.location ??= new URL("http://127.0.0.1/");
async function run() {
	const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));
	const lock = JSON.parse(readFileSync(join(folder, "pyodide-lock.json"), "utf8"));
	const python = await loadPyodide({ indexURL: folder });
	await python.loadPackage(lock.packages["agent-nb"].depends, { messageCallback: () => {} });
	python.FS.mkdirTree("/checkout/agent_nb");
	python.mountNodeFS("/checkout/agent_nb", join(checkout, "agent_nb"));
	python.runPython("import sys; sys.path.insert(0, '/checkout'); sys.dont_write_bytecode = True");
	python.runPython(readFileSync(script, "utf8"));
	console.log(await python.globals.get("main")(...args));
}

// Node would print the line of an uncaught error, which is all of Pyodide.
await run().catch((error) => {
	console.error(error.message);
	process.exit(1);
});
process.exit(0);
