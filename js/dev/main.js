// Plays recorded runs against the real bundle, with a small stand-in for the kernel.
//   ?run=hero&speed=4&dark&width=480&until=120   (speed 0: all at once; until: stop after that event)
import widget from "/widget.js";
import { META, READY } from "./defaults.js";
import { Kernel } from "./kernel.js";

const query = new URLSearchParams(location.search);
const runs = ["hero", "approval", "retry", "failed", "site", "three", "eight"];

let stop = () => {};

async function recorded(name) {
	const record = await (await fetch(`runs/${name}.json`)).json();
	return { ...record, meta: { ...META, ...record.meta }, ready: { ...READY, ...record.ready } };
}

async function start() {
	stop();
	const name = document.querySelector("#run").value;
	const record = query.has("record") ? window.record : await recorded(name);
	const kernel = new Kernel(record);
	window.kernel = kernel;
	const cell = document.querySelector("#cell");
	cell.style.width = query.has("width") ? `${query.get("width")}px` : "";
	cell.innerHTML = `<div data-anb-run="${kernel.key}"><p>${record.meta.name} was still running when this was saved.</p></div>`;
	stop = widget.initialize({ model: kernel });
	kernel.play(Number(document.querySelector("#speed").value), Number(query.get("until")));
}
window.start = start;

const select = document.querySelector("#run");
for (const name of runs) select.append(new Option(name, name, false, name === query.get("run")));
document.querySelector("#speed").value = query.get("speed") ?? "1";
document.querySelector("#dark").checked = query.has("dark");
document.documentElement.classList.toggle("dark", query.has("dark"));
document
	.querySelector("#dark")
	.addEventListener("change", (event) =>
		document.documentElement.classList.toggle("dark", event.target.checked),
	);
document.querySelector("#again").addEventListener("click", start);
if (!query.has("record")) start();
