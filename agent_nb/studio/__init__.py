"""Who makes pictures for a run: a maker that draws from words, a cutter that takes backgrounds away.

The tools know these small protocols, the vendors' files fulfil them; here are the local ones, which need no
key and no network and say what they are.
"""

from agent_nb.studio.base import ASPECTS, EDITS, INPUTS, Cutter, Cutting, ImageMaker, Order, Studio
from agent_nb.studio.bill import Bill

__all__ = ["ASPECTS", "EDITS", "INPUTS", "Bill", "Cutter", "Cutting", "ImageMaker", "Order", "Studio"]
