"""Forms: a few fields, validated in the page and sent nowhere."""

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, art, fill, head, joined, layouts, note, rest, spoken
from agent_nb.demo.look import Look
from agent_nb.demo.texts import purpose_of, template


def form(brief: Brief, look: Look, found: str) -> Html:
    purpose = purpose_of(brief.prompt[:300])
    layout = layouts("form")[look.layout]
    return fill(
        template("form.html"),
        head=head(brief.name, look),
        layout=layout.early,
        eyebrow=spoken("{{Subject}}", brief),
        name=brief.name,
        lede=brief.choice(purpose.lede),
        found=note(found),
        art=art(brief.trade.art, "xMidYMax meet"),
        rest=rest(look),
        later=layout.later,
        fields=joined(_field(field, f"f{i}") for i, field in enumerate(purpose.fields, start=1)),
        action=purpose.action,
    )


def _field(field: list[str], key: str) -> Html:
    label, kind, extra = field
    error = Html(f'<p class="error" id="{key}-error" role="alert"></p>')
    if kind == "radio":
        option = '<label><input type="radio" name="{{name}}" value="{{o}}" required>{{o}}</label>'
        options = joined(fill(option, name=label, o=o) for o in extra.split("|"))
        return fill(
            '<fieldset class="field"><legend>{{label}}</legend>'
            '<div class="options">\n{{options}}\n</div>{{error}}</fieldset>',
            label=label,
            options=options,
            error=error,
        )
    if kind == "tick":
        return fill(
            '<div class="field"><label class="tick"><input type="checkbox" name="Small print" value="Read" required>'
            "{{label}}</label>{{error}}</div>",
            label=label,
            error=error,
        )
    hint = fill(' <span class="hint">{{hint}}</span>', hint=extra) if extra and kind != "select" else Html("")
    return fill(
        '<div class="field"><label for="{{key}}">{{label}}{{hint}}</label>{{control}}{{error}}</div>',
        key=key,
        label=label,
        hint=hint,
        control=_control(field, key),
        error=error,
    )


def _control(field: list[str], key: str) -> Html:
    label, kind, extra = field
    shared = fill('id="{{key}}" name="{{label}}" aria-describedby="{{key}}-error"', key=key, label=label)
    match kind:
        case "select":
            options = joined((fill("<option>{{o}}</option>", o=o) for o in extra.split("|")), "")
            return Html(f'<select {shared} required><option value="">Choose one</option>{options}</select>')
        case "area":
            return Html(f'<textarea {shared} rows="3"></textarea>')
        case "message":
            return Html(f'<textarea {shared} rows="5" required></textarea>')
        case "number":
            return Html(f'<input {shared} type="number" min="1" max="8" value="2" required>')
        case _:
            complete = {"email": ' autocomplete="email"', "text": ' autocomplete="name"'}.get(kind, "")
            return Html(f'<input {shared} type="{kind}" required{complete}>')
