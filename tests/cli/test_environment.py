"""Faults of the machine are named as such, in one line, and are not called a bug."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

import hydrostat
from hydrostat import _terminal, cli, kept_files
from hydrostat.cli import main
from hydrostat.results import figures
from hydrostat.scenarios import runner

MOVES = ["run", "tentacle-repeatability", "--no-figures", "--json", "--set", "moves=20000"]
TRACKING = ["run", "track-ellipse", "--no-figures", "--json", "--set", "controller=continuous", "--set", "seconds=20"]


def call(arguments, before="", **options):
    """Run the command line in a shell, after something else."""
    quoted = " ".join(f"'{argument}'" for argument in [sys.executable, "-m", "hydrostat.cli", *arguments])
    return subprocess.run(f"{before}{quoted}", shell=True, capture_output=True, check=False, timeout=200, **options)


def one_line(done, code, *words):
    assert done.returncode == code, done.stderr
    text = done.stderr.decode()
    assert text.count("\n") == 1
    assert text.startswith("hydrostat: ")
    assert all(word in text for word in words), text
    assert "bug" not in text


def small_disk(folder):
    """The beginning of a shell command that has a disk of 64 KB there, where this machine allows it."""
    folder.mkdir()
    before = f"mount -t tmpfs -o size=64k none {folder} && "
    allowed = (
        shutil.which("unshare")
        and not subprocess.run(
            ["unshare", "-m", "sh", "-c", before + "true"], check=False, capture_output=True
        ).returncode
    )
    if not allowed:
        pytest.skip("a small disk needs the right to mount one")
    return f'exec unshare -m sh -c "{before}exec \\"\\$@\\"" sh '


@pytest.mark.slow
@pytest.mark.parametrize("run", [MOVES, TRACKING], ids=["moves", "tracking"])
def test_a_full_disk_is_named(tmp_path, run):
    before = small_disk(tmp_path / "disk")
    one_line(call([*run, "--out", str(tmp_path / "disk" / "out")], before), 3, "No space left")


@pytest.mark.slow
@pytest.mark.parametrize("run", [[*MOVES[:-1], "moves=2000000"], TRACKING], ids=["moves", "tracking"])
def test_a_file_that_may_not_grow_is_named(tmp_path, run):
    """With a limit of 64 KB to every file, as some systems set it."""
    before = "ulimit -f 64; exec "
    done = call([*run, "--out", str(tmp_path / "out")], before, executable="/bin/bash")
    one_line(done, 3, "File too large")
    # The first chunk is larger: nothing was recorded, and no empty folder is left.
    assert not (tmp_path / "out").exists()


def test_a_fault_in_the_middle_of_a_run_is_named(tmp_path, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "there")

    monkeypatch.setattr(runner, "run_scenario", full)
    assert main([*MOVES, "--out", str(tmp_path)]) == 3
    assert capsys.readouterr().err == "hydrostat: No space left on device; nothing was recorded\n"


def test_of_two_files_the_one_that_was_written_is_named(capsys):
    assert cli._fault(OSError(errno.ENOSPC, "No space left on device", "source", None, "copy")) == 3
    assert capsys.readouterr().err == "hydrostat: No space left on device at 'copy'\n"


def test_a_run_that_cannot_say_how_it_began_leaves_no_folder(tmp_path, monkeypatch, capsys):
    def full(folder, *_):
        (folder / "run.json.partial").write_text("{")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(runner, "write_beginning", full)
    assert main([*MOVES, "--out", str(tmp_path / "out")]) == 3
    assert capsys.readouterr().err == "hydrostat: No space left on device; nothing was recorded\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_a_run_says_how_it_began_leaves_no_folder(tmp_path, number):
    """At the moment at which the file is there and has not its name yet."""
    program = (
        "import os, sys, time; from hydrostat import _leaving; _leaving.listen()\n"
        "from hydrostat.scenarios import runner\n"
        "def begin(folder, *_):\n"
        "    (folder / 'run.json.partial').write_text('{')\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    time.sleep(60)\n"
        "runner.write_beginning = begin\n"
        "from hydrostat.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-c", program, *MOVES, "--out", str(tmp_path / "out")]
    one_line(subprocess.run(command, capture_output=True, check=False), 128 + number, "nothing was recorded")
    assert not (tmp_path / "out").exists()


def test_a_new_robot_file_on_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    before = small_disk(tmp_path / "disk")
    fill = f"head -c 65536 /dev/zero > {tmp_path}/disk/full; "
    done = call(["new", str(tmp_path / "disk" / "arm.toml")], before.replace("&& exec", f"&& {fill} exec"))
    one_line(done, 2, "could not be written", "No space left")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    command = [sys.executable, "-m", "hydrostat.cli", "list", b"--out", b"bad\xff"]
    done = subprocess.run(command, capture_output=True, check=False)
    one_line(done, 2, "must be UTF-8 text")


def test_closed_files_are_named():
    one_line(call(["list"], "exec >&-; "), 2, "nothing could be printed")
    one_line(call(["list"], "exec >/dev/full; "), 3, "No space left")
    done = call(["list"], "exec 2>&-; ")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"octopus-crawl" in done.stdout
    done = call(["run", "nothing"], "exec 2>&-; ")
    assert (done.returncode, done.stdout) == (2, b"")
    done = call(["list"], "exec <&- 2>&- >&-; ")
    assert done.returncode == 2


def test_a_user_without_a_home_can_run():
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    program = "import os, pwd, runpy, sys; pwd.getpwuid = lambda number: {}[number]; sys.argv = ['hydrostat', 'list']\n"
    program += (
        "import hydrostat; assert hydrostat._CACHE is None; runpy.run_module('hydrostat._entry', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"octopus-crawl" in done.stdout


@pytest.mark.slow
def test_a_user_without_a_home_can_simulate(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    arguments = ["hydrostat", "run", "arm-shorten", "--set", "activations=[0.2]", "--set", "seconds=0.1"]
    arguments += ["--json", "--no-figures", "--out", str(tmp_path)]
    program = "import pwd, runpy, sys; pwd.getpwuid = lambda number: {}[number]\n"
    program += f"sys.argv = {arguments!r}; runpy.run_module('hydrostat._entry', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["scenario"] == "arm-shorten"


@pytest.mark.slow
def test_a_run_with_a_closed_error_output_does_all_else(tmp_path):
    done = call([*MOVES, "--out", str(tmp_path)], "exec 2>&-; ")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["metrics"]["moves"] == 20000
    assert hydrostat.load(tmp_path / "tentacle-repeatability").attrs["complete"]
    # Closed from the start, and something is wrong.
    done = call([*MOVES, "--out", "/dev/null/x"], "exec 2>&-; ")
    assert (done.returncode, done.stdout) == (2, b"")


def test_escape_sequences_do_not_reach_the_terminal(capsys):
    assert main(["list", "--what", "\x1b]0;title\x07"]) == 2
    assert "\x1b" not in capsys.readouterr().err
    assert main(["new", "\x1b[31m.txt"]) == 2
    assert "\x1b" not in capsys.readouterr().err
    assert _terminal.plain("a\x1b[31mb\x9b\ttab\n") == "a\\x1b[31mb\\x9b\\ttab\n"


def test_a_name_that_looks_like_mathematics_is_drawn_as_it_is(tmp_path):
    figure = figures.new_figure(3.0, 2.0)
    axes = figure.add_subplot()
    axes.plot([1.0, 1e3], [1.0, 1e3], label=r"$\frac{1}{0$")
    axes.set_yscale("log")
    axes.legend()
    figures.style_axes(axes, r"$\frac{1}{0$", r"$x_{", "$$")
    figure.suptitle(r"robot $\frac{1}{0$")
    figures.save(figure, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 0
    assert any("mathdefault" in label.get_text() and label.get_parse_math() for label in axes.get_yticklabels())


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "hydrostat" / "code"


def test_a_cache_is_private_and_bounded(cache):
    kept = kept_files.KeptFiles("code")
    kept.store("one", b"content")
    assert kept.load("one") == b"content"
    assert cache.stat().st_mode & 0o777 == 0o700
    assert (cache / "one").stat().st_mode & 0o777 == 0o600
    for number in range(100):
        kept.store(f"entry{number:03}", bytes(1000), most_bytes=20_000)
        assert sum(entry.stat().st_size for entry in cache.iterdir()) <= 20_000
    assert kept.load("entry099") == bytes(1000)


def test_a_damaged_entry_is_removed_without_a_word(cache, recwarn):
    kept = kept_files.KeptFiles("code")
    kept.store("one", b"content")
    for damage in (b"", b"short", (cache / "one").read_bytes()[:-1]):
        (cache / "one").write_bytes(damage)
        assert kept.load("one") is None
        assert not (cache / "one").exists()
    assert not list(recwarn)


def test_what_belongs_to_others_is_not_used(cache, tmp_path, monkeypatch):
    kept = kept_files.KeptFiles("code")
    kept.store("one", b"content")
    (cache / "two").symlink_to(cache / "one")
    assert kept.load("two") is None
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: 12345)
        assert kept.folder() is None
        assert kept.load("one") is None
    shutil.rmtree(cache)
    cache.symlink_to(tmp_path)
    assert kept.folder() is None


def test_an_entry_that_others_could_write_is_not_loaded(cache):
    kept = kept_files.KeptFiles("code")
    for spoil in (lambda entry: entry.chmod(0o666), lambda entry: os.link(entry, cache / "elsewhere")):
        kept.store("one", b"content")
        spoil(cache / "one")
        assert kept.load("one") is None
        assert not (cache / "one").exists()


def test_a_folder_that_others_could_write_to_becomes_private(cache):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    assert kept_files.KeptFiles("code").folder() == cache
    assert cache.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.getuid() == 0, reason="the superuser can write everywhere")
def test_a_folder_that_cannot_be_written_is_not_used(cache):
    cache.mkdir(parents=True)
    cache.chmod(0o500)
    assert kept_files.KeptFiles("code").folder() is None


@pytest.mark.slow
def test_a_damaged_entry_of_jax_is_replaced_without_a_warning(tmp_path):
    program = "from hydrostat import compiling; import jax; print(float(jax.jit(lambda x: 3.0 * x)(1.0)))"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)

    def run():
        command = [sys.executable, "-W", "error", "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"3.0\n", b"")
        return {path.name: path.read_bytes() for path in (tmp_path / "hydrostat" / "jax").iterdir()}

    kept = run()
    assert kept
    for name in kept:
        (tmp_path / "hydrostat" / "jax" / name).write_bytes(b"damaged")
    assert run().keys() == kept.keys()
    assert all(path.stat().st_size > 100 for path in (tmp_path / "hydrostat" / "jax").iterdir())
