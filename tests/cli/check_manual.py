#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the command, its help and its manual pages agree.

manual/letters          prints the table of letters; a long name has the same letter and kind of argument everywhere
manual/VERB/page        docs/man/perfray-VERB.1.scd exists, contains the command's line of help, and scdoc accepts it
manual/VERB/options     its OPTIONS are those of `perfray VERB -h`: same names, letters, arguments, sentences, headings, order
manual/VERB/help        no line of `perfray VERB -h` is longer than 80 columns, and two or three examples are at its end
manual/VERB/help-N      each of these examples runs
manual/VERB/sections    EXAMPLES come before OPTIONS, and EXIT STATUS and SEE ALSO exist
manual/VERB/example-N   every `$ ` line of its EXAMPLES runs, and prints the lines below it, if there are any
manual/completion       bash accepts the completion, which completes commands, options and words of options
manual/readme/example-N the same as for examples of pages, for the `console` blocks of the README, run in the source tree

Recording needs permission: an example of -h may end with the status for "not permitted". In an example of a page, `...` matches any lines. It runs in a directory with the recorded fixtures, demo.data also as
perf.data, and a trace with a map of it as demo.xray and demo-map.yaml.

    check_manual.py --perfray PROGRAM --man FOLDER --fixtures FOLDER --readme FILE [--completion FILE]
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

TIME_LIMIT_SECONDS = 60
HELP_COLUMNS = 80
NOT_PERMITTED = 6
HELP_OPTION = re.compile(r"^  (?:-(?P<letter>.),|   ) --(?P<name>[\w-]+)(?: (?P<arg>\S+))?(?:\s{2,}(?P<help>\S.*))?$")
PAGE_OPTION = re.compile(r"^(?:\*-(?P<letter>.)\*, )?\*--(?P<name>[\w-]+)\*(?: _(?P<arg>.+)_)?$")


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_SECONDS, check=False,
                          **more)


def report(name, findings):
    harness.result(f"manual/{name}", list(findings))


def listed_verbs(perfray):
    """The commands of `perfray help`, with their lines."""
    text = run([perfray, "help"]).stdout.split("\n\n")[1]
    return dict(line.split(None, 1) for line in text.splitlines() if line.strip())


def help_options(perfray, verb):
    """[(letter, name, arg, help, heading)] of `perfray VERB -h`"""
    options, heading = [], None
    for line in run([perfray, verb, "-h"]).stdout.splitlines():
        match = HELP_OPTION.match(line)
        if match:
            options.append([match["letter"], match["name"], match["arg"], match["help"] or "", heading])
        elif line and not line.startswith(" "):
            heading = line
        elif options and line.startswith(" " * 20):
            options[-1][3] = (options[-1][3] + " " + line.strip()).lstrip()
        elif options and line.startswith(" " * 15):
            options[-1][2] += line.strip()
    for option in options:
        option[3] = option[3].replace(f" in perfray-{verb}(1)", "")  # the page itself names only the section
    return [tuple(option) for option in options]


def help_lines(perfray, verb):
    """Returns the faults found in the output of -h, and its examples."""
    head, _, tail = run([perfray, verb, "-h"]).stdout.partition("\nExamples:\n")
    examples = [line.strip() for line in tail.splitlines()]
    findings = [f"{len(line)} columns: {line}" for line in (head + tail).splitlines() if len(line) > HELP_COLUMNS]
    findings += [f"trailing blanks: {line}" for line in (head + tail).splitlines() if line != line.rstrip()]
    if len(examples) not in (2, 3):
        findings.append(f"{len(examples)} examples")
    return findings, examples


def check_help_example(command, folder, perfray):
    """Runs an example in a folder of its own, with its own store."""
    path = os.path.dirname(os.path.abspath(perfray)) + os.pathsep + os.environ["PATH"]
    done = run(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL,
               env={**os.environ, "PATH": path, "LC_ALL": "C", "HOME": folder, "XDG_DATA_HOME": folder})
    if done.returncode not in (0, NOT_PERMITTED if re.search(r" record | -- ", command) else 0):
        yield f"{command}: exit status {done.returncode}: {done.stderr.strip()}"


def check_help(perfray, verb, folder):
    findings, examples = help_lines(perfray, verb)
    report(f"{verb}/help", findings)
    for number, command in enumerate(examples, 1):
        report(f"{verb}/help-{number}", list(check_help_example(command, folder, perfray)))


def plain(text):
    """The text without scdoc's marks."""
    return re.sub(r"\\(.)", r"\1", re.sub(r"(?<![\\\w])[*_]|(?<!\\)[*_](?!\w)", "", text))


def page_section(page, title):
    """The lines below `# TITLE`; such a line inside a literal block is not a heading."""
    section, current, literal = [], None, False
    for line in page.splitlines():
        literal ^= line == "```"
        if line.startswith("# ") and not literal:
            current = line[2:]
        elif current == title:
            section.append(line)
    return "\n".join(section) + "\n"


def page_options(page):
    """The same for the page: the first paragraph below an option is its sentence."""
    options, heading = [], None
    for block in re.split(r"^(?=\*-|## )", page_section(page, "OPTIONS"), flags=re.M)[1:]:
        head, _, rest = block.partition("\n")
        if head.startswith("## "):
            heading = head[3:]
            continue
        match = PAGE_OPTION.match(head.replace("\\", ""))
        words = " ".join(line.strip() for line in rest.split("\n\n")[0].splitlines())
        found = (match["letter"], match["name"], match["arg"], plain(words)) if match else (None, head, None, "")
        options.append((*found, heading))
    return options


def check_options(said, written):
    for option in said:
        if option not in written:
            yield f"-h has, the page has not: {option}"
    for option in written:
        if option not in said:
            yield f"the page has, -h has not: {option}"
    if set(said) == set(written) and said != written:
        yield f"other order: -h {[o[1] for o in said]}, the page {[o[1] for o in written]}"


def check_page(path, verb, about):
    if not path.exists():
        yield f"{path.name} is missing"
        return
    page = path.read_text()
    if f"perfray-{verb} - {about}" not in page.replace("\\", ""):
        yield f"its NAME is not 'perfray-{verb} - {about}'"
    if f"'perfray-{verb}.1'" not in (path.parent.parent / "meson.build").read_text():
        yield "docs/meson.build does not make it"
    if f"*perfray-{verb}*(1)" not in path.with_name("perfray.1.scd").read_text():
        yield "perfray.1.scd does not name it"
    if shutil.which("scdoc"):
        made = run(["scdoc"], input=page)
        if made.returncode != 0:
            yield f"scdoc: {made.stderr.strip()}"


def check_sections(page):
    titles = re.findall(r"^# (.*)$", re.sub(r"^```$.*?^```$", "", page, flags=re.M | re.S), flags=re.M)
    wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "OPTIONS", "EXIT STATUS", "SEE ALSO"]
    found = [title for title in titles if title in wanted]
    if found != wanted:
        yield f"sections are {titles}, not {wanted} with details between them"


def examples_of(text, fence):
    """[(command, [expected lines])]: the `$ ` lines of the literal blocks that begin with the fence"""
    examples = []
    for block in re.findall(rf"^{fence}\n(.*?)^```$", text, flags=re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                examples.append((line[2:], []))
            elif examples and line.strip():
                examples[-1][1].append(line)
    return examples


def page_examples(page):
    return examples_of(page_section(page, "EXAMPLES"), "```")


def is_printed(expected, printed):
    """Whether the lines match; a line `...` matches any number of lines."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"\s*\n" for line in expected)
    text = "".join(line.rstrip() + "\n" for line in printed.splitlines() if line.strip())
    return re.fullmatch(pattern, text) is not None


def check_example(command, expected, folder, perfray):
    path = os.path.dirname(os.path.abspath(perfray)) + os.pathsep + os.environ["PATH"]
    done = run(["bash", "-o", "pipefail", "-c", command], cwd=folder,
               env={**os.environ, "PATH": path, "LC_ALL": "C", "TZ": "UTC"}, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        yield f"{command}: exit status {done.returncode}: {done.stderr.strip()}"
    elif expected and not is_printed(expected, done.stdout):
        yield f"{command} prints:"
        yield from ("    " + line for line in done.stdout.splitlines()[:60])
    elif not expected and not done.stdout and ">" not in command and "--aux" not in command:
        yield f"{command}: it prints nothing"


# Names that perf record has long had and that have another meaning in other commands.
OF_PERF_RECORD = {"max-size", "weight"}


def check_letters(options_of):
    """Each long name has one meaning, with the same letter, or without a letter in commands where perf uses that letter for
    something else. Prints the table."""
    by_name = {}
    for verb, options in options_of.items():
        for letter, name, arg, *_ in options:
            by_name.setdefault(name, {})[verb] = (letter, "words" if arg and "|" in arg else arg)
    by_letter = {}
    for name, uses in by_name.items():
        if name in OF_PERF_RECORD:
            uses.pop("record", None)
        letters = {letter for letter, _ in uses.values() if letter}
        if len(letters) > 1 or len({arg for _, arg in uses.values()}) > 1:
            yield f"--{name} differs: {uses}"
        for verb, (letter, _) in uses.items():
            if letter:
                by_letter.setdefault(letter, {}).setdefault(name, []).append(verb)
    for letter in sorted(by_letter, key=str.lower):
        print(f"    -{letter}", "; ".join(f"--{name} ({', '.join(verbs)})" for name, verbs in by_letter[letter].items()))


def complete(completion, words):
    """The completions that bash offers for the last word."""
    script = (f'source "{completion}"; COMP_WORDS=({" ".join(repr(word) for word in words)}); '
              f'COMP_CWORD={len(words) - 1}; _perfray; printf "%s\\n" "${{COMPREPLY[@]}}"')
    done = run(["bash", "--norc", "-c", script])
    return done.stdout.split(), done.stderr


def check_completion(completion, options_of):
    offered, complaint = complete(completion, ["perfray", ""])
    if complaint:
        yield complaint
    for verb, options in options_of.items():
        if verb not in offered:
            yield f"{verb} is not offered"
        names = {f"--{name}" for _, name, *_ in options}
        got = set(complete(completion, ["perfray", verb, "--"])[0])
        if got != names:
            yield f"{verb} --: missing {sorted(names - got)}, too many {sorted(got - names)}"
        for _, name, arg, *_ in options:
            if arg and "|" in arg:
                got = complete(completion, ["perfray", verb, f"--{name}", ""])[0]
                attached = complete(completion, ["perfray", verb, f"--{name}", "=", ""])[0]
                if got != arg.split("|") or attached != got:
                    yield f"{verb} --{name}: {got} {attached}"


def prepare_folder(folder, fixtures):
    recorded = Path(fixtures) / "recorded"
    for entry in recorded.iterdir():
        target = Path(folder) / entry.name
        if entry.is_dir():
            shutil.copytree(entry, target)
        else:
            shutil.copy(entry, target)
    shutil.copy(recorded / "demo.data", Path(folder) / "perf.data")
    shutil.copy(Path(fixtures) / "xray" / "fdr-v5.xray", Path(folder) / "demo.xray")
    shutil.copy(Path(fixtures) / "maps" / "functions.yaml", Path(folder) / "demo-map.yaml")


def prepare_help_folder(folder, fixtures):
    """Makes the files that the examples of -h read, and an instrumented program."""
    prepare_folder(folder, fixtures)
    for name in ("old.data", "new.data"):
        shutil.copy(Path(folder) / "perf.data", Path(folder) / name)
    shutil.copy(Path(folder) / "demo.xray", Path(folder) / "perfray.xray")
    source = "int twice(int x) { return 2 * x; } int main(void) { return twice(0); }"
    run(["gcc", "-finstrument-functions", "-x", "c", "-o", str(Path(folder) / "program"), "-"], input=source)


def check_verb(options, verb, about, said, folder):
    path = options.man / f"perfray-{verb}.1.scd"
    page = path.read_text() if path.exists() else ""
    report(f"{verb}/page", list(check_page(path, verb, about)))
    report(f"{verb}/options", list(check_options(said, page_options(page))))
    report(f"{verb}/sections", list(check_sections(page)))
    examples = page_examples(page)
    report(f"{verb}/examples", [] if examples else ["there are none"])
    for number, (command, expected) in enumerate(examples, 1):
        report(f"{verb}/example-{number}", list(check_example(command, expected, folder, options.perfray)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perfray", required=True)
    parser.add_argument("--man", type=Path, required=True)
    parser.add_argument("--fixtures", required=True)
    parser.add_argument("--readme", type=Path, required=True)
    parser.add_argument("--completion")
    options = parser.parse_args()
    verbs = listed_verbs(options.perfray)
    options_of = {verb: help_options(options.perfray, verb) for verb in verbs}
    report("letters", list(check_letters(options_of)))
    with harness.scratch("manual") as folder:
        prepare_folder(folder, options.fixtures)
        for verb, about in verbs.items():
            check_verb(options, verb, about, options_of[verb], folder)
        report("perfray/help", [line for line in run([options.perfray, "-h"]).stdout.splitlines() if len(line) > HELP_COLUMNS])
        overview = options.man / "perfray.1.scd"
        for number, (command, expected) in enumerate(page_examples(overview.read_text()), 1):
            report(f"perfray/example-{number}", list(check_example(command, expected, folder, options.perfray)))
    for verb in verbs:
        with harness.scratch("help") as folder:
            prepare_help_folder(folder, options.fixtures)
            check_help(options.perfray, verb, folder)
    for number, (command, expected) in enumerate(examples_of(options.readme.read_text(), "```console"), 1):
        findings = list(check_example(command, expected, options.readme.parent, options.perfray))
        report(f"readme/example-{number}", findings)
    if options.completion:
        report("completion", list(check_completion(options.completion, options_of)))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
