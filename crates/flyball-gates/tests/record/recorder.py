"""Runs a tool in a small project and keeps what it printed, with the truth beside it.

A capture is `cases/<tool>/<case>.txt` (the bytes, in the order of arrival) and `.json`: command, exit code,
`segments` (which bytes went to stdout, which to stderr), verdict and truth. Projects are written to a neutral folder.
"""
import json, os, re, selectors, shutil, subprocess, sys, textwrap

HOME = os.environ.get("GATES_PROJECTS", "/srv/project")
TOOLS = os.environ.get("GATES_TOOLS", "/srv/tools")
CASES = os.environ.get("GATES_CASES") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "captures")
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;;[^\x1b\x07]*(?:\x1b\\|\x07)")
# Where tools live on the machine of the recording says nothing about the tool.
HIDE = [("../../tools/js/node_modules", "node_modules"), (TOOLS + "/js/node_modules", HOME + "/node_modules"), (TOOLS + "/pysugar", "/usr"), (TOOLS + "/py", "/usr"),
        (TOOLS + "/js2/node_modules", HOME + "/node_modules"), ("../../tools/js2/node_modules", "node_modules"), (TOOLS + "/js", HOME), (os.path.expanduser("~"), "/home/dev"), ("/srv/home", "/home/dev")]
only = sys.argv[1:]
count = 0

def write(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(textwrap.dedent(text).lstrip("\n") if isinstance(text, str) else json.dumps(text, indent=1))
        if name.endswith(".sh"):
            os.chmod(path, 0o755)

def environment(extra):
    env = {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "GOCACHE", "GOPROXY", "GOFLAGS", "RUSTUP_HOME", "CARGO_HOME")}
    env["PATH"] = f"{TOOLS}/js/node_modules/.bin:{TOOLS}/py/bin:{os.environ['PATH']}"
    env.update(LANG="C.UTF-8", TERM="dumb", NODE_PATH=f"{TOOLS}/js/node_modules", NO_UPDATE_NOTIFIER="1",
               NX_DAEMON="false", TURBO_TELEMETRY_DISABLED="1", DO_NOT_TRACK="1")
    env.update(extra)
    return env

def capture(command, cwd, env):
    """Exit code and the chunks [stream, bytes] in the order they came."""
    process = subprocess.Popen(["bash", "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    chunks, selector = [], selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ, "o")
    selector.register(process.stderr, selectors.EVENT_READ, "e")
    while selector.get_map():
        for key, _ in selector.select():
            data = os.read(key.fileobj.fileno(), 65536)
            if not data:
                selector.unregister(key.fileobj)
            elif chunks and chunks[-1][0] == key.data:
                chunks[-1][1] += data
            else:
                chunks.append([key.data, data])
    code = process.wait()
    return code - 256 if code > 255 else code, chunks

def hidden(data):
    for own, neutral in HIDE:
        data = data.replace(own.encode(), neutral.encode())
    return data

def output_of(command, cwd, env=None):
    """Stdout of a second run: the tool's machine-readable word on the same tree."""
    done = subprocess.run(["bash", "-c", command], cwd=cwd, env=environment(env or {}), stdin=subprocess.DEVNULL, capture_output=True)
    return hidden(done.stdout).decode("utf8", "replace")

def relative(path):
    return re.sub(r"^" + re.escape(HOME) + r"/[^/]+/", "", path or "")

def fact(kind, name, file="", line=None, msg="", **more):
    places = more.pop("places", None) or ([[relative(file), line]] if line else [])
    return dict(k=kind, name=name, file=relative(file), places=places, msg=ANSI.sub("", msg), **more)

def test(name, file="", line=None, msg="", **more): return fact("test", name, file, line, msg, **more)
def diag(name, file="", line=None, msg="", **more): return fact("diag", name, file, line, msg, **more)
def collect(name, file="", line=None, msg="", **more): return fact("collect", name, file, line, msg, **more)

def case(tool, name, command, files=None, truth=(), project=None, what="", verdict=None, wrapper="", env=None, before=None, also=(), documented=None):
    """Records one capture. `truth`: facts, or a function of the folder that asks the tool itself."""
    global count
    if only and not any(word in f"{tool}/{name}" for word in only):
        return
    project = project or re.sub(r"\W", "-", f"{tool}")
    cwd = os.path.join(HOME, project)
    if files is not None:
        shutil.rmtree(cwd, ignore_errors=True)
        os.makedirs(cwd)
        write(cwd, files)
    env = dict(env or {})
    if before:
        subprocess.run(["bash", "-c", before], cwd=cwd, env=environment(env), capture_output=True)
    code, chunks = capture(command, cwd, environment(env))
    try:
        facts = truth(cwd) if callable(truth) else list(truth)
        extra = also(cwd) if callable(also) else list(also)
    except (ValueError, KeyError, OSError, SyntaxError, AttributeError) as error:
        print(f"{tool}/{name}: no truth: {error!r}")
        return
    shown = " ".join([f"{k}={v}" for k, v in env.items() if k in ("FORCE_COLOR", "CI", "GITHUB_ACTIONS", "PY_COLORS")] + [command])
    keep(tool, name, shown, code, chunks, facts, extra, project, what or name, verdict, wrapper)

def keep(tool, name, command, code, chunks, facts, extra=(), project="", what="", verdict=None, wrapper="", documented=None):
    global count
    raw, segments = b"", []
    for stream, data in chunks:
        data = hidden(data)
        raw += data
        segments.append([stream, len(data)])
    folder = os.path.join(CASES, tool)
    os.makedirs(folder, exist_ok=True)
    verdict = verdict or ("green" if code == 0 else "red")
    facts = [] if verdict == "green" else facts
    record = dict(tool=tool, command=command, exit=code, verdict=verdict, project=project, what=what, wrapper=wrapper, segments=segments, truth=facts)
    if extra: record["also"] = list(extra)
    if documented: record["documented"] = documented
    with open(f"{folder}/{name}.txt", "wb") as out: out.write(raw)
    with open(f"{folder}/{name}.json", "w") as out: out.write(json.dumps(record, ensure_ascii=False) + "\n")
    count += 1
    flag = "" if verdict != "red" or facts else "   <- red without truth"
    print(f"{tool}/{name}: exit {code}, {len(raw)} bytes, {len(facts)} facts{flag}", flush=True)
