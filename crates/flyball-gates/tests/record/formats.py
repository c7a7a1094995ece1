"""Linters in every form they can print, the truth from their JSON."""
from common import *

JS = {"src/order.js": "const fs = require('fs')\nvar total = 0\nfunction price(item, unused) {\n  if (item == null) { return }\n  for (var i = 0; i < 3; i++) { total += item.cost; }\n  console.log('it\\'s \"odd\" <here> & there')\n  return nowhere(total)\n}\nswitch (total) {\n  case 1: price(1)\n  case 1: price(2)\n}\n",
      "src/deep/util.js": "export function pick (a) {\n  debugger\n  let never = 1\n  while (true) { if (a = 3) break }\n}\n", "src/bad.js": "function ( {\n",
      "eslint.config.mjs": "export default [{files: ['src/**/*.js'], rules: {'no-unused-vars': 'error', 'no-undef': 'error', eqeqeq: 'error', 'no-var': 'error', 'no-console': 'warn', 'no-duplicate-case': 'error', 'no-fallthrough': 'error', 'no-debugger': 'error', 'no-cond-assign': 'error', 'no-constant-condition': 'error', 'prefer-const': 'warn'}}]\n"}
def eslint():
    def truth(cwd):
        d = json.loads(output_of("eslint -f json src", cwd))
        return [diag(m["ruleId"] or "", f["filePath"], m["line"], m["message"]) for f in d for m in f["messages"] if m["severity"] == 2]
    def also(cwd):
        d = json.loads(output_of("eslint -f json src", cwd))
        return [diag(m["ruleId"] or "", f["filePath"], m["line"], m["message"]) for f in d for m in f["messages"] if m["severity"] == 1]
    for f in ("stylish", "json-with-metadata", "junit", "unix", "compact", "tap", "checkstyle", "visualstudio", "jslint-xml", "gitlab"):
        case("eslint", "form-" + f, f"eslint -f {f} src", JS, truth, project="order", also=also)
    case("eslint", "form-colour", "eslint --color src", JS, truth, project="order", also=also)

PY = {"shop/__init__.py": "", "shop/order.py": "import os, sys\nfrom typing import List\nimport json\n\ndef price(items: List[int], extra={}) -> int:\n    l = 1\n    try:\n        total = sum(items) + \"x\"\n    except:\n        pass\n    if extra == None:\n        print(f\"none\")\n    return undefined_name\n\n\nclass order:\n    def total(self) -> str:\n        return self.missing + 3\n    def total(self) -> int:\n        return len(5)\n", "shop/ship.py": "from shop.order import price\nprice(\"abc\", 3, 4)\nx: int = \"no & <never> 'quoted'\"\nassert (x, \"always\")\n", "pyproject.toml": "[tool.ruff.lint]\nselect = ['E', 'F', 'B', 'N', 'UP', 'I']\n"}
BAD = dict(PY, **{"shop/broken.py": "def f(:\n    return 1\n\nprint('a\n"})
def ruff():
    def truth(cwd):
        return [diag(m["code"] or "", m["filename"], m["location"]["row"], m["message"]) for m in json.loads(output_of("ruff check --output-format json .", cwd))]
    for f in ("concise", "full", "json", "json-lines", "junit", "grouped", "github", "gitlab", "pylint", "rdjson", "azure", "sarif"):
        case("ruff", "form-" + f, f"ruff check --output-format {f} .", BAD, truth, project="order-py")
    case("ruff", "statistics", "ruff check --statistics .", PY, [], project="order-py", verdict="red")

def pylint():
    def truth(cwd):
        return [diag(m["symbol"], m["path"], m["line"], m["message"].splitlines()[0]) for m in json.loads(output_of("pylint -f json shop", cwd))]
    for f in ("text", "parseable", "msvs", "colorized", "json", "json2", "github"):
        # An annotation says which of them are errors.
        grave = lambda cwd: [diag(m["symbol"], m["path"], m["line"], m["message"].splitlines()[0]) for m in json.loads(output_of("pylint -f json shop", cwd)) if m["type"] in ("error", "fatal")]
        case("pylint", "form-" + f, f"pylint -f {f} shop", BAD, grave if f == "github" else truth, project="order-py", also=truth if f == "github" else ())
    case("pylint", "template", "pylint --msg-template='{abspath}:{line}:{column}: [{msg_id}({symbol}), {obj}] {msg}' -s n shop", PY, truth, project="order-py")
    case("pylint", "errors", "pylint -E -j 2 shop", PY, lambda cwd: [diag(m["symbol"], m["path"], m["line"], m["message"]) for m in json.loads(output_of("pylint -E -f json shop", cwd))], project="order-py")

def flake8():
    def truth(cwd):
        found = [l.split("\t", 3) for l in output_of("flake8 --format='%(path)s\t%(row)d\t%(code)s\t%(text)s' shop", cwd).splitlines() if "\t" in l]
        return [diag(c, f, int(l), m) for f, l, c, m in found]
    for name, args in [("show-source", "--show-source"), ("form-pylint", "--format=pylint"), ("count", "--count --statistics"), ("template", "--format='%(path)s:%(row)d: [%(code)s] %(text)s'"), ("colour", "--color=always")]:
        case("flake8", "form-" + name, f"flake8 {args} shop", BAD, truth, project="order-py")
    case("flake8", "filenames", "flake8 -q shop", BAD, lambda cwd: [diag("", f, None, "") for f in ("shop/order.py", "shop/ship.py", "shop/broken.py")], project="order-py")

def mypy():
    def truth(args=""):
        def find(cwd):
            d = [json.loads(l) for l in output_of(f"mypy -O json {args} shop", cwd).splitlines() if l.startswith("{")]
            return [diag(m["code"] or "", m["file"], m["line"], m["message"]) for m in d if m["severity"] == "error"]
        return find
    for name, args in [("columns", "--show-column-numbers --show-error-end --no-error-summary"), ("form-json", "-O json"), ("form-pretty", "--pretty --show-column-numbers"), ("absolute", "--show-absolute-path --hide-error-codes"), ("form-colour", "--color-output")]:
        case("mypy", name, f"mypy {args} shop", PY, truth(), project="order-py", env={"MYPY_FORCE_COLOR": "1"} if "colour" in name else {})
    case("mypy", "form-syntax", "mypy shop", BAD, truth(), project="order-py", verdict="broken")

def jshint():
    files = {"a.js": "var x = 1\nif (x == null) { y = 2 }\nfunction f() { return\n  x }\nvar obj = {a: 1, a: 2};\n", "lib/b.js": "function g( {\n", ".jshintrc": '{"undef": true, "unused": true, "eqeqeq": true}\n'}
    def truth(cwd):
        return [diag("", f, int(l), m) for f, l, m in re.findall(r"^(\S+?):(\d+):\d+: (.*)$", output_of("jshint --reporter=unix a.js lib", cwd), re.M)]
    for f in ("default", "unix", "checkstyle", "jslint"):
        case("jshint", f, f"jshint {'' if f == 'default' else '--reporter=' + f} a.js lib", files, truth, project="hint")
    case("jshint", "verbose", "jshint --verbose a.js lib", files, truth, project="hint")

def htmlhint():
    files = {"page.html": "<html>\n<head><title>x</title></head>\n<body>\n<DIV class='a' class='b'><img src=x></div>\n<a href=\"#\" id=\"one\">&</a><p id=\"one\">\n</body>\n</html>\n", "sub/two.html": "<p>no doctype<b></p>\n"}
    def truth(cwd):
        d = json.loads(output_of("htmlhint --format json '**/*.html'", cwd))
        return [diag(m["rule"]["id"], relative(f["file"]), m["line"], m["message"]) for f in d for m in f["messages"]]
    for f in ("default", "compact", "unix", "json", "checkstyle", "junit"):
        case("htmlhint", f, f"htmlhint --format {f} '**/*.html'", files, truth, project="html")

def standard():
    files = {"order.js": "const a = 'x';\nmodule.exports = function(b) {\n\tif (b == 1) return a\n}\n", "lib/two.js": "let never = 3\nfunction  f () { console.log(\"q\") }\n\n\nf( )\n"}
    def truth(cwd):
        return [diag(r, f, int(l), m) for f, l, m, r in re.findall(r"^  (\S+?):(\d+):\d+: (.*?) \(([\w/-]+)\)(?: \(warning\))?$", output_of("standard --verbose", cwd), re.M)]
    for name, args in [("quiet", ""), ("verbose", "--verbose")]:
        case("standard", name, f"standard {args}".strip(), files, truth, project="std")
    xo = lambda cwd: [diag(m["ruleId"] or "", f["filePath"], m["line"], m["message"], msgs=[re.sub("['`]", "", m["message"])]) for f in json.loads(output_of("xo --reporter json", cwd)) for m in f["messages"] if m["severity"] == 2]
    case("xo", "plain", "xo", dict(files, **{"package.json": {"name": "x", "type": "module"}}), xo, project="std")

def stylelint():
    files = {"a.css": "a { color: #FFFFFFF; colr: red; }\n.b {}\n.b { margin: 0px; margin: 1px }\n@media (min-width: 1px { }\n", "sub/c.css": "p{COLOR:red;;}\na { background: url( }\n", "sub/d.css": "a { top: 0; top: 1 }\n#x {}\n", ".stylelintrc.json": '{"extends": "stylelint-config-standard"}\n'}
    def truth(cwd):
        done = subprocess.run(["bash", "-c", "stylelint -f json '**/*.css'"], cwd=cwd, env=environment({}), capture_output=True, text=True)
        d = json.loads(done.stdout.strip() or done.stderr.strip())
        return [diag(m["rule"], relative(f["source"]), m["line"], re.sub(r" \([\w-]+\)$", "", m["text"])) for f in d for m in f["warnings"]]
    for f in ("string", "verbose", "compact", "unix", "tap", "json", "github"):
        case("stylelint", "form-" + f, f"stylelint -f {f} '**/*.css'", files, truth, project="css")

def markdown():
    files = {"README.md": "# Title\n## Sub\n* a\n- b\n\n\n\nhttp://bare.example.org  \n#### Deep\n```\ncode\n```\n", "doc/x.md": "no heading\n\tTab\n[empty]()\n"}
    def truth(cwd):
        done = subprocess.run(["bash", "-c", "markdownlint --json '**/*.md'"], cwd=cwd, env=environment({}), capture_output=True, text=True)
        return [diag(m["ruleNames"][0], m["fileName"], m["lineNumber"], m["ruleDescription"]) for m in json.loads(done.stderr or done.stdout)]
    case("markdownlint", "plain2", "markdownlint '**/*.md'", files, truth, project="md")
    case("markdownlint", "form-json", "markdownlint --json '**/*.md'", files, truth, project="md")
    case("markdownlint", "cli2", "markdownlint-cli2 '**/*.md'", files, truth, project="md")
    def scanned(cwd):
        return [diag(r, f, int(l), m) for f, l, r, m in re.findall(r"^(.*?):(\d+):\d+: (\w+): (.*?)(?: \[.*)? \(", output_of("pymarkdown scan README.md doc", cwd), re.M)]
    case("pymarkdown", "plain", "pymarkdown scan README.md doc", files, scanned, project="md")
    case("mdformat", "check", "mdformat --check README.md doc", files, [diag("", f, None, "is not formatted") for f in ("README.md", "doc/x.md")], project="md")

def yamllint():
    files = {"a.yaml": "key: value\nkey: again\nlist:\n- a\n-   b \nyes: on\n", "sub/b.yml": "a: [1,2\nb: {\n", "sub/c.yml": "---\na:   1\n\n\n\n\nb: 'x'"}
    def truth(cwd):
        return [diag(r, f, int(l), m) for f, l, m, r in re.findall(r"^(.*?):(\d+):\d+: \[error\] (.*?) \(([\w-]+)\)$", output_of("yamllint -f parsable .", cwd), re.M)]
    def also(cwd):
        return [diag(r, f, int(l), m) for f, l, m, r in re.findall(r"^(.*?):(\d+):\d+: \[warning\] (.*?) \(([\w-]+)\)$", output_of("yamllint -f parsable .", cwd), re.M)]
    for f in ("standard", "parsable", "github", "colored"):
        case("yamllint", "form-" + f, f"yamllint -f {f} .", files, truth, project="yaml", also=also)

def sqlfluff():
    files = {"q.sql": "SELECT a,b from users where id=1\nselect * FROM t AS x JOIN y on x.id = y.id\n", "sub/two.sql": "SELECT  1 as A\nFROM (\n"}
    def truth(cwd):
        d = json.loads(output_of("sqlfluff lint --dialect ansi --format json .", cwd))
        return [diag(m["code"], relative(f["filepath"]), m.get("start_line_no") or m.get("line_no"), m["description"]) for f in d for m in f["violations"]]
    for f in ("human", "json", "github-annotation", "github-annotation-native"):
        case("sqlfluff", "form-" + f, f"sqlfluff lint --dialect ansi --format {f} .", files, truth, project="sql")
    case("djlint", "lint", "djlint --lint .", {"a.html": "<img src=\"/x.png\">\n<a href=\"http://x\">\n{{x}}\n<div>\n", "sub/b.html": "<html>\n<IMG>\n</html>\n"}, lambda cwd: [diag(c, f, int(l), m) for f, c, l, m in re.findall(r"^(\S+?)\t(\w+)\t(\d+):\d+\t(.*)$", output_of("djlint --lint . --linter-output-format '{filename}\t{code}\t{line}\t{message}' --quiet", cwd), re.M)], project="dj")
    case("djlint", "check", "djlint --check .", None, [diag("", "a.html", None, ""), diag("", "sub/b.html", None, "")], project="dj")

def bandit():
    def truth(cwd):
        return [diag(m["test_id"], m["filename"], m["line_number"], m["issue_text"]) for m in json.loads(output_of("bandit -q -r -f json .", cwd))["results"]]
    files = {"app.py": "import pickle, subprocess\nPASSWORD = 'hunter2'\ndef f(x):\n    subprocess.call(x, shell=True)\n    assert x\n    return eval(x) or pickle.loads(x)\n", "sub/two.py": "import hashlib\nhashlib.md5(b'x')\nopen('/tmp/x', 'w')\ntry:\n    pass\nexcept Exception:\n    pass\n"}
    for f in ("txt", "screen", "custom", "json", "xml"):
        case("bandit", "form-" + f, f"bandit -q -r -f {f} .", files, truth, project="sec")
    case("vulture", "more", "vulture . --sort-by-size --min-confidence 60", {"a.py": "import os\ndef never(x):\n    return 1\n    print(2)\nclass Gone:\n    field = 3\n    def m(self): pass\n"}, lambda cwd: [diag("", f, int(l), m) for f, l, m in re.findall(r"^(\S+?):(\d+): (.*?) \(\d+%", output_of("vulture . --min-confidence 60", cwd), re.M)], project="sec2")

def words():
    files = {"a.md": "This is teh first recieve.\nHe is obviously a crazy guy.\nThe the end.\n", "src/b.txt": "A mistke here, and anohter seperate.\n", ".textlintrc.json": "{}"}
    def by(command, pattern):
        return lambda cwd: [diag("", f, int(l), m) for f, l, m in re.findall(pattern, subprocess.run(["bash", "-c", command], cwd=cwd, env=environment({}), capture_output=True, text=True).stdout, re.M)]
    case("codespell", "more", "codespell .", files, by("codespell .", r"^(?:\./)?(\S+?):(\d+): (.*)$"), project="words")
    case("codespell", "context", "codespell -C 1 .", files, by("codespell .", r"^(?:\./)?(\S+?):(\d+): (.*)$"), project="words")
    case("cspell", "plain", "cspell --no-progress '**/*.{md,txt}'", files, by("cspell --no-progress '**/*.{md,txt}' 2>&1", r"^(\S+?):(\d+):\d+ - (Unknown word \(\w+\))"), project="words")
    case("proselint", "plain", "proselint check a.md src/b.txt", files, by("proselint check a.md src/b.txt", r"^(?:.*/)?(\S+?):(\d+):\d+: (.*)$"), project="words")
    def alex(cwd):
        text = subprocess.run(["bash", "-c", "alex a.md 2>&1"], cwd=cwd, env=environment({}), capture_output=True, text=True).stdout
        return [diag(r, "a.md", int(l), m.strip()) for l, m, r in re.findall(r"^\s+(\d+):\d+-\d+:\d+\s+warning\s+(.*?)\s{2,}(\S+)", text, re.M)]
    case("alex", "plain", "alex a.md", files, alex, project="words")
    rst = {"a.rst": "Title\n==\n\n.. nowhere:: x\n\n*open\n\n`x <y>`__ and :ref:`z`   \n" + "x" * 90 + "\n", "sub/b.rst": "Two\n===\n\n- a\n b\n"}
    case("doc8", "plain", "doc8 .", rst, by("doc8 -q . | sed 's/: D/:D/'", r"^(?:\./)?(\S+?):(\d+):(?:D\d+ )?(.*)$"), project="rst")
    case("rstcheck", "plain", "rstcheck -r .", rst, by("rstcheck -r . 2>&1", r"^(\S+?):(\d+): (\(.*)$"), project="rst")

def cpp():
    files = {"a.cc": "#include <stdio.h>\nusing namespace std;\nint  main(){\n\tchar *p=(char*)0;\n  if(p==0){ printf(\"x\"); } \n  return 0;\n}", "sub/b.h": "int f(long x);\nclass A{ A(int y); };\n"}
    by = lambda command, pattern: (lambda cwd: [diag(r, f, int(l), m) for f, l, m, r in re.findall(pattern.replace('(\\d+)', '([1-9]\\d*)'), subprocess.run(["bash", "-c", command + " 2>&1"], cwd=cwd, env=environment({}), capture_output=True, text=True).stdout, re.M)])
    case("cpplint", "plain", "cpplint --recursive .", files, by("cpplint --recursive .", r"^(?:\./)?(\S+?):(\d+):  (.*?)  \[([\w/+]+)\]"), project="cpp")
    for f in ("vs7", "junit", "eclipse"):
        case("cpplint", f, f"cpplint --output={f} --recursive .", files, by("cpplint --recursive .", r"^(?:\./)?(\S+?):(\d+):  (.*?)  \[([\w/+]+)\]"), project="cpp")
    case("cmakelint", "plain", "cmakelint CMakeLists.txt", {"CMakeLists.txt": "PROJECT( x )\nadd_executable(a a.c )\nif(A)\n\tset(B 1)\nendif()   \n"}, by("cmakelint CMakeLists.txt", r"^(\S+?):(\d+): (.*?) \[([\w/]+)\]"), project="cmk")

def formatters():
    files = {"a.py": "import sys\nimport os\ndef  f( x ):\n  return   x\n", "sub/b.py": "x = {  'a':1 }\n\"\"\"doc   \n\"\"\"\n", "ok.py": "X = 1\n"}
    both = [diag("", "a.py", None, ""), diag("", "sub/b.py", None, "")]
    case("yapf", "diff", "yapf --diff -r .", files, both, project="fmt")
    case("yapf", "quiet", "yapf -q -r .", files, [], project="fmt")
    case("autopep8", "diff", "autopep8 --diff --exit-code -r .", files, both, project="fmt")
    case("autoflake", "check", "autoflake --check -r .", files, [diag("", "a.py", None, "")], project="fmt")
    case("autoflake", "check-diff", "autoflake --check-diff -r .", files, [diag("", "a.py", None, "")], project="fmt")
    case("docformatter", "check", "docformatter --check -r .", {"a.py": "def f():\n    '''   doc that is  \n    bad '''\n"}, [diag("", "a.py", None, "")], project="fmt2")
    case("black", "diff", "black --check --diff .", files, both, project="fmt")
    case("black", "quiet", "black --check -q .", files, [], project="fmt")
    case("isort", "diff", "isort --check --diff .", files, [diag("", "a.py", None, "")], project="fmt")
    case("ruff", "format-diff", "ruff format --diff .", files, both, project="fmt")
    case("interrogate", "plain", "interrogate -v -f 90 .", files, [], project="fmt", verdict="red")
    case("xenon", "plain", "xenon -b A .", {"a.py": "def f(x):\n" + "".join(f"    if x == {i}: return {i}\n" for i in range(12))}, [diag("f", "a.py", 1, 'has a rank of C')], project="fmt3")
    case("prettier", "two", "prettier --check .", {"a.js": "const a = {b:1}\n", "s/b.css": "a{b:c}\n", "s/c.ts": "let x: = 3\n", "d.json": "{\"a\": 1}\n"}, [diag("", "a.js", None, ""), diag("", "s/b.css", None, ""), diag("", "d.json", None, ""), diag("", "s/c.ts", 1, "Type expected")], project="fmt4")

def rest():
    case("jsonlint", "plain", "jsonlint -q a.json", {"a.json": '{"a": 1,\n "b": [1,,2]\n}\n'}, [diag("", "a.json", 2, "found: ','")], project="jl")
    case("csslint", "compact", "csslint --format=compact a.css", {"a.css": "#a { color: red; width: 1px; padding: 2px }\n.b {}\na { color: blu!important }\n"}, lambda cwd: [diag("", "a.css", int(l), m) for l, m in re.findall(r"a\.css: line (\d+), col \d+, (?:Error|Warning) - (.*?)(?: \(|$)", output_of("csslint --format=compact a.css", cwd), re.M)], project="cssl")
    for f in ("text", "lint-xml", "checkstyle-xml", "csslint-xml", "junit-xml"):
        case("csslint", f, f"csslint --format={f} a.css", None, lambda cwd: [diag("", "a.css", int(l), m) for l, m in re.findall(r"a\.css: line (\d+), col \d+, (?:Error|Warning) - (.*?)(?: \(|$)", output_of("csslint --format=compact a.css", cwd), re.M)], project="cssl")
    case("commitlint", "plain", "printf 'Bad Subject.\\nno blank\\n' | commitlint -x @commitlint/config-conventional", {"a": ""}, [diag("subject-empty", "", None, "subject may not be empty"), diag("type-empty", "", None, "type may not be empty")], project="cl")
    case("redocly", "plain", "redocly lint api.yaml", {"api.yaml": "openapi: 3.0.0\ninfo:\n  title: x\npaths:\n  /a:\n    get:\n      responses:\n        '200': {}\n"}, lambda cwd: [diag(p["ruleId"], "api.yaml", None, p["message"].splitlines()[0]) for p in json.loads(output_of("redocly lint api.yaml --format json", cwd))["problems"] if p["severity"] == "error"], project="api", also=lambda cwd: [diag(p["ruleId"], "api.yaml", None, p["message"].splitlines()[0]) for p in json.loads(output_of("redocly lint api.yaml --format json", cwd))["problems"]])
    case("pug-lint", "plain", "pug-lint a.pug", {"a.pug": "div(class='a')\n  P x\n", ".pug-lintrc": '{"disallowClassLiterals": null, "requireLowerCaseTags": true, "disallowAttributeConcatenation": true, "requireClassLiteralsBeforeAttributes": true, "disallowClassAttributeWithStaticValue": true}'}, [diag("", "a.pug", 2, "All tags must be written in lower case"), diag("", "a.pug", 1, "Static attribute \"class\" must be written as class literal")], project="pug")

def native():
    sh = {"x.sh": "#!/bin/sh\nread a\necho $a\n[ $a == 1 ] && cd $b\nlocal z=`ls`\n"}
    truth = lambda cwd: [diag(f"SC{m['code']}", m["file"], m["line"], m["message"]) for m in json.loads(output_of("shellcheck -f json x.sh", cwd))]
    for f in ("tty", "gcc", "json", "json1", "checkstyle"): case("shellcheck", "form-" + f, f"shellcheck -f {f} x.sh", sh, truth, project="sh")
    c = {"m.c": "#include <stdlib.h>\nint f(int n) {\n  int a[3];\n  a[5] = n;\n  char *p = malloc(3);\n  if (n) return *p;\n  int x;\n  return x;\n}\nint main(void) { int *q = 0; return f(1) + *q; }\n"}
    def xmlof(cwd):
        done = subprocess.run("cppcheck --enable=warning --xml --error-exitcode=1 m.c", shell=True, cwd=cwd, capture_output=True, text=True)
        return [diag(e.get("id"), e.find("location").get("file"), int(e.find("location").get("line")), e.get("msg")) for e in xml.fromstring(done.stderr).iter("error") if e.find("location") is not None]
    for name, args in [("default", ""), ("xml", "--xml"), ("template-gcc", "--template=gcc"), ("template-vs", "--template=vs"), ("template-old", "--template='[{file}:{line}]: ({severity}) {message}'"), ("quiet", "-q")]:
        case("cppcheck", "form-" + name, f"cppcheck --enable=warning --error-exitcode=1 {args} m.c", c, xmlof, project="cc")
    rb = {"a.rb": "class A\n  def x( y )\n    if y == nil then puts \"a\" end\n    z = 3\n    return y\n  end\nend\n", "lib/b.rb": "def Bad\n  foo = 1;\nend\neval('x')\n", ".rubocop.yml": "AllCops:\n  NewCops: enable\n  SuggestExtensions: false\n"}
    truth = lambda cwd: [diag(o["cop_name"], f["path"], o["location"]["line"], o["message"], msgs=[o["message"].replace("`", "")]) for f in json.loads(output_of("rubocop -f json", cwd))["files"] for o in f["offenses"]]
    for f in ("progress", "simple", "clang", "emacs", "json", "junit", "github", "tap", "quiet"): case("rubocop", "form-" + f, f"rubocop -f {f}", rb, truth, project="rb")

if __name__ == "__main__":
    for part in (eslint, ruff, pylint, flake8, mypy, jshint, htmlhint, standard, stylelint, markdown, yamllint, sqlfluff, bandit, words, cpp, formatters, rest, native): 
        try: part()
        except Exception as e: print(part.__name__, "stopped:", repr(e))
