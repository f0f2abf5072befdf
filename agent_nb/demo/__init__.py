"""`demo:`, the offline scripted model: no key, no network, the same answer every time.

It is not a language model, and says so. It looks for known words in the prompt, fills a page from templates,
improves it once and sums up, at the pace of a fast model. A second prompt changes the page.
"""

from agent_nb.demo.provider import DemoProvider

__all__ = ["DemoProvider"]
