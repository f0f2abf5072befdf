// Writes dev/runs/*.json: plausible runs for the dev page that cover every state worth looking at.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BAKERY, BAKERY_EDITS, LOAF, SITE } from "./pages.mjs";

const HERE = join(dirname(fileURLToPath(import.meta.url)), "runs");

class Recorder {
	constructor(meta = {}) {
		this.meta = {
			key: "hero-dev",
			name: "hero",
			model: "anthropic:claude-opus-5-5",
			demo: false,
			magic: "agent",
			digest: null,
			...meta,
		};
		this.at = 0;
		this.events = [];
		this.files = new Map();
		this.usage = { input: 0, cached_read: 0, cached_write: 0, output: 0, reasoning: 0 };
		this.turns = 0;
		this.calls = 0;
	}

	emit(type, fields = {}, after = 0) {
		this.at = Math.round((this.at + after) * 1000) / 1000;
		this.events.push({
			type,
			run_id: "r",
			seq: this.events.length + 1,
			at: this.at,
			variant: 0,
			...fields,
		});
		return this;
	}

	cost() {
		return Math.round((this.usage.input * 3 + this.usage.output * 15) / 10) / 1e5;
	}

	use(input, output) {
		this.usage = { ...this.usage, input: this.usage.input + input, output: this.usage.output + output };
		return this.emit("usage_updated", {
			usage: this.usage,
			cost: this.meta.demo ? null : this.cost(),
			estimated: false,
		});
	}

	start() {
		return this.emit("run_started", {
			prompt: "A landing page for a bakery.",
			model: this.meta.model,
			base: null,
			settings: { steps: 20, usd: this.meta.demo ? null : 0.5 },
		});
	}

	turn() {
		return this.emit("turn_started", { step: ++this.turns }, 0.3).use(1200, 20);
	}

	stream(type, text, fields = {}, size = 12, pace = 0.03) {
		for (let at = 0; at < text.length; at += size)
			this.emit(type, { ...fields, text: text.slice(at, at + size) }, pace);
		return this;
	}

	think(text) {
		return this.stream("thinking_delta", text);
	}

	say(text) {
		return this.stream("text_delta", text);
	}

	endTurn(stop = "tool_use") {
		return this.use(200, 400).emit("turn_finished", { stop, usage: this.usage, model: this.meta.model });
	}

	call(name, title) {
		const call_id = `call-${++this.calls}`;
		this.emit("tool_started", { call_id, name, title: title.split(" ")[0] }, 0.2);
		return call_id;
	}

	create(path, text, media_type) {
		const call_id = this.call("create_file", `create ${path}`);
		let offset = 0;
		const points = [...text];
		for (let at = 0; at < points.length; at += 24) {
			const piece = points.slice(at, at + 24);
			this.emit("file_delta", { call_id, path, offset, text: piece.join("") }, 0.02);
			offset += piece.length;
		}
		this.emit("tool_ready", { call_id, title: `create ${path}`, args: { path, content: "…" } });
		this.endTurn().emit("tool_running", { call_id, title: `create ${path}` });
		this.files.set(path, { text, version: 1 });
		this.emit("file_changed", {
			path,
			version: 1,
			action: "created",
			size: Buffer.byteLength(text),
			media_type,
			call_id,
			first_line: 1,
			added: text.split("\n").length,
			removed: 0,
			patch: null,
		});
		return this.emit("tool_finished", {
			call_id,
			ok: true,
			summary: "",
			outputs: [],
			seconds: 0.01,
			code: null,
			hint: "",
		});
	}

	edit(path, from, to) {
		const call_id = this.call("edit_file", `edit ${path}`);
		this.stream("tool_args_delta", JSON.stringify({ path, old: from, new: to }), { call_id }, 20);
		this.emit("tool_ready", { call_id, title: `edit ${path}`, args: { path, old: from, new: to } });
		this.endTurn().emit("tool_running", { call_id, title: `edit ${path}` });
		const file = this.files.get(path);
		const start = file.text.slice(0, file.text.indexOf(from)).split("\n").length - 1;
		const count = from.split("\n").length;
		const before = file.text.split("\n");
		const text = file.text.replace(from, to);
		const added = text.split("\n").length - before.length + count;
		const changed = text.split("\n").slice(start, start + added);
		this.files.set(path, { text, version: file.version + 1 });
		const context = (lines, sign) => lines.map((line) => sign + line).join("\n");
		const diff = [
			`--- a/${path}`,
			`+++ b/${path}`,
			`@@ -${start} +${start} @@`,
			context(before.slice(start - 1, start), " "),
			context(before.slice(start, start + count), "-"),
			context(changed, "+"),
			context(before.slice(start + count, start + count + 1), " "),
		].join("\n");
		this.emit("file_changed", {
			path,
			version: file.version + 1,
			action: "edited",
			size: Buffer.byteLength(text),
			media_type: "text/html",
			call_id,
			first_line: start + 1,
			added,
			removed: count,
			patch: [[start, count, changed.join("\n")]],
		});
		return this.emit("tool_finished", {
			call_id,
			ok: true,
			summary: `${path}: 1 replacement`,
			outputs: [{ "text/x-diff": diff }],
			seconds: 0.02,
			code: null,
			hint: "",
		});
	}

	finish(reason = "end_turn", error = null) {
		return this.emit(
			"run_finished",
			{ reason, usage: this.usage, cost: this.meta.demo ? null : this.cost(), seconds: this.at, error },
			0.1,
		);
	}

	save(name, extra = {}) {
		mkdirSync(HERE, { recursive: true });
		const ready = { line: "`hero` and `files` are ready", files_name: "files" };
		writeFileSync(
			join(HERE, `${name}.json`),
			`${JSON.stringify({ meta: this.meta, ready, events: this.events, ...extra })}\n`,
		);
	}
}

const THOUGHT =
	"A small bakery wants warmth before polish. I have no photograph, so the loaf itself should be drawn: a round crust, three cuts, flour on the board.\n\nOne file, no external fonts. Headline in a serif, opening hours under the picture.";

function bakery(meta = {}) {
	const run = new Recorder(meta).start().turn().think(THOUGHT);
	run.say("I will draw the loaf in SVG, so the page stays in **one file** and needs no photograph.");
	return run.create("index.html", BAKERY, "text/html");
}

{
	const run = bakery().turn().think("The headline is timid, and the button fades into the cream.");
	run.say("The headline is timid and the button fades into the background. Two small edits.");
	for (const [index, [from, to]] of BAKERY_EDITS.entries()) {
		if (index) run.turn();
		run.edit("index.html", from, to);
	}
	run
		.turn()
		.say(
			"The page is done: one file, no external requests.\n\n- The loaf is inline SVG, so it scales without loss.\n- Text on cream measures `8.1:1` or better.\n",
		)
		.endTurn("end_turn")
		.finish()
		.save("hero");
}
{
	const run = bakery({ demo: true, model: "demo:" })
		.turn()
		.say("The page holds at 390 px. I would like to write it to `site/`.");
	const call_id = run.call("run_python", "run python");
	const code =
		'from pathlib import Path\n\nout = Path("site")\nout.mkdir(exist_ok=True)\n(out / "index.html").write_text(files["index.html"])';
	run.stream("tool_args_delta", JSON.stringify({ code }), { call_id }, 20);
	run.emit("tool_ready", { call_id, title: "run python", args: { code } }).endTurn();
	run.emit("approval_requested", {
		call_id,
		name: "run_python",
		title: "run python",
		args: { code },
		description: "Runs Python code in the notebook's kernel.",
		schema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
		identical_only: true,
	});
	run.waiting = run.events.length;
	const answer = { approved: true, note: "", by: "person", proposed: { code }, executed: { code } };
	run.emit("approval_resolved", { call_id, ...answer }, 30);
	run.emit("tool_running", { call_id, title: "run python" });
	run.emit("tool_finished", {
		call_id,
		ok: true,
		summary: "wrote site/index.html",
		outputs: [{ "text/plain": "wrote site/index.html  3,412 bytes\nlinks 4, broken 0" }],
		seconds: 0.2,
		code: null,
		hint: "",
	});
	run.turn().say("It is in `site/index.html`.").endTurn("end_turn").finish().save("approval");
}
{
	const run = bakery().turn();
	const call_id = run.call("edit_file", "edit index.html");
	run
		.emit("tool_ready", {
			call_id,
			title: "edit index.html",
			args: { path: "index.html", old: "<h2>Nope</h2>", new: "" },
		})
		.endTurn();
	run.emit("tool_running", { call_id, title: "edit index.html" });
	run.emit("tool_finished", {
		call_id,
		ok: false,
		summary: "The text to replace was not found in index.html.",
		outputs: [],
		seconds: 0.1,
		code: "FAILED",
		hint: "The nearest match is at line 31.",
	});
	run.turn().edit("index.html", ...BAKERY_EDITS[0]);
	run.turn().say("Now the opening hou");
	run.emit("turn_retrying", { attempt: 1, wait: 8, why: "Anthropic is overloaded (HTTP 529)" });
	run.emit("turn_started", { step: run.turns }, 8);
	run.say("Now the opening hours are checked.").endTurn("end_turn").finish().save("retry");
}
{
	const run = new Recorder().start();
	run
		.finish(
			"failed",
			"`anthropic:claude-opus-5-5` needs a key. Set `ANTHROPIC_API_KEY`, or try `%%agent hero -m demo:`, which needs none.",
		)
		.save("failed", { ready: { line: "`hero` is ready" } });
}
{
	const run = new Recorder().start().turn().think("Three files: a page, a style sheet, a picture.");
	const call_id = run.call("generate_images", "draw a loaf");
	run
		.emit("tool_ready", {
			call_id,
			title: "draw a loaf",
			args: { prompts: ["a loaf of bread, flat colour"] },
		})
		.endTurn();
	run.emit("tool_running", { call_id, title: "draw a loaf" });
	run.emit("tool_progress", { call_id, text: "1 of 1" }, 0.4);
	run.emit(
		"file_changed",
		{
			path: "img/loaf.png",
			version: 1,
			action: "created",
			size: 3120,
			media_type: "image/png",
			call_id,
			first_line: 0,
			added: 0,
			removed: 0,
			patch: null,
		},
		0.4,
	);
	run.emit("tool_finished", {
		call_id,
		ok: true,
		summary: "img/loaf.png",
		outputs: [{ "image/png": LOAF, "text/plain": "a loaf of bread, flat colour" }],
		seconds: 0.8,
		code: null,
		hint: "",
	});
	for (const [path, text, type] of SITE) run.turn().create(path, text, type);
	run.turn().say("Four files, linked by relative paths.").endTurn("end_turn").finish();
	run.save("site", { binary: { "img/loaf.png": { base64: LOAF, media_type: "image/png" } } });
}
