"""What lasts between cells."""


def test_home_is_where_the_extension_was_loaded(shell, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert shell.session.home == tmp_path


def test_the_namespace_is_that_of_the_shell(shell):
    shell.run("town = 'Lyon'")
    assert shell.session.namespace["town"] == "Lyon"


def test_defaults_follow_config(shell):
    shell.run("%config AgentMagics.steps = 7")
    assert shell.session.defaults.steps == 7


def test_commands_carry_the_configured_name(shell):
    assert shell.session.command("load hero") == "%agent load hero"
    shell.run("%config AgentMagics.magic_name = 'robot'")
    assert shell.session.command("load hero") == "%robot load hero"
    assert "--budget" in shell.run("%robot help").stdout


def test_a_deleted_working_directory_does_not_lose_the_magics(shell, tmp_path, monkeypatch):
    gone, home = tmp_path / "gone", tmp_path / "home"
    gone.mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(gone)
    gone.rmdir()
    reloaded = shell.run("%reload_ext agent_nb")
    assert reloaded.ok
    assert f"The working directory has been deleted, so runs are saved in {home}." in reloaded.stdout
    assert shell.run("%%agent hero -m demo: --pace 0 --plain\nA form").ok
    assert [path.name for path in home.glob(".agent_nb/runs/*-hero-*.json")]
