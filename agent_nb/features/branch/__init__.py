"""Kernel tools that work in a copy of the kernel: `--branch`, `Agent(branch=True)`, and each of several variants."""

from agent_nb.core.feature import Feature, Setting, flag

BRANCH: Feature[bool] = Feature(
    "branch",
    option=flag(
        "--branch",
        "Let the kernel tools work in a copy of the kernel, so that your variables stay unchanged.",
        default=False,
        after="bind",
    ),
    keyword=True,
    setting=Setting(
        sent="tools",
        matched="no",  # a replay executes nothing
        accepted_by={},
        stricter=lambda own, other: own or other,
        header=lambda branch: "in a branch: your variables are unchanged",
        dry_run="Branch",
        kind=bool,
    ),
    inherits=False,  # variants that continue a run choose for themselves
    code="agent_nb.features.branch.run:InBranch",
)
