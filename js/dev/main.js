// Plays recorded runs against the real bundle, with a small stand-in for the kernel.
//   ?run=hero&speed=4&dark&width=480&until=120   (speed 0: all at once; until: stop after that event)
import widget from "/widget.js";

const query = new URLSearchParams(location.search);
const runs = ["hero", "approval", "retry", "failed", "site", "three", "eight"];

/** The kernel's half of the protocol, for one recorded run. */
class Kernel {
	constructor(record) {
		this.record = record;
		this.id = Math.random().toString(36).slice(2);
		this.key = record.meta.key;
		this.sent = 0;
		this.commands = [];
		this.silent = query.has("silent");
	}

	get(name) {
		return name === "kernel" ? "dev" : "";
	}

	on(_name, callback) {
		this.receive = callback;
	}

	off() {}

	send(message) {
		this.commands.push(message);
		if (this.silent && message.command !== "hello") return;
		queueMicrotask(() => this.answer(message));
	}

	answer({ id, command, path, variant, name }) {
		const reply = (fields) => this.receive({ kind: "answer", id, ok: true, ...fields });
		if (command === "hello") {
			reply({
				run_id: this.id,
				meta: this.record.meta,
				owner: !query.has("read-only"),
				last: this.sent,
			});
			this.batch(1, this.sent);
		} else if (command === "resync") {
			reply({});
			this.batch(1, this.sent);
		} else if (command === "file") {
			const file = this.record.binary?.[path];
			if (file) reply(file);
			else this.receive({ kind: "answer", id, ok: false, error: `${path} is not among the files.` });
		} else if (command === "module") {
			fetch(`/${name}.js`)
				.then((response) => response.text())
				.then((code) => reply({ code }));
		} else if (["element", "request"].includes(command)) {
			reply(this.record[command] ?? { ok: false, error: "A recording has no kernel to ask." });
		} else {
			reply(this.record[command] ?? {});
			if (command === "stop") this.stop(variant);
			if (command === "pick") this.pick(variant);
		}
	}

	batch(first, last) {
		if (last < first) return;
		const events = this.record.events.slice(first - 1, last);
		this.receive({
			kind: "batch",
			run_id: this.id,
			first,
			last,
			events,
			meta: this.record.meta,
		});
	}

	/** Has the page look at a page of the first variant, or at elements of another page: `{ html, selectors }`. */
	check(path, other = {}) {
		const { client } = this.commands[0];
		const check = { check_id: "1", variant: 0, path, widths: [390, 1280], ...other };
		this.receive({ kind: "check", run_id: this.id, client, ...check });
	}

	/** Ends one variant, or all that are still running. */
	stop(variant) {
		const past = this.record.events.slice(0, this.sent);
		const ended = new Set(past.filter((event) => event.type === "run_finished").map(numberOf));
		const open = new Set(past.map(numberOf).filter((number) => !ended.has(number)));
		const stopped = [...open].filter((number) => variant === undefined || number === variant);
		const left = this.record.events.slice(this.sent).filter((event) => !stopped.includes(numberOf(event)));
		const at = past.at(-1)?.at ?? 0;
		const ends = stopped.map((number) => ({
			type: "run_finished",
			at,
			variant: number,
			reason: "stopped",
			usage: { input: 1200, cached_read: 0, cached_write: 0, output: 400, reasoning: 0 },
			cost: null,
			seconds: at,
			error: null,
		}));
		this.record = { ...this.record, events: [...past, ...ends, ...left] };
		const first = this.sent + 1;
		this.sent += ends.length;
		this.batch(first, this.sent);
		if (left.length) return;
		clearTimeout(this.timer);
		this.ready();
	}

	pick(variant) {
		const { name } = this.record.meta;
		this.record.ready = {
			...this.record.ready,
			line: `\`${name}\` is variant ${variant + 1}`,
			variant,
			picked: true,
		};
		this.ready();
	}

	ready() {
		if (this.record.ready) this.receive({ kind: "ready", run_id: this.id, ...this.record.ready });
	}

	/** Sends events in batches, at the pace of their times. */
	play(speed, until) {
		const started = performance.now();
		const sendDue = () => {
			const now = ((performance.now() - started) / 1000) * speed;
			const all = Math.min(until || Number.POSITIVE_INFINITY, this.record.events.length);
			let last = this.sent;
			while (last < all && (speed === 0 || this.record.events[last].at <= now)) last++;
			if (last > this.sent) {
				const first = this.sent + 1;
				this.sent = last;
				this.batch(first, last);
			}
			if (this.sent < all) this.timer = setTimeout(sendDue, 33);
			else if (this.sent === this.record.events.length) this.ready();
		};
		sendDue();
	}
}

const numberOf = (event) => event.variant ?? 0;
let stop = () => {};

async function start() {
	stop();
	const name = document.querySelector("#run").value;
	const record = query.has("record") ? window.record : await (await fetch(`runs/${name}.json`)).json();
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
