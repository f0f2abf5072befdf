// Says what keeps a lesson from running in this browser: on the pages beside the links to it, and in JupyterLite.
const NEARLY_ALL = 0.95;
const STORAGE_FULL =
	"This browser's storage for the site is full: the lesson runs, but changes and new runs cannot be saved. Remove files in the live lessons, or clear the site's data. What was saved before is intact.";
const hasWebAssembly = typeof WebAssembly === "object";
const lesson = new URLSearchParams(location.search).get("path");
const isLab = document.getElementById("jupyter-config-data") !== null;
const DOWNLOADS_AT_ONCE = 3; // JupyterLab needs connections, too
const MEGABYTE = 1_000_000;
let fileIsMissing = false;
let progress = null;

async function obstacle() {
	if (!hasWebAssembly) {
		return "This browser has no WebAssembly, which Python needs: the lesson cannot run here. Use another browser, or read the lesson with its saved results.";
	}
	if (!navigator.serviceWorker) {
		return "Lessons read their files only from an https address or 127.0.0.1, and not in a private window of some browsers: cells that use files fail here.";
	}
	const { usage = 0, quota = 0 } = (await navigator.storage?.estimate?.()) ?? {};
	return quota && usage > quota * NEARLY_ALL ? STORAGE_FULL : "";
}

function sayBesideLinks(sentence) {
	for (const link of document.querySelectorAll("a.live")) {
		const note = document.createElement("p");
		note.className = "live-note";
		note.role = "status";
		note.textContent = sentence;
		link.after(note);
		if (!hasWebAssembly) link.remove();
	}
}

/** At the lower edge of JupyterLite, until it is closed. */
function sayInLab(sentence) {
	if ([...document.querySelectorAll(".live-note span")].some((note) => note.textContent === sentence)) return;
	const note = document.createElement("div");
	note.className = "live-note";
	note.role = "status";
	note.style.cssText =
		"position:fixed;z-index:20000;bottom:36px;left:50%;transform:translateX(-50%);width:min(640px,90vw);display:flex;gap:12px;align-items:start;padding:12px 16px;border-radius:6px;box-shadow:0 2px 12px #0006;background:#24292f;color:#fff;font:14px/1.5 system-ui,sans-serif;box-sizing:border-box";
	const text = document.createElement("span");
	text.textContent = sentence;
	const close = document.createElement("button");
	close.textContent = "Close";
	close.style.cssText = "flex:none;padding:2px 10px;border:1px solid #fff8;border-radius:4px;background:none;color:inherit;font:inherit";
	close.onclick = () => note.remove();
	note.append(text, close);
	document.body.append(note);
}

/** Storage that fills up while the lesson is open. JupyterLite itself says it only when a notebook is saved by hand. */
function watchStorage() {
	const { transaction } = IDBDatabase.prototype;
	IDBDatabase.prototype.transaction = function (...given) {
		const made = transaction.apply(this, given);
		made.addEventListener("abort", () => made.error?.name === "QuotaExceededError" && sayInLab(STORAGE_FULL));
		return made;
	};
}

/** Each tab holds a lock on its lesson for as long as it is open. */
function watchTabs() {
	if (!lesson || !navigator.locks) return;
	navigator.locks.request(`agent_nb ${lesson}`, { ifAvailable: true }, (lock) => {
		if (lock) return new Promise(() => {});
		sayInLab(
			"This lesson is open in another tab, too. Each tab runs its own Python. Both save to the same files, and JupyterLab asks before one overwrites the other's notebook.",
		);
	});
}

/** A note at the lower edge, until Python has started. */
function showProgress() {
	progress = document.createElement("div");
	progress.className = "live-progress";
	progress.textContent = "Loading Python…";
	progress.style.cssText =
		"position:fixed;z-index:20000;bottom:36px;right:16px;padding:6px 12px;border-radius:6px;box-shadow:0 1px 6px #0004;background:#24292f;color:#fff;font:13px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums";
	document.body.append(progress);
}

function sayArrived(bytes, total) {
	const [arrived, all] = [bytes, total].map((size) => Math.round(size / MEGABYTE));
	progress.textContent = bytes < total ? `Loading Python: ${arrived} of ${all} MB` : "Starting Python…";
}

/** Downloads what Python starts with while JupyterLab is starting: the kernel then finds it in the browser's cache. */
async function downloadPython() {
	showProgress();
	const home = new URL("../static/pyodide/", location);
	const files = Object.entries(await (await fetch(new URL("start.json", home))).json());
	const total = files.reduce((sum, [, size]) => sum + size, 0);
	let arrived = 0;
	const download = async () => {
		for (let file = files.shift(); file; file = files.shift()) {
			const { body } = await fetch(new URL(file[0], home), { priority: "low" });
			const reader = body.getReader();
			for (let part = await reader.read(); !part.done; part = await reader.read()) {
				arrived += part.value.length;
				sayArrived(arrived, total);
			}
		}
	};
	await Promise.all(Array.from({ length: DOWNLOADS_AT_ONCE }, download));
}

/** Says which file of Python's own was blocked: only the worker that asked for it knows. */
function watchFiles() {
	window.Worker = class extends Worker {
		constructor(...given) {
			super(...given);
			this.addEventListener("message", ({ data }) => {
				if (data?.missingFile && !fileIsMissing) sayMissing(new URL(data.missingFile));
				if (data?.pythonStarted || data?.missingFile) progress?.remove();
			});
		}
	};
}

function sayMissing({ host, pathname }) {
	fileIsMissing = true;
	const name = pathname.split("/").at(-1);
	sayInLab(
		`Python could not load ${name} from ${host}: the network or an extension of the browser blocks it. A network filter has to allow the .wasm, .whl, .zip and .json files of this host. Until then, cells do not run here or lack a package.`,
	);
}

/** A kernel that cannot be loaded rejects with a text, which JupyterLite shows nowhere. */
function watchStart() {
	window.addEventListener("unhandledrejection", ({ reason }) => {
		if (typeof reason !== "string" || !hasWebAssembly || fileIsMissing) return;
		progress?.remove();
		sayInLab(
			`Python could not start here: ${reason}. Reload the page; if that does not help, the network or an extension of the browser blocks the site's files.`,
		);
	});
}

if (isLab) {
	watchStorage();
	watchFiles();
	watchStart();
}
document.addEventListener("DOMContentLoaded", async () => {
	if (isLab) watchTabs();
	if (isLab && lesson && hasWebAssembly) downloadPython().catch(() => progress.remove()); // the kernel says what is missing
	const sentence = await obstacle().catch(() => "");
	if (sentence) (isLab ? sayInLab : sayBesideLinks)(sentence);
});
