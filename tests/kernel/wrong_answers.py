"""Answers to the exercises of the lessons that are wrong in a way that their checks must notice."""

# ruff: noqa: E501 - a cell is one string

WRONG = {
    "06_how_an_agent_loop_works": (
        "def layer_counts(events):\n    return dict.fromkeys(LAYERS, 2)",
        "def file_from(events, path):\n    return ''.join(event.text for event in events if isinstance(event, FileDelta))[1:]",
        "@tool\ndef count_words(text: str) -> int:\n    '''Counts the letters of a text.'''\n    return len(text)",
        "async def my_agent(provider, tools, prompt, steps=10):\n    return [user(prompt)]",
        "def text_shown(events):\n    return ''.join(event.text for event in events if isinstance(event, TextDelta))",
    ),
    "10_debug_an_agent": (
        "@tool\ndef price(product: str) -> str:\n    '''The price of a product per kilogram.'''\n    return str(PRICES[product])",
        "edit = {'path': 'index.html', 'old': '    let total', 'new': '    let totl'}",
        "check = 'len(html) > 100'",
        "budget = 0.02",
    ),
    "11_compare_models": (
        "def spread(table):\n    return table.groupby('model')['closeness'].std().to_dict()",
        "def winners(table):\n    return {'anthropic': 27}",
        "three_columns = \"'1fr' in html\"",
        "def runs_needed(values, error):\n    return max(values) / error",
    ),
    "12_from_a_question_to_a_page": (
        "mine = pd.DataFrame({'word': ['only', 'words']})",
        "def best_by_revenue(sales):\n    return 'tea'",
        "def no_files(call, args):\n    return True",
    ),
}
