// Every card, row and state of the widget on one page, from events, each with texts that are hard to fit.
//   states.html?dark&width=480&only=retry
// `window.ready` resolves once all are drawn. `findings()`, in the console too, lists text that is covered or cut.
import widget from "/widget.js";
import { META, READY } from "./defaults.js";
import { Kernel } from "./kernel.js";
import { findings } from "./look.js";
import { STATES } from "./scripts.js";

const query = new URLSearchParams(location.search);
const place = document.querySelector("#states");
document.documentElement.classList.toggle("dark", query.has("dark"));
if (query.has("width")) place.style.width = `${query.get("width")}px`;

async function draw([name, { events, meta = {}, ready = {}, press = [], before }]) {
	const record = {
		meta: { ...META, ...meta, key: name },
		events: events.map((event, index) => ({ run_id: name, variant: 0, at: 1, seq: index + 1, ...event })),
		ready: events.some(({ type }) => type === "run_finished") && { ...READY, ...ready },
	};
	const output = document.createElement("div");
	output.dataset.anbRun = name;
	const title = document.createElement("h2");
	title.textContent = name;
	// Outputs in one place belong to one kernel.
	const cell = document.createElement("section");
	cell.append(title, output);
	place.append(cell);
	const kernel = new Kernel(record, name);
	widget.initialize({ model: kernel });
	kernel.play(0);
	if (before) drawBefore(kernel, before, output);
	for (const [selector, text = ""] of press) (await find(output, selector, text)).click();
}

/** The run that this one continues, above it. */
function drawBefore(kernel, { name, events }, output) {
	const above = document.createElement("div");
	above.dataset.anbRun = name;
	output.before(above);
	const meta = { ...META, key: name, name };
	kernel.receive({ kind: "batch", run_id: name, first: 1, last: events.length, events, meta });
}

/** The element of a widget with this text, as soon as it is there. */
async function find(output, selector, text) {
	output.scrollIntoView(); // a page runs only where it can be seen
	for (let frame = 0; frame < 3000; frame++) {
		await new Promise(requestAnimationFrame);
		const all = output.shadowRoot?.querySelectorAll(selector) ?? [];
		const found = [...all].find((element) => element.textContent.includes(text) && element.checkVisibility());
		if (found) return found;
	}
	throw new Error(`${output.dataset.anbRun}: there is no ${selector} with ${text}`);
}

const only = query.get("only");
window.ready = (async () => {
	for (const state of Object.entries(STATES)) if (!only || state[0] === only) await draw(state);
	for (let frame = 0; frame < 10; frame++) await new Promise(requestAnimationFrame);
	await new Promise((resolve) => setTimeout(resolve, 300));
})();

window.findings = findings;
