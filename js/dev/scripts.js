// The events of each state on the page of all states.

const LONG = "a_name_that_has_no_place_to_break_".repeat(6);
const WORDS = "A long line of plain words that has to wrap somewhere, wherever that may be. ".repeat(3);
const PATH = `assets/illustrations/${"deeply/nested/".repeat(4)}a-file-with-a-long-name.html`;
const PAGE = `<!doctype html><title>Bread</title><h1>Bread</h1>\n${"<p>Flour, water, salt.</p>".repeat(60)}\n`;
const USAGE = { input: 120_000, cached_read: 0, cached_write: 0, output: 14_200, reasoning: 0 };

const started = (settings = {}, images = []) => [
	{
		type: "run_started",
		prompt: "A page",
		model: "anthropic:claude-opus-5-5",
		base: null,
		settings,
		images,
		at: 0,
	},
	{ type: "turn_started", step: 1 },
];
const call = (call_id, title = "create index.html", name = "create_file") => ({
	type: "tool_started",
	call_id,
	name,
	title,
});
const end = (call_id, fields = {}) => ({
	type: "tool_finished",
	call_id,
	ok: true,
	summary: "",
	outputs: [],
	seconds: 0.2,
	code: null,
	hint: "",
	...fields,
});
const delta = (call_id, path, text) => ({ type: "file_delta", call_id, path, offset: 0, text });
const change = (call_id, path, fields = {}) => ({
	type: "file_changed",
	call_id,
	path,
	version: 1,
	action: "created",
	size: 3400,
	media_type: "text/html",
	first_line: 1,
	added: 120,
	removed: 0,
	patch: null,
	...fields,
});
const create = (call_id, path = "index.html", text = PAGE) => [
	call(call_id, `create ${path}`),
	delta(call_id, path, text),
	change(call_id, path),
	end(call_id, { summary: "3.4 kB, 120 lines" }),
];
const edit = (call_id, version, line = "<p>New</p>") => [
	call(call_id, "edit index.html", "edit_file"),
	change(call_id, "index.html", { version, action: "edited", removed: 7, patch: [[1, 1, line]] }),
	end(call_id, {
		outputs: [{ "text/x-diff": `--- a/index.html\n+++ b/index.html\n@@ -1 +1 @@\n-${LONG}\n+${WORDS}` }],
	}),
];
const ask = (call_id, args, fields = {}) => [
	call(call_id, "run python", "run_python"),
	{
		type: "approval_requested",
		call_id,
		name: "run_python",
		title: "run python",
		args,
		description: `Runs Python code in the notebook's kernel. ${WORDS}`,
		schema: schemaOf(args),
		identical_only: true,
		allows_whole_run: true,
		...fields,
	},
];
const schemaOf = (args) => ({
	type: "object",
	properties: Object.fromEntries(Object.keys(args).map((name) => [name, { type: "string" }])),
});
const finished = (reason = "end_turn", error = null, fields = {}) => ({
	type: "run_finished",
	reason,
	usage: USAGE,
	cost: 0.57,
	seconds: 24.4,
	error,
	...fields,
});
const say = (text) => ({ type: "text_delta", text });
const variant = (number, events) => events.map((event) => ({ ...event, variant: number }));
const variants = (count, ends) =>
	Array.from({ length: count }, (_, number) =>
		variant(number, [...started(), ...create("c1"), ...ends(number)]),
	).flat();
const done = [...started({ steps: 20, usd: 0.5, window: 200_000 }), ...create("c1")];
const cut = [...done, call("c2", "create file index.html"), delta("c2", "index.html", "<h1>New</h1><p>and")];
const CODE = { code: `print("${LONG}")\nfor row in rows:\n    print(row)\n${"total += 1\n".repeat(30)}` };
const TABLE = `<table><thead><tr><th></th><th>${LONG}</th></tr></thead><tbody><tr><th>${WORDS}</th><td>1</td></tr></tbody></table>`;
const NAMES = {
	"application/vnd.agent-nb.names+json": { bound: [LONG], changed: ["df"], deleted: [], ...CODE, undo: "1" },
};
const BROKEN = `${PAGE}<script>
console.log("${WORDS}");
console.warn("${LONG}");
${LONG.slice(0, 90).replace(/\W/g, "_")}.call();
</script>`;
const FAILED = `The server is limiting requests (429): ${WORDS} \`${LONG}\` Try again in a while.`;
const CELL = "%%agent hero -m anthropic:claude-opus-5-5\nA landing page for a small bakery in Lyon";

const TRANSCRIPT = {
	starting: { events: started() },
	thinking: { events: [...started(), { type: "thinking_delta", text: `${WORDS} ${LONG}` }] },
	thought: {
		events: [...started(), { type: "thinking_delta", text: WORDS }, say(`${WORDS} \`${LONG}\``)],
		press: [["summary", "Thought"]],
	},
	"an answer with a type": {
		events: [...started(), say(WORDS), finished("end_turn", null, { answer: { [LONG]: WORDS, p: 0.01 } })],
	},
	"a text in Markdown": {
		events: [
			...started(),
			say(
				`# ${WORDS}\n\n- ${LONG}\n\n| ${LONG} | b |\n|---|---|\n| c | ${WORDS} |\n\n\`\`\`\n${LONG}${LONG}\n\`\`\`\n\n> ${WORDS}`,
			),
			finished(),
		],
	},
	"arguments arrive": {
		events: [
			...started(),
			call("c1", "look up", "look_up"),
			{ type: "tool_args_delta", call_id: "c1", text: `{"query": "${LONG}` },
		],
	},
	"a file is written": { events: [...started(), call("c1"), delta("c1", PATH, PAGE)] },
	"a tool runs": {
		events: [
			...started(),
			call("c1", `look up ${LONG}`, "look_up"),
			{ type: "tool_running", call_id: "c1", title: `look up ${LONG}` },
			{ type: "tool_progress", call_id: "c1", text: WORDS },
		],
	},
	"a tool prints": {
		events: [
			...started(),
			call("c1", "run python", "run_python"),
			{ type: "tool_running", call_id: "c1", title: "run python" },
			{ type: "tool_progress", call_id: "c1", text: "", output: { "text/plain": `${LONG}\n${WORDS}\n` } },
		],
	},
	"tools ended": {
		events: [
			...started(),
			...create("c0", PATH),
			call("c1", `look up ${LONG}`, "look_up"),
			end("c1", { summary: WORDS, outputs: [{ "text/plain": `${LONG}\n${WORDS}` }] }),
			call("c2", "edit index.html", "edit_file"),
			end("c2", { ok: false, code: "FAILED", summary: `${WORDS} ${LONG}`, hint: WORDS }),
			call("c3", "run python", "run_python"),
			end("c3", { ok: false, code: "DENIED", summary: WORDS }),
			call("c4", "run python", "run_python"),
			end("c4", { ok: false, code: "STOPPED", summary: "Not run: the run ended first." }),
			finished("stopped"),
		],
		press: [["summary", "look up"]],
	},
	"code ran": {
		events: [
			...started(),
			call("c1", "run python", "run_python"),
			{ type: "tool_ready", call_id: "c1", title: "run python", args: CODE },
			end("c1", { outputs: [{ "text/plain": `${LONG}\n`.repeat(50) }, { "text/html": TABLE }] }),
			call("c2", "run python", "run_python"),
			{ type: "tool_ready", call_id: "c2", title: "run python", args: CODE },
			end("c2", { ok: false, code: "FAILED", summary: `${WORDS} ${LONG}`, outputs: [NAMES] }),
			finished(),
		],
	},
	edits: {
		events: [...done, ...edit("c2", 2), ...edit("c3", 3, LONG), finished()],
		press: [
			["button", "How"],
			["summary", "2 edits"],
		],
	},
	"a note": {
		events: [
			...started(),
			{
				type: "note",
				title: "Context full, compacted",
				detail:
					"about 133k tokens before, 12.1k now; contents left out of 24 messages, 6 messages summarized",
			},
			say("Done."),
		],
	},
	"a plan": {
		events: [
			...started(),
			{
				type: "plan_updated",
				title: "Plan",
				detail: "1 of 3 done",
				entries: [
					{ text: "Read the table of orders", status: "completed" },
					{ text: `${WORDS}${LONG}`, status: "in_progress" },
					{ text: "Write the page", status: "pending" },
				],
			},
			say("The orders have no column for the region, so I use the shop."),
		],
	},
	"a retry": {
		events: [...started(), { type: "turn_retrying", attempt: 1, most: 4, wait: 17, why: FAILED }],
	},
	"retries, and then a failure": {
		events: [
			...started(),
			{ type: "turn_retrying", attempt: 1, most: 4, wait: 1, why: FAILED },
			{ type: "turn_retrying", attempt: 2, most: 4, wait: 2, why: FAILED },
			finished("failed", FAILED),
		],
		ready: {
			again: CELL,
			others: [CELL.replace("anthropic:claude-opus-5-5", "openai:gpt-6.1-sol")],
			paths: [],
		},
	},
};

const QUESTIONS = {
	"a question": { events: [...started(), ...ask("c1", CODE)] },
	"a question with short arguments": {
		events: [
			...started(),
			...ask("c1", { city: "Lyon", guests: 3, name_of_the_one_who_asks: LONG }, { identical_only: false }),
		],
	},
	"two questions": { events: [...started(), ...ask("c1", CODE), ...ask("c2", { city: "Lyon" })] },
	"a question from the model": {
		events: [
			...started(),
			...ask(
				"c1",
				{
					question: `Which of these two tables is the newer one? ${WORDS}`,
					choices: ["orders", WORDS, LONG],
				},
				{ is_question: true, description: "", schema: {} },
			),
		],
	},
	"a question being edited": { events: [...started(), ...ask("c1", CODE)], press: [["button", "Edit"]] },
	"an answered question": {
		events: [
			...started(),
			...ask("c1", CODE),
			{
				type: "approval_resolved",
				call_id: "c1",
				approved: false,
				note: WORDS,
				by: "person",
				proposed: CODE,
				executed: null,
			},
			end("c1", { ok: false, code: "DENIED", summary: WORDS }),
			finished(),
		],
	},
};

const ENDINGS = {
	done: { events: [...done, say(WORDS), finished()] },
	"text alone": { events: [...started(), say(WORDS), finished()] },
	nothing: { events: [...started(), finished("refusal", WORDS)] },
	budget: { events: [...done, finished("budget")] },
	failed: {
		events: [...done, finished("failed", FAILED)],
		ready: { again: CELL, others: [CELL, CELL] },
	},
	"a refused key": {
		events: [...started(), finished("failed", "Refused. `%agent key anthropic` asks for another.")],
		ready: { again: CELL, others: [CELL] },
	},
	"a failed check": {
		events: [...done, finished()],
		ready: { failed_check: `len(files) > 1: ${LONG} is 1` },
	},
	"cut off while rewriting": { events: [...cut, finished("stopped")] },
	"unfinished text": {
		events: [...cut, finished("stopped")],
		press: [["[aria-label='Next version']"]],
	},
	"a first version, unfinished": {
		events: [
			...started(),
			call("c1"),
			delta("c1", "index.html", "<h1>Bre"),
			change(null, "index.html"),
			finished("stopped"),
		],
	},
	"a style alone": {
		events: [...started(), ...create("c1", "index.html", "<style>body{color:red}"), finished("stopped")],
	},
};

const changeCell = (id, action) => ({
	"application/vnd.agent-nb.change+json": {
		...{ id, action, cell_id: id, number: Number(id), kind: "code" },
		before: `mean = 1\n${LONG}`,
		after: action === "delete" ? "" : `mean = 2\n${LONG}\n${WORDS}`,
	},
});

const RESULT = {
	code: {
		events: [...started(), ...create("c1", "index.html", `${LONG.repeat(20)}\n${PAGE}`), finished()],
		press: [["[data-tab=code]"]],
	},
	"code of several files": {
		events: [...done, ...create("c2", PATH), ...create("c3", `${LONG.slice(0, 90)}.css`), finished()],
		press: [["[data-tab=code]"]],
	},
	diff: { events: [...done, ...edit("c2", 2, LONG), finished()], press: [["[data-tab=diff]"]] },
	"an earlier version": {
		events: [...done, ...edit("c2", 2, LONG), finished()],
		press: [["[aria-label='Previous version']"]],
	},
	console: { events: [...done, finished()], press: [["[data-tab=console]"]] },
	"errors of the page": {
		events: [...started(), ...create("c1", "index.html", BROKEN), finished()],
		press: [["[data-tab=console]"], ["button.fix", "Ask to fix"]],
	},
	files: { events: [...done, ...create("c2", PATH), finished()], press: [["[data-tab=files]"]] },
	"changes of cells": {
		events: [
			...started(),
			call("c1", "change cell mean", "change_cell"),
			end("c1", { outputs: [changeCell("1", "change"), changeCell("2", "delete")] }),
			finished(),
		],
	},
	replay: { events: [...done, ...edit("c2", 2), finished()], press: [["button", "Replay"]] },
	"the request of a turn": {
		events: [...done, finished()],
		press: [
			["button", "Replay"],
			["button", "turn 1: request"],
		],
	},
	folded: { events: [...done, finished()], press: [["button.anb-shut"]] },
	"suggestions of the demo model": {
		events: [...done, finished()],
		meta: { demo: true, suggestions: [["make it blue", "call it Petit Four", "add news"]] },
	},
	"a run that continues another": {
		events: [{ ...started()[0], base: "draft_of_the_landing_page" }, ...done.slice(1), finished()],
		before: {
			name: "draft_of_the_landing_page",
			events: [...done, finished()].map((event) => ({ variant: 0, at: 1, ...event })),
		},
		press: [[".anb-chain button", "draft"]],
	},
	"the actions": { events: [...done, finished()], press: [["button", "Actions"]] },
};

const VARIANTS = {
	"three variants": {
		events: variants(3, (number) => (number ? [] : ask("c2", CODE))),
	},
	"variants with answers": {
		events: variants(3, (number) => [
			finished("end_turn", null, { answer: { slope: number, [LONG]: WORDS } }),
		]),
	},
	"five variants, ended": {
		events: variants(5, (number) => [
			number === 1 ? finished("failed", FAILED) : finished(number === 2 ? "budget" : "end_turn"),
		]),
		ready: {
			line: "`hero` and `files` are ready. Variant 1 of 5, the first to succeed; `hero.pick(2)` selects another",
		},
	},
};

export const STATES = { ...TRANSCRIPT, ...QUESTIONS, ...ENDINGS, ...RESULT, ...VARIANTS };
