// Runs before every generated page: in the live preview, in a tab of its own, in saved pages and in headless Chromium.
// It provides storage, which an opaque origin lacks, disables links and forms that would replace the page by an error,
// removes peer connections, which no policy covers, and keeps the page out of the history of the notebook's tab.
// Returns a function that adds its listeners again: `document.open` removes them.
// The saved page has it on one line, where quotes would be escaped twice: each statement ends with a semicolon, strings
// are in backticks, and comments are on lines of their own.
export function prepare() {
	for (const name of [`localStorage`, `sessionStorage`]) {
		const items = new Map();
		const value = {
			get length() { return items.size; },
			key: (index) => [...items.keys()][index] ?? null,
			getItem: (key) => items.get(`${key}`) ?? null,
			setItem: (key, item) => void items.set(`${key}`, `${item}`),
			removeItem: (key) => void items.delete(`${key}`),
			clear: () => items.clear(),
		};
		Object.defineProperty(window, name, { configurable: true, value });
	}
	for (const name of [`RTCPeerConnection`, `webkitRTCPeerConnection`]) delete window[name];
	HTMLFormElement.prototype.submit = () => {};
	// All frames of a tab share one history: an entry of the page would be a step back in the notebook.
	const { replaceState } = history;
	history.pushState = (state) => replaceState.call(history, state, ``);
	for (const name of [`back`, `forward`, `go`]) history[name] = () => {};
	// Nothing can replace `location.hash`: a page that sets it more than ten times after a press ends.
	let moves = 0;
	let followed = ``;
	const onPress = (event) => { if (event.isTrusted) moves = 0; };
	const onMove = () => { if (location.hash !== followed && ++moves === 11) location.replace(`about:blank`); };
	const onClick = (event) => {
		const link = event.composedPath().find((node) => /^(a|area)$/.test(node.localName));
		const href = link?.getAttribute(`href`) ?? link?.getAttribute(`xlink:href`);
		if (event.defaultPrevented || href == null || /^javascript:/i.test(href)) return;
		event.preventDefault();
		if (href.startsWith(`#`)) { location.replace(document.URL.split(`#`)[0] + (followed = href)); }
	};
	const onSubmit = (event) => {
		const method = event.submitter?.getAttribute(`formmethod`) ?? event.target.getAttribute(`method`);
		if (!/^dialog$/i.test(method)) event.preventDefault();
	};
	const listenTo = window.addEventListener.bind(window);
	const listen = () => {
		listenTo(`click`, onClick);
		listenTo(`submit`, onSubmit);
		listenTo(`hashchange`, onMove);
		for (const name of [`pointerdown`, `keydown`]) listenTo(name, onPress, true);
	};
	listen();
	return listen;
}
