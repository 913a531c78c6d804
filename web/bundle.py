#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bundle.py FOLDER - the viewer's script and style as C arrays, with their hashes for the page's content security policy.

The modules of FOLDER, from main.js on, are joined into one module in the order of their imports: import lines and the
word `export` are removed. It is an error if two modules define the same top-level name, or if a module uses `import *`,
a default export or a rename.

    bundle.py FOLDER          C source on standard output: view_script, view_style, view_script_hash, view_style_hash
    bundle.py FOLDER --script the joined module
"""
import base64
import hashlib
import os
import re
import sys

IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([\w.]+)';\n", re.M)
TOP_LEVEL = re.compile(r"^(?:async )?(?:function\*?|const|let|class) ([\w$]+)", re.M)
LIST = re.compile(r"^(?:const|let) [\[{]", re.M)


def die(text):
    sys.exit(f"bundle.py: {text}")


def read_module(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        text = file.read()
    for line in text.splitlines():
        if re.match(r"import (\*|[\w$]+[ ,])|export (default|\*|\{)", line) or re.match(r"import \{.*\bas\b", line):
            die(f"{name}: {line}: only `import {{names}} from './file.js'` and exported declarations can be joined")
    return text


def in_order(folder, name, seen, order):
    if name in seen:
        return
    seen.add(name)
    text = read_module(folder, name)
    for _, other in IMPORT.findall(text):
        in_order(folder, other, seen, order)
    order.append((name, text))


def join(folder):
    order, owners, parts = [], {}, []
    in_order(folder, "main.js", set(), order)
    for name, text in order:
        body = re.sub(r"^export ", "", IMPORT.sub("", text), flags=re.M)
        if re.search(r"^import ", body, re.M) or LIST.search(body):
            die(f"{name}: an import or declaration that cannot be joined")
        for top in TOP_LEVEL.findall(body):
            if top in owners:
                die(f"{top} is defined in {owners[top]} and in {name}")
            owners[top] = name
        parts.append(body.replace("// SPDX-License-Identifier: Apache-2.0\n", ""))
    script = "// SPDX-License-Identifier: Apache-2.0\n" + "\n".join(parts)
    if "</script" in script.lower() or "<!--" in script:
        die("the script would end its element")
    return script


def as_c(name, text):
    """An array of numbers, because C limits the length of string literals to less than the script has."""
    numbers = ",".join(str(byte) for byte in text.encode("utf-8"))
    lines = re.sub(r"(.{1,110},)", r"    \1\n", numbers)
    return f"static const unsigned char {name}[] = {{\n{lines}\n}};\n"


def hash_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def main():
    folder = sys.argv[1]
    script = join(folder)
    if sys.argv[2:] == ["--script"]:
        sys.stdout.write(script)
        return
    with open(os.path.join(folder, "page.css"), encoding="utf-8") as file:
        style = file.read()
    print("/* Made by web/bundle.py. */")
    print(as_c("view_script", script) + as_c("view_style", style))
    print(f'static const char view_script_hash[] = "{hash_of(script)}";')
    print(f'static const char view_style_hash[] = "{hash_of(style)}";')


if __name__ == "__main__":
    main()
