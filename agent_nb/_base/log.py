"""The logger of the package. Secrets are masked in its lines and tracebacks before any handler sees them."""

import logging

from agent_nb._base.secrets import mask

_FORMAT = logging.Formatter()
log = logging.getLogger("agent_nb")


class Masking(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = mask(record.getMessage()), ()
        if record.exc_info:
            # As text only: a handler that formats the exception itself would print its values.
            record.exc_text = mask(_FORMAT.formatException(record.exc_info))
            record.exc_info = None
        return True


log.addFilter(Masking())
