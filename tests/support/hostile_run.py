"""A run in which everything that a model, a tool or a person wrote would load an address when it is shown."""

from dataclasses import replace

from agent_nb import Agent, Run, tool
from agent_nb._base.constants import NAMES_TYPE
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import Toolbox
from agent_nb.tools.base import ToolOutput
from tests.support.markdown_forms import FORMS

HTML = [
    "<table background=URL><tr><td style='background: url(URL)'>a</td></tr></table>",
    "<style>@import 'URL'; td { background: url(URL) }</style><p>a</p>",
    "<picture><source srcset=URL><img srcset='URL 2x'></picture><video poster=URL></video><audio src=URL></audio>b",
    "<iframe src=URL></iframe><object data=URL></object><embed src=URL><input type=image src=URL>c",
    "<svg><image href=URL /><style>@import 'URL'</style></svg>d<script>fetch('URL')</script>",
    "<p>a</p><link rel=stylesheet href=URL><body background=URL><ul style='list-style: url(URL)'><li>e",
    "<b><img src=URL>" * 300,
]
SVG = "<svg xmlns='http://www.w3.org/2000/svg'><image href='URL'/><style>@import 'URL';</style></svg>"


def hostile_outputs(url: str) -> list[dict]:
    """Outputs with every form of Markdown, as Markdown and as HTML, and with all forms of HTML."""
    forms = [form.replace("URL", url) for form in FORMS]
    markup = [form.replace("URL", url) for form in HTML]
    svg = {"image/svg+xml": SVG.replace("URL", url)}
    shown = [{"text/markdown": form} for form in forms] + [{"text/html": form} for form in (*forms, *markup)]
    return [*shown, {"text/html": [*markup]}, svg]


async def hostile_run(url: str) -> Run:
    pixel = f"![x]({url}) <img src={url}>"
    forms = [form.replace("URL", url) for form in FORMS]
    half = len(forms) // 2

    @tool
    def run_python(code: str) -> ToolOutput:
        """Runs code."""
        images = {"image/png": f"a]({url}) {pixel}", f"image/{pixel}": "AA=="}
        names = {NAMES_TYPE: {"kinds": {f"a{pixel}": pixel}}}
        outputs = (*hostile_outputs(url), {"text/plain": pixel}, images, names)
        return ToolOutput(text=pixel, summary=pixel, outputs=outputs)

    turns = [
        [text("\n\n".join(forms[:half])), call("run_python", {"code": f"# {pixel}\n1"})],
        [call("create_file", {"path": "x ![a](http:/p).html", "content": pixel})],
        [text("\n\n".join(forms[half:]))],
    ]
    with ScriptedProvider(turns) as provider:
        run = await Agent(provider, tools=[*Toolbox.default(), run_python], approve="auto").run(pixel)
    settings = {**run.settings, "effort": pixel}
    run = replace(run, model=f"x:`{pixel}|`", failed_check=pixel, error=pixel, settings=settings)
    return run.annotate("end", "\n\n".join(forms[half:]), ask=pixel, choices=[pixel, "none"], answer=pixel)
