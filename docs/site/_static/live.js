// Says before a lesson is opened what would keep it from running in this browser.
const FULL = 0.95;

async function obstacle() {
	if (typeof WebAssembly !== "object") {
		return "This browser has no WebAssembly, which Python needs: the lesson cannot run here. Use another browser, or read on.";
	}
	if (!navigator.serviceWorker) {
		return "Lessons read their files only from an https address or 127.0.0.1, and not in a private window of some browsers: cells that use files fail here.";
	}
	const { usage = 0, quota = 0 } = (await navigator.storage?.estimate?.()) ?? {};
	if (quota && usage > quota * FULL) {
		return "This browser's storage for the site is full: the lesson runs, but your changes cannot be saved. Remove files in the live lessons, or clear the site's data.";
	}
	return "";
}

document.addEventListener("DOMContentLoaded", async () => {
	const links = [...document.querySelectorAll("a.live")];
	const sentence = links.length ? await obstacle().catch(() => "") : "";
	if (!sentence) return;
	for (const link of links) {
		const note = document.createElement("p");
		note.className = "live-note";
		note.role = "status";
		note.textContent = sentence;
		link.after(note);
		if (typeof WebAssembly !== "object") link.remove();
	}
});
