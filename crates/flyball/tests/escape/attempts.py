"""What a hostile agent tries. Each attempt says on a line of its own whether it went through.

    attempts.py GROUP STATE

`through` means that what must not be possible was possible; the suite plays each group without and
with what protects against it.
"""

import ctypes
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys

GROUP, STATE = sys.argv[1], sys.argv[2]
HOME = os.environ["HOME"]
VICTIM = os.path.join(STATE, "victim")
LIBC = ctypes.CDLL(None, use_errno=True)


def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def arguments(pid):
    with open(f"/proc/{pid}/cmdline") as file:
        return file.read().split("\0")


def flyball():
    """The flyball above: the parent of the keeper, whatever stands between."""
    pid = os.getpid()
    while True:
        pid = parent(pid)
        words = arguments(pid)
        if "__keeper" not in words and "run" in words and "flyball" in os.path.basename(words[0]):
            return pid


def syscall(number, *args):
    result = LIBC.syscall(number, *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def write(path, text="x"):
    with open(path, "a") as file:
        file.write(text)


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, **more)
    if done.returncode:
        raise OSError(done.returncode, (done.stderr or done.stdout).strip()[:200])
    return done.stdout


def tried(*words):
    """Something that may fail: what counts is what is possible afterwards."""
    subprocess.run(words, capture_output=True, timeout=60)


ATTEMPTS = {}


def attempt(number, group):
    def keep(function):
        ATTEMPTS[number] = (group, function)
        return function

    return keep


# The state folder.


@attempt(1, "state")
def append_to_journal():
    os.close(os.open(os.path.join(STATE, "journal.sqlite"), os.O_WRONLY | os.O_APPEND))


@attempt(2, "state")
def truncate():
    os.truncate(VICTIM, 0)


@attempt(3, "state")
def create():
    write(os.path.join(STATE, "new"))


@attempt(4, "state")
def unlink():
    os.unlink(os.path.join(STATE, "victim-to-unlink"))


@attempt(5, "state")
def rename_folder():
    os.rename(os.path.join(STATE, "victim-folder"), os.path.join(STATE, "victim-moved"))


@attempt(6, "state")
def chmod():
    os.chmod(VICTIM, 0o640)


@attempt(7, "state")
def utime():
    os.utime(VICTIM, (1, 1))


@attempt(8, "state")
def setxattr():
    os.setxattr(VICTIM, "user.flyball", b"x")


@attempt(9, "state")
def hardlink():
    os.link(VICTIM, os.path.join(HOME, "hardlink"))
    write(os.path.join(HOME, "hardlink"))


@attempt(10, "state")
def symlink():
    place = os.path.join(HOME, "symlink")
    os.symlink(VICTIM, place)
    write(place)


@attempt(11, "state")
def own_root():
    write("/proc/self/root" + VICTIM)


@attempt(12, "state")
def root_of_flyball():
    write(f"/proc/{flyball()}/root" + VICTIM)


@attempt(13, "state")
def cwd_of_flyball():
    write(f"/proc/{flyball()}/cwd/../deep/state/victim")


@attempt(14, "state")
def descriptor_of_flyball():
    folder = f"/proc/{flyball()}/fd"
    for name in os.listdir(folder):
        if os.readlink(os.path.join(folder, name)).endswith("journal.sqlite"):
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            return
    raise OSError("no such descriptor")


@attempt(15, "state")
def memory_of_flyball():
    os.close(os.open(f"/proc/{flyball()}/mem", os.O_RDWR))


@attempt(16, "state")
def ptrace():
    LIBC.ptrace.argtypes = [ctypes.c_long] * 4
    pid = flyball()
    # Seize: the process is not stopped by it.
    if LIBC.ptrace(0x4206, pid, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


@attempt(17, "state")
def pidfd_getfd():
    handle = syscall(434, flyball(), 0)
    os.close(syscall(438, handle, 0, 0))


@attempt(18, "state")
def nsenter():
    run("nsenter", "-t", str(flyball()), "-m", "sh", "-c", f"echo x >> {VICTIM}")


@attempt(19, "state")
def remount():
    tried("mount", "-o", "remount,rw,bind", STATE)
    write(VICTIM)


@attempt(20, "state")
def unmount():
    tried("umount", STATE)
    tried("umount", "-l", STATE)
    write(VICTIM)


@attempt(21, "state")
def in_own_namespace():
    script = f"mount -o remount,rw,bind {STATE}; umount {STATE}; umount -l {STATE}; echo x >> {VICTIM}"
    run("unshare", "-Urm", "sh", "-c", script)


@attempt(22, "state")
def bubblewrap():
    run("bwrap", "--dev-bind", "/", "/", "--bind", STATE, STATE, "sh", "-c", f"echo x >> {VICTIM}")


@attempt(23, "state")
def bubblewrap_elsewhere():
    place = os.path.join(HOME, "elsewhere")
    os.makedirs(place, exist_ok=True)
    script = f"echo x >> {place}/victim"
    run("bwrap", "--dev-bind", "/", "/", "--bind", STATE, place, "sh", "-c", script)


@attempt(24, "state")
def open_by_handle():
    class Handle(ctypes.Structure):
        _fields_ = [("size", ctypes.c_uint), ("kind", ctypes.c_int), ("bytes", ctypes.c_ubyte * 128)]

    handle, mount = Handle(size=128), ctypes.c_int()
    path = VICTIM.encode()
    syscall(303, -100, path, ctypes.byref(handle), ctypes.byref(mount), 0)
    # From the mount of another folder of the same file system.
    folder = os.open(HOME, os.O_RDONLY)
    os.close(syscall(304, folder, ctypes.byref(handle), os.O_WRONLY | os.O_APPEND))


@attempt(25, "state")
def move_mount_away():
    place = os.path.join(HOME, "moved-mount")
    os.makedirs(place, exist_ok=True)
    tried("mount", "--move", STATE, place)
    write(VICTIM)


@attempt(27, "state")
def sqlite():
    journal = sqlite3.connect(os.path.join(STATE, "journal.sqlite"), timeout=20)
    journal.execute("CREATE TABLE forged (x)")
    journal.execute("DROP TABLE forged")
    journal.commit()


@attempt(29, "state")
def forged_question():
    """A question in the name of another run at the door of this one."""
    door = socket.socket(socket.AF_UNIX)
    door.settimeout(20)
    door.connect(os.path.join(STATE, "runs", os.environ["FLYBALL_RUN"], "door.sock"))
    door.sendall(b'{"v":1,"run":"another","iteration":1,"agent":"x","input":{"kind":"nothing"}}\n')
    if b"refused" in door.recv(4096):
        raise OSError("refused at the door")


@attempt(32, "state")
def user_config():
    folder = os.path.join(HOME, ".config/flyball")
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "forged.toml"), "")


@attempt(33, "state")
def vault():
    write(os.path.join(STATE, "vault/forged"))


@attempt(69, "state")
def read_secret():
    with open(os.path.join(STATE, "secrets/token")) as file:
        assert file.read() == "secret"


@attempt(70, "state")
def own_input():
    """What the agent reads was opened outside; opened anew for writing it must not be."""
    os.close(os.open("/proc/self/fd/0", os.O_RDWR))
    with open("/proc/self/fdinfo/0"):
        pass
    if not stat.S_ISREG(os.fstat(0).st_mode):
        raise OSError("no file")


# What a workspace hides and keeps.


def reads(number, name, text="secret"):
    @attempt(number, "workspace")
    def read():
        with open(os.path.join(HOME, name)) as file:
            if text not in file.read():
                raise OSError("empty")


reads(36, ".ssh/id_ed25519")
reads(37, ".aws/credentials")
reads(38, ".config/gh/hosts.yml")
reads(39, ".kube/config")
reads(40, ".docker/config.json")
reads(41, ".netrc")
reads(42, ".npmrc")
reads(43, ".gnupg/private")
reads(44, ".codex/auth.json")


@attempt(45, "workspace")
def write_home():
    for name in [".bashrc", ".gitconfig", "other/.git/hooks/pre-commit"]:
        try:
            write(os.path.join(HOME, name))
            return
        except OSError:
            pass
    raise OSError("nothing of it can be written")


@attempt(46, "workspace")
def write_system():
    write(os.path.join(os.environ["FLYBALL_TEST_SYSTEM"], "planted"))


@attempt(47, "workspace")
def uncover():
    script = f"umount {HOME}/.ssh; umount -l {HOME}/.ssh; grep -q secret {HOME}/.ssh/id_ed25519"
    run("unshare", "-Urm", "sh", "-c", script)


@attempt(48, "workspace")
def agent_sockets():
    door = socket.socket(socket.AF_UNIX)
    door.connect(os.path.join(os.environ["FLYBALL_TEST_RUNTIME"], "bus"))


@attempt(49, "workspace")
def hand_over():
    """What starts a program later or elsewhere: the user's manager, and the tables of cron and at."""
    through = []
    for name in ["systemd/private", "systemd/notify"]:
        try:
            door = socket.socket(socket.AF_UNIX)
            door.connect(os.path.join(os.environ["FLYBALL_TEST_RUNTIME"], name))
            through.append(name)
        except OSError:
            pass
    for name in ["crontabs/user", "atjobs/a"]:
        try:
            write(os.path.join(os.environ["FLYBALL_TEST_SYSTEM"], name))
            through.append(name)
        except OSError:
            pass
    units = os.path.join(HOME, ".config/systemd/user")
    try:
        os.makedirs(units, exist_ok=True)
        write(os.path.join(units, "planted.service"))
        through.append("unit")
    except OSError:
        pass
    if not through:
        raise OSError("nobody takes it over")
    print("49 through:", through)


@attempt(50, "workspace")
def variables():
    if "GITHUB_TOKEN" not in os.environ and "AWS_PROFILE" not in os.environ:
        raise OSError("taken out")


# Without a network.


def connect(address, family=socket.AF_INET, kind=socket.SOCK_STREAM):
    line = socket.socket(family, kind)
    line.settimeout(10)
    line.connect(address)
    return line


@attempt(52, "offline")
def loopback_of_the_machine():
    connect(("127.0.0.1", int(os.environ["FLYBALL_TEST_PORT"]))).close()


@attempt(53, "offline")
def datagrams():
    line = connect(("127.0.0.1", int(os.environ["FLYBALL_TEST_DATAGRAMS"])), kind=socket.SOCK_DGRAM)
    line.send(b"ask")
    line.recv(10)


@attempt(54, "offline")
def abstract_socket():
    connect("\0" + os.environ["FLYBALL_TEST_ABSTRACT"], socket.AF_UNIX).close()


def through_proxy(head):
    """What the proxy says to a request; without a proxy there is nobody who could refuse."""
    proxy = os.environ.get("HTTP_PROXY")
    if not proxy:
        return b"HTTP/1.1 200 nobody refuses"
    host, port = proxy.removeprefix("http://").split(":")
    line = connect((host, int(port)))
    line.sendall(head)
    answer = b""
    while chunk := line.recv(4096):
        answer += chunk
    return answer


def proxied(number, head):
    @attempt(number, "offline")
    def ask():
        text = head.replace("PORT", os.environ["FLYBALL_TEST_PORT"])
        answer = through_proxy(text.encode())
        if b" 200 " not in answer.split(b"\r\n")[0]:
            raise OSError(answer.split(b"\r\n\r\n")[-1].decode().strip())


proxied(51, "CONNECT evil.example:443 HTTP/1.1\r\n\r\n")
proxied(56, "CONNECT 192.0.2.1:443 HTTP/1.1\r\n\r\n")
proxied(57, "CONNECT localhost:PORT HTTP/1.1\r\n\r\n")
proxied(58, "CONNECT allowed.example:22 HTTP/1.1\r\n\r\n")
proxied(59, "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")


@attempt(55, "offline")
def path_socket():
    connect(os.path.join(os.environ["FLYBALL_TEST_RUNTIME"], "bus"), socket.AF_UNIX).close()


@attempt(60, "offline")
def proxy_of_another_run():
    connect(os.environ["FLYBALL_TEST_OTHER"], socket.AF_UNIX).sendall(b"x")
    line = connect(os.environ["FLYBALL_TEST_OTHER"], socket.AF_UNIX)
    line.sendall(b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n")
    if not line.recv(100):
        raise OSError("closed without a word")


# What must still work.


@attempt(101, "work")
def git_in_clone():
    run("git", "clone", "-q", ".", os.path.join(HOME, "clone"))
    clone = os.path.join(HOME, "clone")
    write(os.path.join(clone, "file"))
    run("git", "-C", clone, "add", "-A")
    run("git", "-C", clone, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    run("git", "-C", clone, "gc", "-q")


@attempt(102, "work")
def git_here():
    write("worked")
    run("git", "add", "-A")
    run("git", "commit", "-qm", "worked")
    write("worked", "more")
    run("git", "stash", "-q")
    run("git", "stash", "pop", "-q")
    run("git", "gc", "-q")


@attempt(103, "work")
def linked_worktree():
    place = os.path.join(os.environ["FLYBALL_TEST_WORK"], "linked")
    run("git", "worktree", "add", "-q", place)
    write(os.path.join(place, "file"))
    run("git", "-C", place, "add", "-A")
    run("git", "-C", place, "commit", "-qm", "y")
    run("git", "worktree", "remove", "--force", place)


@attempt(104, "work")
def terminal():
    import pty

    here, there = pty.openpty()
    os.write(there, b"x")
    assert os.read(here, 1) == b"x"


@attempt(105, "work")
def own_bubblewrap():
    assert run("bwrap", "--dev-bind", "/", "/", "echo", "inside") == "inside\n"


@attempt(106, "work")
def own_namespace():
    assert run("unshare", "-Ur", "id", "-u") == "0\n"


@attempt(107, "work")
def npm():
    place = os.path.join(os.environ["FLYBALL_TEST_WORK"], "npm")
    os.makedirs(place)
    with open(os.path.join(place, "package.json"), "w") as file:
        file.write('{"name":"a","version":"1.0.0","scripts":{"test":"node -e 1"}}')
    cache = os.path.join(os.environ["FLYBALL_TEST_WORK"], "npm-cache")
    run("npm", "install", "--offline", "--cache", cache, cwd=place)
    run("npm", "test", "--cache", cache, cwd=place)


@attempt(108, "work")
def python_venv():
    place = os.path.join(os.environ["FLYBALL_TEST_WORK"], "venv")
    run(sys.executable, "-m", "venv", "--without-pip", place)
    assert run(os.path.join(place, "bin/python"), "-c", "print(1)") == "1\n"


@attempt(109, "work")
def ssh_reads_its_settings():
    if shutil.which("ssh"):
        run("ssh", "-G", "example.invalid")


@attempt(110, "work")
def state_can_be_read():
    run(os.environ["FLYBALL_TEST_PROGRAM"], "status")
    run(os.environ["FLYBALL_TEST_PROGRAM"], "log")


@attempt(111, "work")
def hook_is_answered():
    call = '{"type":"call","id":"1","tool":"bash","args":{"command":"ls"}}'
    words = [os.environ["FLYBALL_TEST_PROGRAM"], "hook", "flyball", "PreToolUse"]
    assert '"pass"' in run(*words, input=call)


@attempt(112, "work")
def shared_memory():
    place = f"/dev/shm/flyball-{os.getpid()}"
    write(place)
    os.unlink(place)


@attempt(113, "shield-work")
def home_is_open():
    write(os.path.join(HOME, "new"))
    with open(os.path.join(HOME, ".client.json.new"), "w") as file:
        file.write("{}")
    os.rename(os.path.join(HOME, ".client.json.new"), os.path.join(HOME, ".client.json"))
    os.makedirs(os.path.join(HOME, ".local/share/tool"))
    os.rename(os.path.join(HOME, "new"), os.path.join(HOME, ".local/share/tool/new"))


# Only where it is installed, as `.ci/run` has it.
NEED_BUBBLEWRAP = {"bubblewrap", "bubblewrap_elsewhere", "own_bubblewrap"}


def main():
    has_bubblewrap = shutil.which("bwrap") is not None
    for number, (group, function) in sorted(ATTEMPTS.items()):
        if group not in GROUP.split(","):
            continue
        if function.__name__ in NEED_BUBBLEWRAP and not has_bubblewrap:
            continue
        try:
            function()
            print(f"ATTEMPT {number} through {function.__name__}", flush=True)
        except Exception as error:  # noqa: BLE001: whatever it was, it did not go through
            text = " ".join(str(error).split())[:300]
            print(f"ATTEMPT {number} refused {function.__name__}: {text}", flush=True)


main()
