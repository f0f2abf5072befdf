"""Portfolios: a short introduction and a wall of works, each a composition drawn for this prompt."""

import random

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, emphasised, fill, head, head_font, joined, layouts, note, rest, spoken
from agent_nb.demo.look import Look
from agent_nb.demo.sections import section
from agent_nb.demo.texts import template

_TITLES = ("First light", "The long wall", "Tide, falling", "Noon", "Two rooms", "After rain")
_SHAPES = (
    '<circle cx="{x}" cy="{y}" r="{r}" fill="{a}"/><path d="M0 {low}c90-{r} 170 {r} 300-20v300H0z" fill="{b}"/>',
    '<path d="M{x} {low}V{y}a{r} {r} 0 0 1 {d} 0v{low}z" fill="{a}"/><path d="M0 {low}h300v300H0z" fill="{b}"/>',
    '<path d="M0 {low}L{x} {y}l{d} {r}L300 {y}v400H0z" fill="{a}"/><circle cx="228" cy="66" r="30" fill="{b}"/>',
    '<g fill="{a}"><path d="M{x} 0h{r}v400h-{r}z"/></g><circle cx="{x}" cy="{low}" r="{r}" fill="{b}"/>',
    '<g fill="none" stroke="{a}" stroke-width="16"><circle cx="150" cy="{low}" r="{r}"/><circle cx="150" cy="{low}" '
    'r="{d}"/></g><circle cx="150" cy="{low}" r="26" fill="{b}"/>',
    '<path d="M40 {low}a{r} {r} 0 0 1 {d} 0z" fill="{a}"/><path d="M{x} {low}a{r} {r} 0 0 0 {d} 0z" fill="{b}"/>',
)  # fmt: skip
_INKS = ("var(--accent)", "var(--glow)", "var(--deep)", "var(--tint)", "var(--sky)")


def portfolio_sections(brief: Brief) -> list[str]:
    """The sections asked for, or a word about the maker if none were; contact is always last."""
    return [*([name for name in brief.wants if name != "contact"] or ["about"]), "contact"]


def portfolio(brief: Brief, look: Look, found: str) -> Html:
    trade = brief.trade
    return fill(
        template("portfolio.html"),
        head=head(brief.name, look),
        head_font=head_font(look),
        wall=layouts("portfolio")[look.layout].later,
        name=brief.name,
        eyebrow=spoken(trade.eyebrow, brief),
        headline=emphasised(spoken(brief.choice(trade.headline), brief)),
        lede=spoken(brief.choice(trade.lede), brief),
        found=note(found),
        rest=rest(look),
        works=joined(_works(brief)),
        sections=joined(section(name, brief) for name in portfolio_sections(brief)),
    )


def _works(brief: Brief) -> list[Html]:
    """Six compositions, in an order and with proportions of their own for every prompt and variant."""
    chance = random.Random(brief.seed + brief.variant)
    shapes = chance.sample(_SHAPES, len(_SHAPES))
    figure = (
        '<figure><svg viewBox="0 0 300 {{height}}" preserveAspectRatio="xMidYMid slice" role="img" '
        'aria-label="{{title}}, an abstract composition"><path fill="{{ground}}" d="M0 0h300v420H0z"/>{{shape}}</svg>'
        "<figcaption><i>{{title}}</i> · sample {{number}}</figcaption></figure>"
    )
    works = []
    for number, (title, shape) in enumerate(zip(_TITLES, shapes, strict=True), start=1):
        ground, one, two = chance.sample(_INKS, 3)
        r = chance.randrange(50, 84)
        places = {"x": chance.randrange(70, 170), "y": chance.randrange(70, 130), "r": r, "d": r * 2}
        drawn = shape.format(a=one, b=two, low=chance.randrange(200, 250), **places)
        height = chance.choice((240, 300, 360, 400))
        works.append(
            fill(
                figure, height=str(height), title=title, ground=ground, shape=Html(drawn), number=str(number)
            )
        )
    return works
