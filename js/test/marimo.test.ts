import { afterEach, beforeEach, expect, test } from "vitest";
import widget from "../src/widget.ts";
import { finished, script, started, text, tool, turn } from "./events.ts";
import { Kernel, META, soon } from "./kernel.ts";

const EVENTS = script(started, turn, text("Hello."), finished());

/** A model of marimo: it shows one run, and its traits are the value of the view. */
class RunModel extends Kernel {
	readonly traits: Record<string, unknown> = { key: "k", frozen: "<p>frozen</p>", variant: 1, selection: [] };
	readonly saved: Record<string, unknown>[] = [];

	override get(name: string): unknown {
		return super.get(name) ?? this.traits[name];
	}

	set(name: string, value: unknown): void {
		this.traits[name] = value;
	}

	save_changes(): void {
		const { variant, selection } = this.traits;
		this.saved.push({ variant, selection });
	}
}

let model: RunModel;
let el: HTMLElement;
let stop: () => void;

beforeEach(() => {
	document.body.innerHTML = "<div></div>";
	el = document.body.querySelector("div")!;
	model = new RunModel();
	stop = widget.initialize({ model: model as never });
	widget.render({ model: model as never, el });
});
afterEach(() => stop());

test("a view asks for its own run, and shows the frozen form until it comes", async () => {
	expect(model.commands("hello")).toMatchObject([{ key: "k" }]);
	await soon();
	expect(el.textContent).toBe("frozen");
	expect(el.shadowRoot).toBeNull();
	model.answer(model.sent[0], { ok: true, run_id: "r1" });
	model.batch(1, EVENTS);
	await soon();
	expect(el.shadowRoot!.querySelector(".phase")!.textContent).toBe("done");
	expect(model.saved).toEqual([]);
});

test("a card can be answered once a kernel answers for the run, and Stop is there at once", async () => {
	const question = { call_id: "c1", name: "run", title: "run it", args: { code: "1" } };
	model.answer = () => {};
	model.batch(1, script(started, turn, tool("run"), { type: "approval_requested", ...question }));
	await soon();
	const hidden = () =>
		[".anb-stop", ".anb-acts"].map((part) => el.shadowRoot!.querySelector<HTMLElement>(part)!.hidden);
	expect(hidden()).toEqual([false, true]);
	Kernel.prototype.answer.call(model, model.commands("hello")[0], { ok: true, run_id: "r1" });
	await soon();
	expect(hidden()).toEqual([false, false]);
});

test("each view shows the run of its own model", async () => {
	const other = new RunModel("2");
	other.traits.key = "other";
	const end = widget.initialize({ model: other as never });
	const second = document.body.appendChild(document.createElement("div"));
	widget.render({ model: other as never, el: second });
	other.batch(1, EVENTS, { run_id: "r2", meta: { ...META, key: "other", name: "two" } });
	model.batch(1, EVENTS);
	await soon();
	const names = [el, second].map((one) => one.shadowRoot!.querySelector(".name")!.textContent);
	expect(names).toEqual(["hero", "two"]);
	end();
});

test("the picked variant is the value, once", async () => {
	model.batch(1, EVENTS);
	model.say({ kind: "ready", line: "", variant: 0, picked: false, paths: [], digest: "d" });
	await soon();
	expect(model.saved).toEqual([]);
	model.say({ kind: "ready", line: "", variant: 1, picked: true, paths: [], digest: "d" });
	await soon();
	model.batch(1, EVENTS);
	await soon();
	expect(model.saved).toEqual([{ variant: 2, selection: [] }]);
});
