import { describe, expect, test } from "vitest";
import type { Event, PlanStatus } from "../src/run/events.ts";
import { phaseText, quietPhase, READING } from "../src/run/phase.ts";
import { endingOf } from "../src/run/runs.ts";
import { EMPTY, reduce, retryOf, type ToolRow, textOf } from "../src/run/state.ts";
import { fileAt, versionLabel } from "../src/view/shown.ts";
import {
	changed,
	done,
	finished,
	piece,
	play,
	script,
	started,
	text,
	thinking,
	tool,
	turn,
} from "./events.ts";

const kinds = (state: ReturnType<typeof play>): string[] => state.rows.map((row) => row.kind);
const toolRow = (state: ReturnType<typeof play>): ToolRow =>
	state.rows.find((row) => row.kind === "tool") as ToolRow;

const retrying = (attempt: number) =>
	({ type: "turn_retrying", attempt, most: 4, wait: 2, why: "busy" }) as const;

test("a server of your own reads the first prompt before the model thinks", () => {
	const near: typeof started = { ...started, settings: { server: { model: "qwen" } } };
	expect(phaseText(play(script(near, turn)).phase)).toBe("reading the prompt");
	expect(phaseText(play(script(near, turn, turn)).phase)).toBe("thinking");
	expect(quietPhase({ ...EMPTY, phase: READING }, 75)).toEqual({
		text: "reading the prompt, 1 min 15 s",
		spoken: "reading the prompt",
	});
});

describe("rows", () => {
	test("thinking ends when text begins", () => {
		const state = play(script(started, turn, thinking("a"), thinking("b"), text("c")));
		expect(state.rows[0]).toMatchObject({ kind: "thinking", text: "ab", from: 2, to: 4 });
		expect(state.rows[1]).toMatchObject({ kind: "text", text: "c", to: null });
	});

	test("an attempt that failed is a line once the next one has begun, and what it wrote is gone", () => {
		const other = { ...retrying(4), most: 0, why: "cut" };
		const state = play(script(started, turn, retrying(1), text("Half"), retrying(2), other));
		expect(state.rows).toMatchObject([
			{ kind: "line", title: "Retry 1 of 4", detail: "busy" },
			{ kind: "line", title: "Retry 2 of 4", detail: "busy" },
			{ kind: "retry", title: "Retry", why: "cut" },
		]);
		expect(play(script(finished("failed", "cut")), state).rows).toMatchObject([
			{ detail: "busy" },
			{ detail: "busy" },
			{ kind: "line", title: "Retry", detail: "cut" },
		]);
	});

	test("a note is a line that a later retry leaves", () => {
		const note = { type: "note", title: "Too long, compacted", detail: "about 12k tokens now" } as const;
		const state = play(script(started, turn, retrying(1), note, text("Half"), retrying(2), text("b")));
		expect(state.rows.map((row) => row.kind)).toEqual(["line", "line", "line", "text"]);
		expect(state.rows[1]).toMatchObject({ title: note.title, detail: note.detail });
	});

	test("a newer plan is in the row of the first one", () => {
		const plan = (...statuses: PlanStatus[]) => {
			const entries = statuses.map((status) => ({ text: "Write", status }));
			return { type: "plan_updated", title: "Plan", detail: `${entries.length} in all`, entries } as const;
		};
		const events = [started, turn, plan("pending"), text("a"), { type: "turn_started", step: 2 } as const];
		const state = play(script(...events, plan("completed", "pending")));
		expect(state.rows.map((row) => row.kind)).toEqual(["line", "text"]);
		expect(state.rows[0]).toMatchObject({
			...play(script(...events)).rows[0],
			detail: "2 in all",
			plan: [{ status: "completed" }, { status: "pending" }],
		});
	});

	test("a call that writes several files has no path", () => {
		const one = [started, turn, tool(), changed("a.png", 1, { size: 10 })];
		expect(toolRow(play(script(...one))).change).toMatchObject({ path: "a.png", size: 10 });
		const both = script(...one, changed("b.png", 1, { size: 5 }));
		expect(toolRow(play(both)).change).toMatchObject({ path: null, size: 15 });
	});

	test("a call and its result are one row", () => {
		const state = play(
			script(
				started,
				turn,
				tool(),
				piece("a.html", 0, "abc"),
				changed("a.html", 1),
				done({ ok: false, code: "FAILED", hint: "h" }),
			),
		);
		expect(kinds(state)).toEqual(["tool"]);
		expect(toolRow(state)).toMatchObject({ status: "failed", hint: "h", path: "a.html", written: 3 });
		expect(toolRow(state).change).toMatchObject({ path: "a.html", action: "created" });
	});

	test("a retry withdraws the turn's rows and drafts", () => {
		const before = script(started, turn, text("kept"), tool("c1"), done());
		const after = script(
			{ type: "turn_started", step: 2 },
			text("gone"),
			tool("c2"),
			piece("x.html", 0, "gone", "c2"),
			retrying(1),
		);
		const state = play(after, play(before));
		expect(kinds(state)).toEqual(["text", "tool", "retry"]);
		expect(state.rows.map((row) => row.turn)).toEqual([1, 1, 2]);
		expect(state.files.size).toBe(0);
		expect(phaseText(state.phase)).toBe("retrying in 2 s");
		const again = play(script(text("new")), state);
		expect(again.rows[2]).toMatchObject({
			kind: "line",
			state: "retry",
			title: "Retry 1 of 4",
			detail: "busy",
		});
		expect(kinds(play(script(retrying(2)), again))).toEqual(["text", "tool", "line", "retry"]);
	});

	test("a retry that fails at once leaves one open", () => {
		const waiting = play(script(started, turn, retrying(1), retrying(2), retrying(3)));
		expect(kinds(waiting)).toEqual(["line", "line", "retry"]);
		const ended = play(script(text("new"), finished()), waiting);
		expect(kinds(ended)).toEqual(["line", "line", "line", "text"]);
		expect(new Set(ended.rows.map((row) => row.key)).size).toBe(4);
	});

	test("the wait goes on when another row is added", () => {
		const asking = {
			type: "approval_requested",
			call_id: "c9",
			name: "run",
			title: "run",
			args: {},
		} as const;
		const waiting = play(script(started, turn, retrying(1), asking));
		expect(kinds(waiting)).toEqual(["retry", "tool"]);
		expect(retryOf(waiting)).toMatchObject({ title: "Retry 1 of 4", from: 2, wait: 2 });
		expect(retryOf(play(script(text("new")), waiting))).toBeUndefined();
	});

	test("an approval asks, then runs", () => {
		const asking = play(
			script(started, turn, tool(), {
				type: "approval_requested",
				call_id: "c1",
				name: "run",
				title: "run it",
				args: { code: "1" },
			}),
		);
		expect(toolRow(asking)).toMatchObject({ status: "asking", args: { code: "1" } });
		expect(phaseText(asking.phase)).toBe("waiting for approval, clock paused");
		const other = script({ type: "tool_running", call_id: "c2", title: "read a file" });
		expect(play(other, asking).phase).toBe(asking.phase);
		const denied = play(
			script({ type: "approval_resolved", call_id: "c1", approved: false, note: "no" }),
			asking,
		);
		expect(phaseText(denied.phase)).toBe("running tools");
		const resumed = script({ type: "tool_running", call_id: "c1", title: "run it" });
		expect(phaseText(play(resumed, denied).phase)).toBe("running it");
		expect(toolRow(denied)).toMatchObject({ status: "running", answer: { approved: false, note: "no" } });
	});

	test("a run is busy until it ends", () => {
		const late = play(
			script(started, turn, tool(), { type: "turn_finished", stop: "end_turn", usage: {}, model: "m" }),
		);
		expect(late.busy).toBe(true);
		const end = play(script(finished("stopped")), late);
		expect(end.busy).toBe(false);
		expect(toolRow(end).status).toBe("stopped");
		expect(end.at).toBe(9);
	});

	test("calls closed by a stop are stopped, not failed", () => {
		const denied = { type: "approval_resolved", call_id: "c1", approved: false, note: "stopped" } as const;
		const failed = done({ call_id: "c0", ok: false, code: "FAILED" });
		const closed = done({ ok: false, summary: "Stopped before it ended.", code: "STOPPED" });
		const end = play(
			script(started, turn, tool("c0"), tool("c1"), denied, failed, closed, finished("stopped")),
		);
		const rows = end.rows.filter((row) => row.kind === "tool");
		expect(rows.map((row) => row.status)).toEqual(["failed", "stopped"]);
		expect(rows[1]?.answer).toBeNull();
	});
});

describe("files", () => {
	test("a streamed file is its own first version", () => {
		const state = play(
			script(started, tool(), piece("a.html", 0, "ab"), piece("a.html", 2, "cd"), changed("a.html", 1)),
		);
		const file = state.files.get("a.html")!;
		expect(file.draft).toBeNull();
		expect(file.versions[0]).toMatchObject({ text: "abcd", epoch: 1 });
	});

	test("offset zero starts the file over", () => {
		const state = play(script(started, tool(), piece("a.html", 0, "ab"), piece("a.html", 0, "xy")));
		expect(state.files.get("a.html")!.draft).toMatchObject({ text: "xy", epoch: 2 });
	});

	describe("that were still being written", () => {
		const first = script(started, turn, tool(), piece("a.html", 0, "one"), changed("a.html", 1), done());
		const rewrite = [tool("c2"), piece("a.html", 0, "tw", "c2")];
		const rewriting = play(script(...rewrite), play(first));

		test.each(["stopped", "budget", "failed"])("fall back to what was kept: %s", (reason) => {
			const file = play(script(finished(reason)), rewriting).files.get("a.html")!;
			expect(file).toMatchObject({ draft: null, unfinished: { text: "tw" } });
			expect(textOf(file)).toBe("one");
		});

		test("are withdrawn when their call is refused or changes nothing", () => {
			for (const end of [{ ok: false, code: "SCHEMA" }, { ok: true }]) {
				const state = play(script(done({ call_id: "c2", ...end })), rewriting);
				expect(state.files.get("a.html")).toMatchObject({ draft: null, unfinished: null });
			}
			const other = play(script(tool("c3"), piece("b.html", 0, "x", "c3")), rewriting);
			const refused = play(script(done({ call_id: "c3", ok: false, code: "FAILED" })), other);
			expect([...refused.files.keys()]).toEqual(["a.html"]);
		});

		test("are a version if the run kept them, which is called unfinished", () => {
			const cut = play(script(started, turn, tool(), piece("a.html", 0, "on")));
			const kept = changed("a.html", 1, { call_id: null, unfinished: true });
			const file = play(script(kept, finished("stopped")), cut).files.get("a.html")!;
			expect(file).toMatchObject({ unfinished: null, versions: [{ text: "on", unfinished: true }] });
		});

		test("stay unfinished in the next run until they have another version", () => {
			const given = changed("a.html", 1, { call_id: null, unfinished: true, patch: [[0, 1, "on"]] });
			const label = (...later: Parameters<typeof script>): string =>
				versionLabel(
					play(script(started, given, turn, ...later))
						.files.get("a.html")
						?.versions.at(-1),
				);
			expect(label(finished("end_turn"))).toBe("v1, unfinished");
			expect(label(tool(), changed("a.html", 2), done())).toBe("v2");
		});

		test("are all that is left when the kernel has gone before the first version", () => {
			const state = play(script(started, turn, tool(), piece("a.html", 0, "on")));
			const file = play([endingOf(state, 0)], state).files.get("a.html")!;
			expect(file).toMatchObject({ draft: null, unfinished: { text: "on" }, versions: [] });
			expect(fileAt(file, null)).toMatchObject({ text: "on", live: false, cut: true });
		});
	});

	test("a file has a provisional path until the model has written its own", () => {
		const parts = [piece("", 0, "<h1>"), piece("", 4, "Hi")];
		const state = play(script(started, turn, tool(), ...parts));
		expect(phaseText(state.phase)).toBe("writing a file");
		expect(state.files.get("index.html")!.draft).toMatchObject({ text: "<h1>Hi", epoch: 1 });
		const same = play(script(piece("index.html", 0, "<h1>Hi")), state);
		expect(same.files.get("index.html")!.draft).toMatchObject({ text: "<h1>Hi", epoch: 1, unnamed: false });
		const other = play(script(piece("a.html", 0, "<h1>Hi")), state);
		expect([...other.files.keys()]).toEqual(["a.html"]);
		expect(toolRow(other).path).toBe("a.html");
	});

	test.each(["body{", "<p>"])("a provisional path hides no page that exists: %s", (content) => {
		const made = play(script(started, turn, tool(), piece("index.html", 0, "ab"), changed("index.html", 1)));
		const state = play(script(tool("c2"), piece("", 0, content, "c2"), piece("", 5, "!", "c2")), made);
		expect(textOf(state.files.get("index.html")!)).toBe("ab");
		expect([...state.files.keys()]).toEqual(["index.html", "untitled"]);
	});

	test("a call that writes several files keeps all of them", () => {
		const state = play(script(started, turn, tool(), piece("a.html", 0, "a"), piece("b.html", 0, "b")));
		expect([...state.files.keys()]).toEqual(["a.html", "b.html"]);
	});

	test("offsets count code points, not units", () => {
		const state = play(
			script(started, tool(), piece("a.html", 0, "🥖é"), piece("a.html", 2, "!"), piece("a.html", 1, "?")),
		);
		expect(textOf(state.files.get("a.html")!)).toBe("🥖?");
	});

	test("patches make the next version", () => {
		const first = script(started, tool(), piece("a.html", 0, "one\ntwo\nthree\n"), changed("a.html", 1));
		const patch = [
			[0, 1, "ONE"],
			[2, 1, "three\nfour"],
		];
		const state = play(script(changed("a.html", 2, { patch })), play(first));
		expect(state.files.get("a.html")!.versions.map((version) => version.text)).toEqual([
			"one\ntwo\nthree\n",
			"ONE\ntwo\nthree\nfour\n",
		]);
	});

	test("binary files have no text", () => {
		const state = play(script(changed("a.png", 1, { media_type: "image/png", call_id: null })));
		expect(state.files.get("a.png")!.versions[0]!.text).toBeNull();
	});

	test("deleting keeps the earlier versions", () => {
		const state = play(
			script(
				tool(),
				piece("a.html", 0, "ab"),
				changed("a.html", 1),
				changed("a.html", 2, { action: "deleted" }),
			),
		);
		expect(state.files.get("a.html")).toMatchObject({ deleted: true });
		expect(state.files.get("a.html")!.versions).toHaveLength(2);
	});
});

/** The same text in other fragments: merged, or split into single characters. */
function fragmented(
	content: string,
	sizes: () => number,
	make: (part: string, offset: number) => Event,
): Event[] {
	const points = [...content];
	const events: Event[] = [];
	for (let at = 0; at < points.length; ) {
		const size = sizes();
		events.push(make(points.slice(at, at + size).join(""), at));
		at += size;
	}
	return events;
}

test("fragmentation does not change the result", () => {
	const content = "Zwölf Boxkämpfer 🥊 jagen\nEva 👩‍👩‍👧 quer über\tden Sylter Deich. ".repeat(3);
	let seed = 7;
	const random = (): number => {
		seed = (seed * 16807) % 2147483647;
		return 1 + (seed % 9);
	};
	const outcome = (sizes: () => number): unknown => {
		const say = fragmented(content, sizes, (part) => script(text(part))[0]!);
		const write = fragmented(content, sizes, (part, offset) => script(piece("a.html", offset, part))[0]!);
		const state = play([
			...script(started, turn),
			...say,
			...script(tool()),
			...write,
			...script(changed("a.html", 1), finished()),
		]);
		return { rows: state.rows.map((row) => ({ ...row, from: 0 })), files: [...state.files] };
	};
	const whole = outcome(() => 10_000);
	expect(outcome(() => 1)).toEqual(whole);
	for (let round = 0; round < 20; round++) expect(outcome(random)).toEqual(whole);
});

test("reducing changes no earlier state", () => {
	const events = script(
		started,
		turn,
		thinking("a"),
		text("b"),
		tool(),
		piece("a.html", 0, "ab"),
		changed("a.html", 1),
		done(),
		finished(),
	);
	let state = EMPTY;
	for (const event of events) {
		const frozen = structuredClone(state);
		const next = reduce(state, event);
		expect(state).toEqual(frozen);
		state = next;
	}
});
