"""The preferences as JupyterLab's server reads them: by the plugin's id, with a hub's `overrides.json`."""

import json

import pytest
from jupyterlab_server.settings_utils import get_settings

from tests.support import ROOT


@pytest.mark.parametrize("overrides", [{}, {"fixButton": False}])
def test_the_server_finds_the_schema_and_the_overrides_of_a_hub(tmp_path, monkeypatch, overrides):
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    (tmp_path / "overrides.json").write_text(json.dumps({"agent-nb:cells": overrides}))
    for folder in ("labextensions", "schemas"):
        (tmp_path / folder).mkdir()
    (tmp_path / "labextensions" / "agent-nb").symlink_to(ROOT / "agent_nb" / "static" / "lab")
    paths = {"labextensions_path": [str(tmp_path / "labextensions")], "settings_dir": str(tmp_path)}
    every, _ = get_settings(str(tmp_path), str(tmp_path / "schemas"), **paths)
    assert [entry["id"] for entry in every["settings"]] == ["agent-nb:cells"]
    one, _ = get_settings(str(tmp_path), str(tmp_path / "schemas"), schema_name="agent-nb:cells", **paths)
    defaults = {name: entry["default"] for name, entry in one["schema"]["properties"].items()}
    assert defaults == {"fixButton": True, "prosePrompts": True, "stageFollows": True, **overrides}
