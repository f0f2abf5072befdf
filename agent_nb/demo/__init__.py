"""`demo:`, the offline scripted model: no key, no network, the same answer every time.

It is not a language model. It looks for words it knows in the prompt, fills a page from templates, improves
it once and sums up, at the pace of a fast model; a second prompt changes the page. It says so itself.
"""

from agent_nb.demo.provider import DemoProvider

__all__ = ["DemoProvider"]
