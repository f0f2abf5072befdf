"""The table of all answers, below what each variant has."""

from agent_nb.plugins import Addition, FeatureCode, Run


class AllAnswers(FeatureCode[None]):
    def addition(self, run: Run) -> Addition | None:
        has_answers = any(variant.plain_answer is not None for variant in run.variants)
        return Addition(below=[run.answers.table()]) if len(run.variants) > 1 and has_answers else None
