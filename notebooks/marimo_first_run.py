import marimo

__generated_with = "0.25.2"

app = marimo.App(width="medium")


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # A first run in marimo

    `agent_nb.marimo.agent` runs a prompt and shows it live in the cell's output. It returns the `Run` and its view.
    The offline demo model answers here, so no key is needed. To use another model, set `model=`.
    """)
    return


@app.cell
def _():
    import agent_nb.marimo
    import marimo as mo

    return agent_nb, mo


@app.cell
def _(mo):
    colour = mo.ui.dropdown(["warm", "blue", "green"], value="warm", label="Colours")
    colour
    return (colour,)


@app.cell
async def _(agent_nb, colour):
    hero, hero_view = await agent_nb.marimo.agent(
        f"A landing page for a small bakery in Lyon, {colour.value} colours, opening hours.",
        name="hero",
        model="demo:",
    )
    return hero, hero_view


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    Choose another colour: marimo runs the cell again, because its prompt has changed. Go back to the first one: the
    cell plays what it has recorded, and the model is not asked. Recordings are in `__marimo__/agent_nb/`.

    The files are Python values.
    """)
    return


@app.cell
def _(hero, mo):
    mo.ui.table([{"file": path, "characters": len(content)} for path, content in hero.files.items()])
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Pick a variant, point at an element

    With `variants=3` the model answers three times at once. Press **Pick** on one of them, or point at an element with
    the arrow button above a page: the cell below runs again.
    """)
    return


@app.cell
async def _(agent_nb):
    cards, cards_view = await agent_nb.marimo.agent(
        "A business card for a clockmaker", name="cards", model="demo:", variants=3
    )
    return cards, cards_view


@app.cell
def _(cards, cards_view, mo):
    _picked = cards_view.run
    _elements = [_picked.element(**place).html for place in cards_view.value["selection"]]
    mo.md(
        f"Variant {cards_view.value['variant']} of {len(cards.variants)}, {len(_picked.html)} characters. "
        f"Elements: {_elements or 'none'}"
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Continue

    `base=` continues from a run. **Ask for a change** below a run writes such a cell for you.
    """)
    return


@app.cell
async def _(agent_nb, hero):
    hero_2, hero_2_view = await agent_nb.marimo.agent(
        "Call it Petit Four", name="hero_2", model="demo:", base=hero
    )
    return


if __name__ == "__main__":
    app.run()
