"""Tells questions, which the demo model cannot answer, from requests for a page or a change."""

import re

_READ = 400
"""Characters of a prompt that are looked at."""
_PAGE = re.compile(
    r"\b(?:page|(?:web ?)?site|app|game|snake|tic[- ]?tac[- ]?toe|dashboard|chart|report|form|sign[- ]?up|survey"
    r"|article|blog|essay|post|story|tutorial|guide|recipe|portfolio|documentation)s?\b",
    re.I,
)
_MAKING = (
    r"(?:make|build|create|design|write|draw|generate|show|give|code|develop|produce|add|change|remove|delete|drop"
    r"|rename|call|name|set|use|turn|put|replace|move|try|increase|reduce)\b"
)
_POLITE = r"^\W*(?:(?:please|so|now|and|but|hi|hello|hey)\b[\s,]*)*"
_MARKED = re.compile(
    rf"{_POLITE}(?:(?:what|who|whom|whose|which|when|where|why|how)\b(?! about)"
    r"|(?:is|are|was|were|am|do|does|did|has|have)\b(?! (?:it possible|there a way))"
    rf"|(?:can|could|would|will|should|shall) (?:you|i|we)\b(?! (?:please )?{_MAKING}))",
    re.I,
)
"""The beginning of a question that ends with a question mark."""
_UNMARKED = re.compile(
    rf"{_POLITE}(?:(?:what|who|when|where|why|how)"
    r"(?:['’]s| (?:is|are|was|were|do|does|did|can|should|will|much|many|old|far))\b"
    r"|(?:can you )?(?:tell me|explain|define|translate|summari[sz]e|calculate|compute)\b)",
    re.I,
)
_GREETING = re.compile(r"\W*(?:hi|hello|hey|thanks|thank you|good (?:morning|evening))(?: there)?\W*", re.I)


def is_question(prompt: str) -> bool:
    """Whether the first paragraph asks for knowledge, or only greets."""
    asked = prompt.strip()[:_READ].partition("\n\n")[0].strip()
    if _GREETING.fullmatch(asked):
        return True
    if asked.endswith("?") and _MARKED.match(asked):
        return True
    return _UNMARKED.match(asked) is not None and not _PAGE.search(asked)
