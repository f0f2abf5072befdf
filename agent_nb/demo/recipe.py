"""Recipes: ingredients that scale with the servings and can be ticked off, and numbered steps."""

import tomllib
from dataclasses import dataclass
from functools import cache

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, art, fill, head, joined, layouts, note, rest
from agent_nb.demo.look import Look
from agent_nb.demo.texts import fits, template

_INGREDIENT = (
    '<li><label><input type="checkbox"><span>{{name}}</span><b data-amount="{{amount}}">{{amount}}</b> {{unit}}'
    "</label></li>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dish:
    """A recipe from `recipes.toml`."""

    key: str
    pattern: str
    lede: list[str]
    art: str
    minutes: int
    serves: int
    effort: str
    ingredients: list[list[str]]
    """Name, amount and unit; an empty amount is to taste."""
    steps: list[str]
    tip: str


def recipe(brief: Brief, look: Look, found: str) -> Html:
    dish = dish_of(brief.prompt[:300])
    return fill(
        template("recipe.html"),
        head=head(brief.name, look),
        later=layouts("recipe")[look.layout].later,
        name=brief.name,
        lede=brief.choice(dish.lede),
        found=note(found),
        art=art(dish.art),
        rest=rest(look),
        minutes=str(dish.minutes),
        serves=str(dish.serves),
        effort=dish.effort,
        ingredients=joined(fill(_INGREDIENT, name=n, amount=a, unit=u) for n, a, u in dish.ingredients),
        steps=joined(fill("<li><p>{{step}}</p></li>", step=step) for step in dish.steps),
        tip=dish.tip,
    )


def dish_of(prompt: str) -> Dish:
    """The first dish that fits the prompt; the last is an outline for all others."""
    return next(dish for dish in _dishes() if fits(dish.pattern, prompt))


@cache
def _dishes() -> tuple[Dish, ...]:
    return tuple(Dish(key=key, **entry) for key, entry in tomllib.loads(template("recipes.toml")).items())
