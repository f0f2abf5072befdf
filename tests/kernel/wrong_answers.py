"""Answers to the exercises of the lessons that are wrong in a way that their checks must notice."""

# ruff: noqa: E501 - a cell is one string

WRONG = {
    "01_first_run": (
        "my_prompt = 'A landing page for a bakery.'",
        "added = '<main>'",
        "change = 'Make it blue.'",
    ),
    "02_from_a_screenshot": (
        "sample = PIL.Image.new('RGB', (320, 200), 'crimson')",
        "def cross_out(image):\n    ImageDraw.Draw(image).line((48, 470, 348, 600), fill='red', width=6)\n    return image",
        "def images_sent(run):\n    return 1",
    ),
    "03_files_as_values": (
        "def with_title(run, title):\n    return run.with_files({'index.html': f'<title>{title}</title>'})",
        "def added_lines(run):\n    return run.files.diff('index.html').count('+')",
        "def missing_alt(page):\n    return page.count('<img') - page.count('alt')",
    ),
    "04_tools_and_data": (
        "def totals_csv(sales):\n    return sales.groupby('product')['revenue'].mean().round(0).astype(int).to_csv()",
        "@tool\ndef worst_week(product: str) -> str:\n    '''The worst week of a product.'''\n    return best_week(product)",
        "@tool\ndef pieces(week: str) -> int:\n    '''Pieces of a week.'''\n    return int(sales.set_index('week').loc[week]['pieces'].sum())",
    ),
    "05_variants": (
        "def cheapest(run):\n    return 1",
        "names_all_stops = \"'Villach' in html\"",
        "def first_that(run, check):\n    return run.pick(3)",
    ),
    "06_how_an_agent_loop_works": (
        "def layer_counts(events):\n    return dict.fromkeys(ev.LAYERS, 2)",
        "def file_from(events, path):\n    return ''.join(event.text for event in events if isinstance(event, ev.FileDelta))[1:]",
        "@tool\ndef count_words(text: str) -> int:\n    '''Counts the letters of a text.'''\n    return len(text)",
        "async def my_agent(provider, tools, prompt, steps=10):\n    return [msg.user(prompt)]",
        "def text_shown(events):\n    return ''.join(event.text for event in events if isinstance(event, ev.TextDelta))",
    ),
    "07_cost_and_limits": (
        "limits = Limits(steps=2)",
        "def cached_share(run):\n    return run.usage.cached_write / run.usage.input",
        "def up_to(euros):\n    return lambda call, args: args['euros'] <= euros",
    ),
    "08_any_model": (
        "mine_model = model('chat:tiny', base_url=base_url, max_tokens=500)",
        "def first_usable(names):\n    return names[0]",
        "def tools_offered(request):\n    return sorted(request)",
    ),
    "09_run_a_class": (
        "my_lab = '[lab]\\nmodels = [\"demo:\"]\\nvariants = 2\\n'",
        "quiz = club.annotate(at='end', ask='Was it good?', choices=['yes', 'no', 'maybe'], answer=1)",
        "def breaks(lines):\n    return 0",
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
    "13_explore_a_table": (
        "def busiest(rides):\n    return rides.groupby('weekday')['riders'].sum().idxmax()",
        "def per_degree(rides):\n    return 1.0",
        "def share(rides):\n    return round(100 / 7)",
        "def wet_july(rides):\n    return 11, 6842",
    ),
    "14_a_page_that_talks_to_python": (
        "def unlabelled(reviews, labels):\n    return [review['id'] for review in reviews if review['id'] not in (labels or {})]",
        "def price(pieces: str, discount: float = 10.0) -> float:\n    return round(pieces * 2.20 * (1 - discount / 100), 2)",
        "def follow(page):\n    sizes = []\n    page.observe(lambda change: sizes.append(len(change.old or {})), 'labels')\n    return sizes",
    ),
    "15_eight_analysts": (
        "def spread(run):\n    return run.answers.rows()[0]['per_degree']",
        "def largest_group(run):\n    return [1]",
        "@dataclass\nclass Share:\n    share: float\n\n\ndef checked(share):\n    return Share(share)",
    ),
}
