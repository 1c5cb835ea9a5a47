#!/usr/bin/env python3
"""Rules about Backline's sources that no compiler checks.

    lint-source.py annotations|annotations-control|vouches|imports [FOLDER]

annotations  every function, initialiser, accessor and subscript of RenderCore carries @_noLocks, and so does
             JackClient's process callback and whatever else calls itself **Render:** in its comment
             annotations-control takes each annotation away in turn, and fails if one is not missed
vouches      every C function marked RT_SAFE stands in the table of docs/realtime.md, and nothing else does
imports      modules import only what lies below them (docs/architecture.md)

FOLDER is the package's, by default the one that this script is in. Prints one line a fault, and fails if there is one.
"""

import re
import sys
from pathlib import Path

# Tokens --------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"`?[A-Za-z_][A-Za-z_0-9]*`?|@[A-Za-z_][A-Za-z_0-9]*|->|\s+|.", re.S)


class Token:
    def __init__(self, text, line):
        self.text, self.line = text, line


def skip_string(text, at):
    """Where the string literal that begins at `at` (a quote or a #) ends; interpolations are skipped with it."""
    hashes = 0
    while text[at + hashes] == "#":
        hashes += 1
    pounds = "#" * hashes
    quote = '"""' if text.startswith('"""', at + hashes) else '"'
    i = at + hashes + len(quote)
    while i < len(text):
        if text.startswith("\\" + pounds + "(", i):
            depth, i = 1, i + 2 + hashes
            while i < len(text) and depth:
                if text[i] == '"':
                    i = skip_string(text, i)
                    continue
                depth += {"(": 1, ")": -1}.get(text[i], 0)
                i += 1
        elif text.startswith("\\" + pounds, i):
            i += 2 + hashes
        elif text.startswith(quote + pounds, i):
            return i + len(quote) + hashes
        else:
            i += 1
    return i


def tokens(text):
    """The tokens of Swift source, without comments and with every string literal as one token `""`."""
    result, i, line = [], 0, 1
    while i < len(text):
        start = i
        if text.startswith("//", i):
            i = (text.find("\n", i) + len(text) + 1) % (len(text) + 1)
        elif text.startswith("/*", i):
            depth, i = 1, i + 2
            while i < len(text) and depth:
                step = {"/*": 1, "*/": -1}.get(text[i : i + 2], 0)
                depth += step
                i += 2 if step else 1
        elif text[i] == '"' or re.match(r'#+"', text[i : i + 8]):
            i = skip_string(text, i)
            result.append(Token('""', line))
        else:
            match = TOKEN.match(text, i)
            i = match.end()
            if not match.group().isspace():
                result.append(Token(match.group(), line))
        line += text.count("\n", start, i)
    return result


def closing(list_, at):
    """Where the bracket at `at` is closed."""
    depth = 0
    for i in range(at, len(list_)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(list_[i].text, 0)
        if depth == 0:
            return i
    return len(list_) - 1


# Annotations ---------------------------------------------------------------------------------------------------

MODIFIERS = set(
    "public package internal fileprivate private open static class final mutating nonmutating consuming borrowing "
    "override required convenience prefix postfix infix indirect nonisolated unsafe set lazy weak unowned dynamic "
    "optional".split()
)
ACCESSORS = set("get set willSet didSet _read _modify read modify unsafeAddress unsafeMutableAddress init".split())


def attributes_before(list_, at):
    """The attributes of the declaration whose keyword stands at `at`, and where the declaration begins."""
    found, i = set(), at - 1
    while i >= 0:
        text = list_[i].text
        if text == ")":
            depth, j = 0, i
            while j >= 0:
                depth += {")": 1, "(": -1}.get(list_[j].text, 0)
                if depth == 0:
                    break
                j -= 1
            if j < 1 or not (list_[j - 1].text.startswith("@") or list_[j - 1].text in MODIFIERS):
                break
            i = j - 1
        elif text.startswith("@"):
            found.add(text)
            i -= 1
        elif text in MODIFIERS:
            i -= 1
        else:
            break
    return found, i + 1


def brace_of_variable(list_, at):
    """Where the accessors of the `var` or `subscript` at `at` begin; None for a stored one."""
    i = at + 1
    while i < len(list_):
        text = list_[i].text
        if text == "{":
            return i
        if text in "=;}),":
            return None
        if list_[i].line > list_[i - 1].line and i > at + 1:
            if list_[i - 1].text not in (":", ",", "->", "&", "where") and text not in ("->", "where", "&"):
                return None
        if text in "([":
            i = closing(list_, i)
        i += 1
    return None


def accessors(list_, brace):
    """Each accessor between the braces at `brace`: where its keyword stands; none for an implicit getter."""
    end, i, found = closing(list_, brace), brace + 1, []
    while i < end:
        while list_[i].text.startswith("@") or list_[i].text in MODIFIERS - {"set", "unsafe"}:
            i = closing(list_, i + 1) + 1 if list_[i + 1].text == "(" else i + 1
        if list_[i].text not in ACCESSORS:
            return found
        keyword = i
        i += 1
        if list_[i].text == "(":
            i = closing(list_, i) + 1
        while list_[i].text in ("throws", "async"):
            i += 1
        if list_[i].text == "{":
            i = closing(list_, i) + 1
        elif not (i == end or list_[i].text in ACCESSORS):
            return found
        found.append(keyword)
    return found


def declarations(list_):
    """Everything that holds code: its kind and name, where its keyword stands, and its attributes."""
    for i, token in enumerate(list_):
        before = list_[i - 1].text if i else ""
        after = list_[i + 1].text if i + 1 < len(list_) else ""
        if before == ".":
            continue
        if token.text == "func":
            name = after
            if not re.match(r"[\w`]", after):
                name = "".join(t.text for t in list_[i + 1 : i + 4]).split("(")[0]
            yield "func " + name, i, attributes_before(list_, i)
        elif token.text == "init" and after in ("(", "<", "?", "!"):
            yield "init", i, attributes_before(list_, i)
        elif token.text == "deinit" and after == "{":
            yield "deinit", i, attributes_before(list_, i)
        elif token.text == "var" or (token.text == "subscript" and after in ("(", "<")):
            brace = brace_of_variable(list_, i)
            if brace is None:
                continue
            name = "subscript" if token.text == "subscript" else "var " + after
            found = accessors(list_, brace)
            if not found:
                yield "the getter of " + name, i, (set(), attributes_before(list_, i)[1])
            for keyword in found:
                yield f"{list_[keyword].text} of {name}", keyword, attributes_before(list_, keyword)
        elif token.text in ("willSet", "didSet") and after in ("{", "("):
            yield token.text, i, attributes_before(list_, i)


def comment_above(lines, line):
    """The documentation comment that ends right above `line` (counted from 1)."""
    i, comment = line - 2, []
    while i >= 0 and lines[i].strip().startswith("///"):
        comment.insert(0, lines[i].strip()[3:].strip())
        i -= 1
    return " ".join(comment)


def faults_in(path, text, root):
    """The declarations of one file that lack the annotation; how many must have it; how many are callbacks."""
    module = path.relative_to(root / "Sources").parts[0]
    if module == "RealtimePrimitives":
        return [], 0, 0  # generics, which the attribute is refused on: checked through their callers
    lines, list_ = text.splitlines(), tokens(text)
    faults, seen, callbacks = [], 0, 0
    for name, at, (attributes, start) in declarations(list_):
        line = list_[at].line
        if module == "RenderCore":
            why = "every declaration of RenderCore"
        elif path.name == "ProcessCallback.swift" and "@c" in attributes:
            why = "a process callback"
            callbacks += 1
        elif "**Render:**" in comment_above(lines, list_[start].line):
            why = "what calls itself **Render:**"
        else:
            continue
        seen += 1
        if "@_noLocks" not in attributes:
            faults.append(f"{path.relative_to(root)}:{line}: {name} is not @_noLocks; {why} must be")
    return faults, seen, callbacks


def check_annotations(root):
    faults, seen, callbacks = [], 0, 0
    for path in sorted((root / "Sources").rglob("*.swift")):
        here = faults_in(path, path.read_text(), root)
        faults, seen, callbacks = faults + here[0], seen + here[1], callbacks + here[2]
    if (root / "Sources/JackClient").is_dir() and callbacks == 0:
        faults.append("Sources/JackClient: no process callback found: an @c function in ProcessCallback.swift")
    return faults, f"{seen} declarations are @_noLocks, {callbacks} of them process callbacks"


def control_annotations(root):
    faults, count = [], 0
    for path in sorted((root / "Sources/RenderCore").rglob("*.swift")):
        text = path.read_text()
        for match in re.finditer(r"@_noLocks\b", text):
            count += 1
            if not faults_in(path, text[: match.start()] + text[match.end() :], root)[0]:
                line = text.count("\n", 0, match.start()) + 1
                faults.append(f"{path.relative_to(root)}:{line}: nobody misses this annotation when it is gone")
    return faults, f"control: each of RenderCore's {count} annotations is missed when it is gone"


# Vouches -------------------------------------------------------------------------------------------------------


def check_vouches(root):
    used, faults = {}, []
    for path in sorted((root / "Sources").rglob("*.h")):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), path.read_text(), flags=re.S)
        for match in re.finditer(r"\bRT_SAFE\b|swift_attr", text):
            line_number = text.count("\n", 0, match.start()) + 1
            line = text.splitlines()[line_number - 1]
            if line.lstrip().startswith("#define RT_SAFE"):
                continue
            place = f"{path.relative_to(root)}:{line_number}"
            if match.group() == "swift_attr":
                if "@_noLocks" in line or "@_noAllocation" in line:
                    faults.append(f"{place}: a vouch without RT_SAFE, which is how the list finds it")
                continue
            name = re.match(r"[^({;]*?(\w+)\s*\(", text[match.end() :])
            if name is None:
                faults.append(f"{place}: RT_SAFE on something that is not a function")
            else:
                used[name.group(1)] = place
    document = root / "docs/realtime.md"
    text = document.read_text() if document.is_file() else ""
    section = re.search(r"^## [^\n]*RT_SAFE[^\n]*$(.*?)(?=^## |\Z)", text, flags=re.S | re.M)
    listed = {}
    for row in re.finditer(r"^\| `(\w+)` \|([^\n]*)\|\s*$", section.group(1) if section else "", flags=re.M):
        listed[row.group(1)] = row.group(2).strip()
    for name, place in used.items():
        if name not in listed:
            faults.append(f"{place}: {name} is vouched for and is not on the list in docs/realtime.md")
    for name, reason in listed.items():
        if name not in used:
            faults.append(f"docs/realtime.md: {name} is on the list and no header vouches for it")
        elif len(reason) < 20:
            faults.append(f"docs/realtime.md: {name}: why does it neither lock nor allocate?")
    return faults, f"{len(used)} vouched functions, each on the list with its reason"


# Imports -------------------------------------------------------------------------------------------------------

SYSTEM = {"Glibc", "Synchronization"}
ENGINE = {"CRealtime", "RealtimePrimitives", "RenderCore"}
ALLOWED = {
    "RealtimePrimitives": {"Synchronization"},
    "RenderCore": {"CRealtime", "RealtimePrimitives", "Synchronization"},
    "EngineHost": SYSTEM | ENGINE | {"Stretch", "Dispatch", "Foundation"},
    "Session": SYSTEM | {"Foundation"},
    "Doctor": SYSTEM | {"Foundation"},
    "JackClient": SYSTEM | ENGINE | {"EngineHost", "CJack", "Dispatch", "Foundation"},
    "AudioFiles": SYSTEM
    | ENGINE
    | {"EngineHost", "CAvformat", "CSndfile", "CSoxr", "Dispatch", "Foundation"},
    "Stretch": SYSTEM | {"CRubberBand", "CStretchKernels", "Foundation"},
    "LV2Host": SYSTEM | ENGINE | {"EngineHost", "CLilv", "Dispatch", "Foundation"},
    "Backline": SYSTEM
    | ENGINE
    | {"EngineHost", "Session", "JackClient", "AudioFiles", "LV2Host", "Stretch", "Doctor", "Dispatch", "Foundation"},
    # `info` reads files, `play` chooses a server, and CRealtime has the variadic ioctl that Swift cannot call.
    "BacklineCLI": SYSTEM
    | {"CRealtime", "AudioFiles", "JackClient", "Backline", "Session", "Doctor", "Dispatch", "Foundation"},
}
KINDS = set("struct class enum protocol typealias func let var actor macro".split())


def check_imports(root):
    faults, count, modules = [], 0, set()
    for path in sorted((root / "Sources").rglob("*.swift")):
        module = path.relative_to(root / "Sources").parts[0]
        if module not in ALLOWED:
            if module not in modules:
                faults.append(f"Sources/{module}: a module without a place among the arrows; say what it may import")
            modules.add(module)
            continue
        modules.add(module)
        list_ = tokens(path.read_text())
        for i, token in enumerate(list_):
            if token.text != "import" or (i and list_[i - 1].text == "."):
                continue
            named = list_[i + 1].text
            if named in KINDS:
                named = list_[i + 2].text
            count += 1
            if named not in ALLOWED[module]:
                faults.append(f"{path.relative_to(root)}:{token.line}: {module} must not import {named}")
    return faults, f"{count} imports in {len(modules)} modules, all of them downwards"


CHECKS = {
    "annotations": check_annotations,
    "annotations-control": control_annotations,
    "vouches": check_vouches,
    "imports": check_imports,
}

if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in CHECKS:
        sys.exit(__doc__)
    folder = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).resolve().parent.parent
    problems, summary = CHECKS[sys.argv[1]](folder)
    for problem in problems:
        print(f"{problem}")
    if problems:
        sys.exit(1)
    print(summary)
