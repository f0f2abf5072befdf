"""What built-in features may use of the package besides `agent_nb.plugins`. It is not promised to plugins."""

from agent_nb.core.events import ENDINGS
from agent_nb.core.limited import UnreadableError, call_within
from agent_nb.core.run_settings import ANSWER_TOOL, CODE_TOOL, DATA_TOOLS, stricter
from agent_nb.engine.description import joined
from agent_nb.engine.draft import DECLINED
from agent_nb.engine.ending import EndRun
from agent_nb.engine.feature_code import StartRuns
from agent_nb.engine.journal import Journal
from agent_nb.engine.middleware import check_middleware, methods_of
from agent_nb.engine.saving import Saving
from agent_nb.engine.start import VariantsHandle
from agent_nb.engine.tool_runner import ToolRunner
from agent_nb.files import targets_of, write_files
from agent_nb.files.active import acting_files
from agent_nb.files.notebook_cells import read_notebook_cells
from agent_nb.images.pillow import opened, saved, top_of
from agent_nb.pages.chromium import ChromiumViewer
from agent_nb.pages.element_look import parts_about
from agent_nb.pages.find_element import Element
from agent_nb.pages.page_check import DESKTOP, CheckRequest, PageCheck, PageViewer, ViewerUnavailableError
from agent_nb.pages.preview import used_files
from agent_nb.prompts import code_correction, code_request, prompt_text
from agent_nb.providers.base import CodeBlocks
from agent_nb.providers.fenced_code import python_blocks
from agent_nb.providers.http import make_client
from agent_nb.providers.quotations import canonical_code, is_code_quoted, sent_texts
from agent_nb.providers.requirements import outdated
from agent_nb.providers.settings import Settings, key_source
from agent_nb.providers.vendors import VENDORS
from agent_nb.render.answer_numbers import MOST_NUMBERS, AnswerNumber
from agent_nb.render.answers import answer_table
from agent_nb.render.safe_markdown import as_text
from agent_nb.render.summary import offered_changes
from agent_nb.run.cells import changes_names, kept_steps
from agent_nb.run.code_names import names_in, parse_cell
from agent_nb.run.compare import failure_of, scope_of
from agent_nb.run.printed import printed_text
from agent_nb.run.run import combine_variants
from agent_nb.run.run_reader import load
from agent_nb.run.store import RunStore
from agent_nb.run.supported_numbers import TracedNumber, line_with, output_text, traced_numbers
from agent_nb.tools.answer import AnswerType, answer_type
from agent_nb.tools.base import Branch, BranchMaker, LoadedData
from agent_nb.tools.preview_tools import PAGE_VIEWER
from agent_nb.tools.schema import described, tool_spec
from agent_nb.tools.toolbox import masked
