// Waits for fonts, images and two frames.
(async () => {
	const images = [...document.images].slice(0, 200);
	await Promise.allSettled([document.fonts.ready, ...images.map((image) => image.decode())]);
	for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
	await new Promise((done) => setTimeout(done, 150));
})();
