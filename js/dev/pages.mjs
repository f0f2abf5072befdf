// The pages the recorded runs write.

export const BAKERY = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Levain, Lyon</title>
<style>
  :root { --cream: #fbf3e4; --crust: #8a4b1f; --dark: #3a2010; --cta: #d9b98c; --ctai: #8a6a45; }
  * { box-sizing: border-box; }
  body { margin: 0; font: 17px/1.6 Georgia, serif; background: var(--cream); color: var(--dark); }
  nav { display: flex; gap: 24px; padding: 18px 32px; font: 14px/1.4 system-ui, sans-serif; }
  nav b { margin-right: auto; font: 600 18px/1.2 Georgia, serif; }
  .hero { display: grid; grid-template-columns: 1fr 1fr; align-items: center; gap: 24px; padding: 24px 32px; }
  h1 {
    font-size: clamp(24px, 4.6vw, 44px);
    line-height: 1.1;
    margin: 0 0 12px;
  }
  .cta {
    display: inline-block; padding: 10px 20px; border-radius: 999px;
    background: var(--cta); color: var(--ctai);
    font: 600 15px/1.2 system-ui, sans-serif; text-decoration: none;
  }
  svg { width: 100%; height: auto; display: block; }
  .hours { display: grid; grid-template-columns: repeat(3, 1fr); gap: 1px; background: #e7d5b8; border-top: 1px solid #e7d5b8; }
  .hours div { background: var(--cream); padding: 16px 32px; }
  .hours small { color: #7a5c3e; font-family: system-ui, sans-serif; }
  @media (max-width: 560px) { .hero { grid-template-columns: 1fr; } .hours { grid-template-columns: 1fr; } }
</style>
</head>
<body>
<nav><b>Levain</b><span>Bread</span><span>Hours</span><span>Find us</span></nav>
<main class="hero">
  <div>
    <h1>Bread takes its time.<br>So do we.</h1>
    <p>A small bakery on the slopes of the Croix-Rousse. Three loaves, one oven, flour from the Drôme. 🥖</p>
    <a class="cta" href="#hours">See the hours</a>
  </div>
  <svg viewBox="0 0 320 240" role="img" aria-label="A round loaf on a board">
    <rect x="20" y="186" width="280" height="16" rx="8" fill="#c79a63"/>
    <ellipse cx="160" cy="140" rx="112" ry="66" fill="#b06a2c"/>
    <ellipse cx="160" cy="130" rx="104" ry="56" fill="#c98843"/>
    <path d="M104 120c20-26 44-30 60-26M138 148c20-26 44-34 66-28M176 168c14-18 32-26 50-24" stroke="#f6e3bf" stroke-width="8" fill="none" stroke-linecap="round"/>
  </svg>
</main>
<section class="hours" id="hours">
  <div>Tuesday to Friday<br><small>7:00 to 13:30, 16:00 to 19:00</small></div>
  <div>Saturday<br><small>7:00 to 14:00</small></div>
  <div>Sunday and Monday<br><small>closed, the dough sleeps</small></div>
</section>
<script>console.log("levain: 3 loaves today")</script>
</body>
</html>
`;

export const BAKERY_EDITS = [
	[
		"    font-size: clamp(24px, 4.6vw, 44px);",
		"    font-size: clamp(30px, 6.4vw, 60px);\n    text-wrap: balance;",
	],
	["    background: var(--cta); color: var(--ctai);", "    background: var(--crust); color: #fff;"],
];

export const LOAF =
	"iVBORw0KGgoAAAANSUhEUgAAAMAAAACQBAMAAACsfHnDAAAAD1BMVEX247/z373HmmPJiEOwaiyMw6OHAAACjElEQVR42u2ZUY6cMAyGjTMHgBuguUCRev8jIOUEaG+wXIClD21nGbDj3wFUVTJP4xniL7/jGE9oOrr3YgpAAAIQgAAEIAABCEAAAhCAAATgvwE8HPc+X5++PuBBTed17oRAAO7l76drAM/Cb7YMc5H5Wf8rosB0YIlgOjdB8x6uWVyPSj7vv0zgC/wXCXyF/xKBL/FfIKgAn3/9fq7Of1AxX1bFfZ56P0AZw9c9hjyu5Mlkw+hhgExdFsPAfWkCsmH0IEARQLQYBp9azkyUAAMB9IoAGiyjhwDqbJJpJAjwQ4vQYBrrAACStsQJMBIAGOoFSKOFEM3KEgOGMJaxCME5mkzAUJ2j8ni+c5NJgHRSwMEB3ywAAngEmICBqD0hoD0AwWo6YEZdiMAqgQOayiohDIUUnBMgAlpXL6GPxBScylEF0NRusgbNovY9DQfA0CJ0AOT9TNJ2mrrxPSyX/8amgYho3Tw4lq0b3SCi365GZJEbVy9RWIEjYNGjaV2t8AhV07Tx+2/ANM3beHr8t/LuY61/aKsCdIiQvpMbH6HDd3KuIXRqfWK9x3IQOrkNU0KU3YSuUGC51CaChI50AeIiZ/g8bH/PUYB4brqdR7fOePosaLnOhWpYqpWCAPnkd9nNUVPRlYaVJ/hz/8WnvROX7AAk6WH7WU6vkRwAmVC8Rl9nJ+v1+9eLnZMw+ntTF2GsaX4dhLGuu15GzH3xPqPaIMk0gqVKIVnnm8rp/mvzP6w+YiofAU9Wj/FSUArV0zf7NwkPpBGaxHPdCWqT/ioAnixbCPD+6Y8Ex4u6r4kqrnhZCgPmyz3P74D1av/rPkTzPQK+Aes9AuD3yZGmAQhAAAIQgAAE4B8DfgFo1a6rmYA0lQAAAABJRU5ErkJggg==";

export const SITE = [
	[
		"index.html",
		`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Levain</title>
<link rel="stylesheet" href="css/style.css">
</head>
<body>
<h1>Levain</h1>
<img src="img/loaf.png" alt="A loaf" width="240" height="180">
<p id="hello">The script has not run.</p>
<p><a href="about.html">About us</a></p>
<script src="app.js"></script>
</body>
</html>
`,
		"text/html",
	],
	[
		"css/style.css",
		"body { font: 18px/1.5 Georgia, serif; margin: 40px; background: #fbf3e4 url(../img/loaf.png) no-repeat right 20px top 20px; color: #3a2010; }\nh1 { font-size: 44px; margin: 0 0 12px; }\nimg { border-radius: 12px; image-rendering: pixelated; }\n",
		"text/css",
	],
	[
		"app.js",
		'document.querySelector("#hello").textContent = "Fresh at seven.";\nconsole.info("ready");\n',
		"text/javascript",
	],
	[
		"about.html",
		'<!doctype html><title>About</title><link rel="stylesheet" href="css/style.css"><h1>About</h1><p>Two bakers, one oven.</p>\n',
		"text/html",
	],
];
