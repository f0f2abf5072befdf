"""What lasts between cells."""


def test_home_is_where_the_extension_was_loaded(shell, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert shell.session.home == tmp_path


def test_commands_carry_the_configured_name(shell):
    assert shell.session.command("load hero") == "%agent load hero"
    shell.run("%config AgentMagics.magic_name = 'robot'")
    assert shell.session.command("load hero") == "%robot load hero"
    assert "--budget" in shell.run("%robot help").stdout
