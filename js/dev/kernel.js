// The kernel's half of the protocol, for recorded runs.

const query = new URLSearchParams(location.search);

export class Kernel {
	constructor(record, kernel = "dev") {
		this.record = record;
		this.kernel = kernel;
		this.id = Math.random().toString(36).slice(2);
		this.key = record.meta.key;
		this.sent = 0;
		this.commands = [];
		this.silent = query.has("silent");
	}

	get(name) {
		return name === "kernel" ? this.kernel : "";
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

	answer(message) {
		const { id, command } = message;
		const reply = (fields) => this.receive({ kind: "answer", id, ok: true, ...fields });
		const own = this[`on_${command}`];
		if (own) own.call(this, reply, message);
		else reply(this.record[command] ?? {});
	}

	on_hello(reply, { key }) {
		if (key !== this.key) {
			reply({ ok: false, error: "This kernel has no such run." });
			return;
		}
		reply({ run_id: this.id, meta: this.record.meta, window: 1, last: this.sent });
		this.batch(1, this.sent);
	}

	on_resync(reply) {
		reply({});
		this.batch(1, this.sent);
	}

	on_file(reply, { path }) {
		reply(this.record.binary?.[path] ?? { ok: false, error: `${path} is not among the files.` });
	}

	async on_check_code(reply) {
		const response = await fetch("/check.js");
		reply({ code: await response.text() });
	}

	on_preview_report(reply, { entries }) {
		reply({ numbers: entries.map((_, index) => index + 1) });
	}

	on_element(reply) {
		reply(this.record.element ?? { ok: false, error: "A recording has no kernel to ask." });
	}

	on_request(reply) {
		reply(this.record.request ?? { ok: false, error: "A recording has no kernel to ask." });
	}

	on_stop(reply, { variant }) {
		reply(this.record.stop ?? {});
		this.stop(variant);
	}

	on_pick(reply, { variant }) {
		reply(this.record.pick ?? {});
		this.pick(variant);
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
		const check = { check_id: "1", variant: 0, path, widths: [390, 1280], ...other };
		this.receive({ kind: "check", run_id: this.id, window: 1, ...check });
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
