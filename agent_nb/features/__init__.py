"""The built-in features, in the order in which their hooks run.

The parts of a prompt come first, in the order in which they are sent, and `middleware` before what asks the user: a
missing variable stops the cell. `look` comes before `code_first`, which replaces its text; `elements` before `branch`,
which also adds to the question. `branch` comes before `code_first`, which reads its answer in the branch, and `agree`
before both, since each try has a branch. `code_first` comes before `answer`, which leaves a typed answer to it.
`no_raise` comes before `check`, which leaves out a run that fails the cell anyway.
"""

from agent_nb.features.agents_md import AGENTS_MD
from agent_nb.features.agree import AGREE
from agent_nb.features.answer import ANSWER
from agent_nb.features.answers import ANSWERS
from agent_nb.features.ask_user import ASK_USER
from agent_nb.features.branch import BRANCH
from agent_nb.features.certificate import CERTIFICATE
from agent_nb.features.check import CHECK
from agent_nb.features.code_first import CODE_FIRST
from agent_nb.features.doctor import DOCTOR
from agent_nb.features.elements import ELEMENTS
from agent_nb.features.lend import LEND
from agent_nb.features.look import LOOK
from agent_nb.features.middleware import MIDDLEWARE
from agent_nb.features.no_raise import NO_RAISE
from agent_nb.features.numbers import NUMBERS
from agent_nb.features.prompt import PARTS
from agent_nb.features.save import SAVE
from agent_nb.features.save_runs import SAVE_RUNS
from agent_nb.features.saved_image import SAVED_IMAGE

BUILT_IN = (
    *PARTS, MIDDLEWARE, AGENTS_MD, LOOK, ELEMENTS, AGREE, BRANCH, CODE_FIRST, ANSWER, SAVE, SAVE_RUNS, NO_RAISE,
    CHECK, SAVED_IMAGE, ASK_USER, NUMBERS, ANSWERS, LEND, DOCTOR, CERTIFICATE
)  # fmt: skip
