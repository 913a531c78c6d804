#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perfray sql compared with other commands and with its documentation.

sql/dump/FILE       every table of records has the values that dump --format=jsonl prints
sql/report/FILE     recipes 1 and 2 have the weights that report prints
sql/refused         statements other than queries end with status 1 and change nothing
sql/schema          tables and columns are those of sql_schema.txt, which may only grow
sql/page            docs/sql.md names every table of the model with its columns, and contains the tested recipes
sql/recipes         every recipe runs
sql/rows/FILE       recipes return the rows of sql_recipes.json; `run_sql.py --update-rows` writes them (review the difference)
sql/saved           the database written by -o has the same rows; other files are not overwritten
sql/extension       the loadable extension gives the same results in Python's sqlite3
sql/damage          damage is in `quality` and ends with status 4
"""
import glob
import json
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(harness.FIXTURES, "recorded")
XRAY = os.path.join(harness.FIXTURES, "xray")
PAGE = os.path.join(harness.ROOT, "docs", "sql.md")
U64 = 1 << 64
REFUSED = (
    "DROP TABLE sample", "CREATE TABLE x(a)", "CREATE TEMP TABLE x AS SELECT 1", "CREATE VIRTUAL TABLE x USING perfray_rows(0,0)",
    "INSERT INTO sample(id) VALUES(1)", "UPDATE comm SET pid=1", "DELETE FROM record", "ATTACH 'other.db' AS other",
    "DETACH x", "VACUUM INTO 'other.db'", "PRAGMA writable_schema=1", "PRAGMA journal_mode=DELETE", "PRAGMA database_list",
    "UPDATE sqlite_master SET name='x'", "SELECT load_extension('other')", "BEGIN", "SAVEPOINT x", "REINDEX",
    "ANALYZE", "SELECT readfile('other')", "SELECT fts3_tokenizer('x')", "SELECT * FROM nothing", "SELEC", "SELECT :unbound",
    "SELECT ?", "SELECT 'a' REGEXP '('", "SELECT percentile(1, 101)", "EXPLAIN DROP TABLE sample",
)


def sql(query, *files, form="jsonl", options=()):
    return harness.perfray("sql", "--format=" + form, *options, "-q", query, *files)


def rows(query, *files, options=()):
    done = sql(query, *files, options=options)
    if done.returncode not in (0, 4):
        raise harness.Wrong("%s: %s" % (query, done.stderr.decode()))
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def tell(wrong):
    if wrong:
        raise harness.Wrong("\n".join(wrong[:harness.SHOWN]))


def same(value, column):
    """The values of dump and SQL in one form: SQL has no unsigned 64-bit numbers, and has arrays as texts."""
    if isinstance(value, bool) or isinstance(column, bool):
        return False
    if isinstance(value, (list, dict)):
        return isinstance(column, str) and json.loads(column) == value
    if isinstance(value, int) and isinstance(column, int):
        return value % U64 == column % U64
    if isinstance(value, float) or isinstance(column, float):
        return float(value) == float(column)
    return value == column


def flatten(fields, prefix, columns, found, wrong):
    for key, value in fields.items():
        name = prefix + key
        if name in columns:
            found[name] = value
        elif isinstance(value, dict):
            flatten(value, name + "_", columns, found, wrong)
        else:
            wrong.append("no column %s" % name)


def compare_row(record, row, wrong):
    found = {}
    flatten(record.get("fields", {}), "", row, found, wrong)
    flatten(record.get("id", {}), "id_", row, found, wrong)
    if "trailing" in record:
        found["record_trailing"] = record["trailing"]
    for name, key in (("offset", "offset"), ("size", "size"), ("misc", "misc"), ("event", "event"), ("inner", "inner"),
                      ("tsc", "tsc")):
        if key in record:
            found["record_" + name] = record[key]
    for name, value in found.items():
        if not same(value, row[name]):
            wrong.append("%s at %s: dump %r, sql %r" % (name, record["offset"], value, row[name]))
    kept = ("ts", "record_part", "record_pid", "record_tid", "record_cpu")
    for name, value in row.items():
        if value is not None and name not in found and name not in kept:
            wrong.append("%s at %s: only sql has %r" % (name, record["offset"], value))


def check_tables(path):
    done = harness.perfray("dump", "--format=jsonl", path)
    records = [r for r in map(json.loads, done.stdout.decode().splitlines()) if "type" in r]
    wrong = []
    by_name = {}
    for record in records:
        by_name.setdefault(record["name"], []).append(record)
    listed = rows("SELECT * FROM record", path)
    if len(listed) != len(records):
        wrong.append("record has %d rows, the dump %d" % (len(listed), len(records)))
    for record, row in zip(records, listed):
        has = {"name": None if record["name"] == "unknown" else record["name"], "fields": record.get("fields"),
               "id": record.get("id"), "offset": record["offset"], "part": record.get("part", 0)}
        if record["name"] == "unknown" or "damaged" in record:
            has["fields"] = None
        wrong += ["record.%s at %d" % (key, record["offset"]) for key, value in has.items() if not same(value, row[key])]
    for name, whole in by_name.items():
        if name == "unknown":
            continue
        table = "record_sample" if name == "sample" else name
        whole = [record for record in whole if "damaged" not in record]
        columns = [c["name"] for c in rows("SELECT name FROM pragma_table_xinfo('%s')" % table, path)]
        got = rows("SELECT %s FROM \"%s\"" % (",".join('"%s"' % c for c in columns), table), path)
        if len(got) != len(whole):
            wrong.append("%s has %d rows, the dump %d" % (table, len(got), len(whole)))
        for record, row in zip(whole, got):
            compare_row(record, row, wrong)
    tell(wrong)


def rows_of_report(path, children):
    """Weights by object and name, without unnamed functions: report, like perf, prints separate rows for unnamed callers."""
    done = harness.perfray("report", "--format=json", "--children" if children else "--no-children", "-g", "none", "-s", "dso,sym",
                           "--percent-limit", "0", path)
    sums = {}
    for row in json.loads(done.stdout)["events"][0]["rows"]:
        name = row["sym"][4:]
        if not re.fullmatch("(0x)?[0-9a-f]{16}", name):
            sums[row["dso"], name] = sums.get((row["dso"], name), 0) + row["weight"]
    return sums


def has_one_sum(path):
    """The recipes add up all events; report has a table for each."""
    return len(rows("SELECT id FROM event", path)) == 1 and bool(rows("SELECT 1 FROM stack LIMIT 1", path))


def check_report(path):
    wrong = []
    recipes = {number: query for number, _, query in recipes_of_page()}
    for number, column in ((1, "self"), (2, "total")):
        theirs = rows_of_report(path, column == "total")
        mine = {}
        for row in rows("SELECT o.name AS dso, f.name, f.%s AS w FROM function f JOIN symbol y ON y.id=f.symbol_id "
                        "JOIN object o ON o.id=y.object_id WHERE f.name IS NOT NULL AND w>0" % column, path):
            mine[row["dso"], row["name"]] = mine.get((row["dso"], row["name"]), 0) + row["w"]
        theirs = {key: value for key, value in theirs.items() if value}
        if theirs != mine:
            wrong.append("%s: report %r, sql %r" % (column, sorted(theirs.items() - mine.items())[:3], sorted(mine.items() - theirs.items())[:3]))
        of_recipe = sorted((row[column] for row in rows(recipes[number], path) if row["name"]), reverse=True)
        every = sorted(row["w"] for row in rows("SELECT %s AS w FROM function WHERE name IS NOT NULL" % column, path))[::-1]
        if of_recipe != every[:len(of_recipe)]:
            wrong.append("recipe %d: %r, of all %r" % (number, of_recipe[:3], every[:3]))
    one = rows("SELECT sum(weight) AS w FROM sample WHERE stack_id IS NOT NULL", path)[0]["w"]
    if one != rows("SELECT sum(self) AS w FROM function", path)[0]["w"]:
        wrong.append("function.self does not add up to the samples")
    tell(wrong)


def check_refused():
    wrong = []
    path = os.path.join(RECORDED, "demo.data")
    with harness.scratch("sql") as folder:
        for query in REFUSED:
            done = harness.perfray("sql", "-q", query, path, cwd=folder)
            if done.returncode != 1 or done.stdout or not done.stderr:
                wrong.append("%s: status %d, %r" % (query, done.returncode, done.stderr))
        if os.listdir(folder):
            wrong.append("left behind: %r" % os.listdir(folder))
    tell(wrong)


def schema_of(path):
    return ["%(t)s.%(c)s %(y)s" % row for row in rows(
        "SELECT t.name AS t, c.name AS c, c.type AS y FROM pragma_table_list t JOIN pragma_table_xinfo(t.name, t.schema) c "
        "WHERE t.schema='demo' AND t.name<>'sqlite_schema' ORDER BY t.name, c.cid", path)]


def check_schema():
    path = os.path.join(RECORDED, "demo.data")
    frozen = os.path.join(HERE, "sql_schema.txt")
    now = schema_of(path)
    if "--update" in sys.argv:
        with open(frozen, "w") as out:
            out.write("\n".join(now) + "\n")
    with open(frozen) as kept:
        before = kept.read().splitlines()
    tell(["not the same: %s" % line for line in sorted(set(before) ^ set(now))])


def recipes_of_page():
    """[(number, title, query)]"""
    with open(PAGE) as page:
        text = page.read()
    return [(int(n), title, query.strip().rstrip(";")) for n, title, query in
            re.findall(r"^### (\d+)\. ([^\n]*)\n\n```sql\n(.*?)```", text, re.M | re.S)]


def check_page():
    wrong = []
    with open(PAGE) as page:
        text = page.read()
    columns = {}
    for line in schema_of(os.path.join(RECORDED, "demo.data")):
        table, column = line.split(" ")[0].split(".", 1)
        columns.setdefault(table, []).append(column)
    for table in ("event", "process", "thread", "object", "symbol", "frame", "stack", "sample", "call", "wait", "interval", "mark",
                  "quality",
                  "meta", "function", "sample_text", "record", "stack_symbol"):
        part = re.search(r"^### `%s`\n(.*?)(?=^##)" % table, text + "\n## ", re.M | re.S)
        listed = re.findall(r"^\| `(\w+)`", part.group(1), re.M) if part else []
        if listed != columns.get(table):
            wrong.append("%s: the page has %r, the table %r" % (table, listed, columns.get(table)))
    if len(recipes_of_page()) != 20:
        wrong.append("%d recipes" % len(recipes_of_page()))
    tell(wrong)


def parameters(path):
    found = rows("SELECT name FROM function WHERE name IS NOT NULL ORDER BY total DESC, name LIMIT 1", path)
    return ["--param", "function=" + (found[0]["name"] if found else "none"), "--param", "from=0", "--param",
            "to=9000000000000000000"]


def check_recipes(path):
    wrong = []
    given = parameters(path)
    answers = {}
    for number, _, query in recipes_of_page():
        done = sql(query, path, options=given)
        answers[number] = [json.loads(line) for line in done.stdout.decode().splitlines()]
        if done.returncode != 0:
            wrong.append("%d: %s" % (number, done.stderr.decode()))
    wrong += check_answers(answers, path)
    tell(wrong)


ROWS = os.path.join(HERE, "sql_recipes.json")
KEPT = {"demo.data": ["--symfs", os.path.join(RECORDED, "demo-root"), "--kallsyms", "/dev/null"],
        "waits.data": ["--symfs", "/sys", "--kallsyms", "/dev/null"],
        "traced.xray": ["-m", os.path.join(harness.FIXTURES, "traced", "traced.yaml")]}
ASKED = {"demo.data": "sieve", "waits.data": "none", "traced.xray": None}


def path_of(name):
    return os.path.join(harness.FIXTURES, "traced" if name.endswith(".xray") else "recorded", name)


def rows_of_recipes(name):
    """Number of a recipe -> its rows."""
    path, options = path_of(name), KEPT[name] + ["--no-cache"]
    function = ASKED[name] or rows("SELECT name FROM function ORDER BY total DESC, name LIMIT 1", path, options=options)[0]["name"]
    given = options + ["--param", "function=" + function, "--param", "from=0", "--param", "to=9000000000000000000"]
    found = {str(number): rows(query, path, options=given) for number, _, query in recipes_of_page()}
    return json.loads(json.dumps(found).replace(harness.FIXTURES, "FIXTURES"))


def check_rows(name):
    with open(ROWS) as file:
        wanted = json.load(file)[name]
    found = rows_of_recipes(name)
    tell(["recipe %s: %s" % (number, harness.first_difference(wanted.get(number), found[number]))
          for number in found if found[number] != wanted.get(number)])


def update_rows():
    with open(ROWS, "w") as file:
        json.dump({name: rows_of_recipes(name) for name in KEPT}, file, indent=1)
        file.write("\n")


def check_answers(answers, path):
    """Relations between the results that hold for any recording."""
    all_of_it = rows("SELECT sum(self) AS w FROM stack", path)[0]["w"] or 0
    totals = {row["name"]: row["total"] for row in answers[2]}
    if answers[1] and answers[1][0]["self"] > all_of_it:
        yield "1: more than all"
    if sum(row["weight"] for row in answers[8]) != all_of_it:
        yield "8: objects do not add up to all"
    if sum(row["weight"] for row in answers[14]) != all_of_it:
        yield "14: depths do not add up to all"
    samples = rows("SELECT sum(weight) AS w FROM sample", path)[0]["w"]
    for number in (9, 10):
        if answers[9] and samples and sum(row["weight"] for row in answers[number]) != samples:
            yield "%d: does not add up to the samples" % number
    for row in answers[11]:
        if row["name"] in totals and totals[row["name"]] != row["total"] and len(answers[2]) < 10:
            yield "11: %s has %d, and %d in recipe 2" % (row["name"], row["total"], totals[row["name"]])
    function = rows("SELECT total FROM function WHERE name IS NOT NULL ORDER BY total DESC, name LIMIT 1", path)
    if function and sum(row["weight"] for row in answers[4]) != function[0]["total"]:
        yield "4: callers do not add up to the function"


def check_saved():
    wrong = []
    path = os.path.join(RECORDED, "chains.data")
    with harness.scratch("sql") as folder:
        target = os.path.join(folder, "x.db")
        for time in ("first", "again"):
            done = harness.perfray("sql", "-o", target, path)
            if done.returncode != 0:
                wrong.append("%s: %s" % (time, done.stderr.decode()))
        if os.stat(target).st_mode & 0o777 != 0o600 or sorted(os.listdir(folder)) != ["x.db"]:
            wrong.append("the file is not alone, or not 0600")
        db = sqlite3.connect(target)
        for number, _, query in recipes_of_page():
            if "stack_text" in query or "stack_symbol" in query or "percentile" in query or ":" in query:
                continue
            mine = [list(row.values()) for row in rows(query, path)]
            if [list(row) for row in db.execute(query)] != mine:
                wrong.append("recipe %d has other rows" % number)
        db.close()
        other = os.path.join(folder, "other.db")
        with open(other, "w") as file:
            file.write("mine")
        done = harness.perfray("sql", "-o", other, path)
        if done.returncode != 2 or open(other).read() != "mine":
            wrong.append("a file of others: status %d" % done.returncode)
        os.symlink(target, os.path.join(folder, "link.db"))
        if harness.perfray("sql", "-o", os.path.join(folder, "link.db"), path).returncode != 2:
            wrong.append("a link was followed")
    tell(wrong)


def check_extension():
    library = os.path.join(os.path.dirname(os.environ["PERFRAY_LIBRARY"]), "perfray_sqlite.so")
    db = sqlite3.connect(":memory:")
    if not hasattr(db, "enable_load_extension") or not os.path.exists(library):
        raise harness.Skip("no loadable extensions")
    wrong = []
    db.enable_load_extension(True)
    db.load_extension(library)
    path = os.path.join(RECORDED, "chains.data")
    query = "SELECT name, self, total FROM function ORDER BY symbol_id"
    db.execute("SELECT perfray_open(?)", (path,)).fetchall()
    if [list(row) for row in db.execute(query)] != [list(row.values()) for row in rows(query, path)]:
        wrong.append("function has other rows")
    try:
        db.execute("SELECT perfray_open('/nowhere')").fetchall()
        wrong.append("a missing file is no error")
    except sqlite3.OperationalError:
        pass
    db.close()
    tell(wrong)


def check_damage():
    wrong = []
    with open(os.path.join(RECORDED, "demo.data"), "rb") as file:
        whole = file.read()
    with harness.scratch("sql") as folder:
        path = os.path.join(folder, "cut.data")
        with open(path, "wb") as file:
            file.write(whole[:len(whole) // 2] + b"\xff" * 64 + whole[len(whole) // 2 + 64:])
        done = sql("SELECT value FROM quality WHERE key='holes'", path)
        if done.returncode != 4 or json.loads(done.stdout)["value"] == 0 or not done.stderr:
            wrong.append("status %d, %r" % (done.returncode, done.stdout))
    tell(wrong)


def main():
    if sys.argv[1:] == ["--extension"]:
        harness.attempt("sql/extension", check_extension)
        return harness.status()
    if sys.argv[1:] == ["--update-rows"]:
        return update_rows()
    files = sorted(glob.glob(os.path.join(RECORDED, "*.data")))
    if sys.argv[1:] == ["--few"] and not harness.LONG:  # with sanitizers
        files = files[::4]
    traces = sorted(glob.glob(os.path.join(XRAY, "*.xray")))
    for path in files + (traces if harness.LONG else traces[::4]):
        harness.attempt("sql/dump/" + os.path.basename(path), check_tables, path)
    for path in files if harness.LONG else files[::3]:
        if has_one_sum(path):
            harness.attempt("sql/report/" + os.path.basename(path), check_report, path)
    for path in (os.path.join(RECORDED, "chains.data"), os.path.join(XRAY, "fdr-v5.xray")):
        harness.attempt("sql/recipes/" + os.path.basename(path), check_recipes, path)
    for name in KEPT:
        harness.attempt("sql/rows/" + name, check_rows, name)
    for check in (check_refused, check_schema, check_page, check_saved, check_damage):
        harness.attempt("sql/" + check.__name__[len("check_"):], check)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
