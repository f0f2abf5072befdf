"""Asks an executor how many workers it has. Not all of them say."""

import contextlib
from concurrent.futures import Executor


def worker_count(executor: Executor) -> int | None:
    """How many workers a Dask or ipyparallel cluster has now; None if it is not known.

    Blocks: call it in a thread.
    """
    with contextlib.suppress(Exception):  # a cluster that has gone
        view = getattr(executor, "view", None)
        if view is not None:  # ipyparallel
            return len(view.client.ids)
        client = getattr(executor, "_client", None)  # Dask has no public name for it
        if client is not None and not client.asynchronous:
            return len(client.scheduler_info()["workers"])
    return None
