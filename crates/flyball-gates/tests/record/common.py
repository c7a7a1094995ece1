"""Truth from JUnit and from stacks, shared by the recipes."""
import json, os, re
import xml.etree.ElementTree as xml
from recorder import *

def first(text):
    for line in ANSI.sub("", text or "").splitlines():
        if line.strip(): return line.strip()
    return ""

def frames(text, keep=lambda p: "node_modules" not in p and "site-packages" not in p):
    """Places of the project in a stack."""
    found = []
    for path, line in re.findall(r"(?:file://)?((?:/|\b)[\w@%+./ -]*?[\w-]+\.[cm]?[jt]sx?):(\d+)", ANSI.sub("", text or "")):
        path = relative(path.strip())
        if keep(path) and not path.startswith(("node:", "/")) and [path, int(line)] not in found: found.append([path, int(line)])
    return found

def junit(text, place=None, name=lambda c: c.get("name"), file=lambda c: c.get("file") or ""):
    facts = []
    text = text[text.find("<"):]
    if not text.strip(): return facts
    for c in xml.fromstring(text).iter("testcase"):
        for bad in list(c.findall("failure")) + list(c.findall("error")):
            body = (bad.get("message") or "") + "\n" + (bad.text or "")
            places = place(c, body) if place else frames(body)
            facts.append(test(name(c), file(c) or (places[0][0] if places else ""), msg=first(body), places=places))
            break
    return facts
