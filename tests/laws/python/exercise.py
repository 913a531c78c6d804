# SPDX-License-Identifier: Apache-2.0
"""Uses every function of a model once: exercise.py FILE... prints each name before it opens the file.

Ends with status 1 at the first exception that is not a perfray.Error. pandas frames are made if pandas is installed.
"""
import faulthandler
import itertools
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bindings", "python"))
import perfray  # noqa: E402

try:
    import pandas  # noqa: F401
    HAS_PANDAS = True
except ImportError:
    HAS_PANDAS = False

KEPT = ("time", "thread", "cpu", "event", "mode", "weight", "period", "comm")
ROWS_MOST = 3000  # number of rows of a file that are read as objects


def ask_tables(model):
    for table in (model.events, model.processes, model.threads, model.comms, model.objects, model.symbols, model.frames):
        rows = list(table)
        assert len(rows) == len(table) and table.get(0) is None and table.get(len(table) + 1) is None
        assert not rows or table[1] == rows[0]
        try:
            raise AssertionError(table[len(table) + 1])
        except IndexError:
            pass


def ask_stacks(model):
    stacks = model.stacks
    for stack in itertools.islice(stacks, ROWS_MOST):
        parent = stack.parent
        assert (parent is None) == (stack.depth == 0) and (parent is None or parent.id < stack.id)
        assert stack.frame.symbol == stack.symbol and stack.text.count(";") >= 0
        assert len(stack.frames) == stack.depth + 1 or stack.depth == 65535
        assert stack.is_outer in (True, False) and stack.is_apart in (True, False)
    columns = stacks.columns()
    assert columns.rows == len(stacks) + 1 and all(column[0] == 0 for column in columns.values())


def ask_samples(model):
    count = 0
    for sample in itertools.islice(model.samples(in_time_order=True), ROWS_MOST):
        count += 1
        assert sample.event in model.events[:] and sample.record is None and repr(sample) and sample.mode
        assert sample.thread is None or sample.thread.comm is not None
    columns = model.samples().columns()
    assert columns.rows == model.sample_count and count == min(model.sample_count, ROWS_MOST)
    for name, column in model.columns.items():
        assert column.tolist() == columns[name].tolist(), name
    for row in model.events:
        if not row.is_traced:
            assert model.samples(event=row).columns().rows == row.samples, row
    try:
        for sample in itertools.islice(model.samples(records=True), 50):
            assert sample.record.name in ("sample", "read") and len(sample.record.bytes) == sample.record.size
    except perfray.Error as error:
        assert error.status == "usage", error
    if HAS_PANDAS:
        assert len(model.samples().to_pandas()) == model.sample_count


def ask_calls(model):
    for call in itertools.islice(model.calls(), ROWS_MOST):
        assert call.symbol.text and call.thread and repr(call) and (call.duration is None) == call.is_open
    assert model.calls().columns().rows == model.call_count
    if HAS_PANDAS:
        assert len(model.calls().to_pandas()) == model.call_count
    if any(event.is_traced for event in model.events):
        assert model.latency(histogram=True, by="caller").unit == model.time_unit and model.latency("*", by="thread") is not None


def ask_sums(model):
    rows = model.flat()
    assert sum(row.samples for row in rows) <= model.sample_count + model.call_count
    for event in model.events:
        tree, own = model.tree(event), model.weights(event)["self"]
        assert event.is_traced or tree.weight <= event.weight
        assert sum(node.self_weight for _, node in itertools.islice(tree.walk(), ROWS_MOST)) <= sum(own.tolist())
        for row in model.functions(event)[:3]:
            assert sum(one.weight for one in model.callers(row.symbol, event)) >= row.weight or row.object.startswith("[")
        assert tree.text() is not None and "<div" in tree._repr_html_()
    assert "<div" in model._repr_html_() and "<table" in rows._repr_html_()


def ask_facts(model):
    assert "lossy" in model.quality and model.meta["format"] and isinstance(model.losses, dict)
    rows = [*model.intervals, *model.marks, *model.holes, *model.notes]
    assert all(map(repr, rows)) and repr(model)
    assert model.sql("SELECT count(*) n FROM sample").dicts() == [{"n": model.sample_count}]
    assert model.sql("SELECT count(*) FROM record WHERE name=:name", name="comm")
    for record in itertools.islice(model.records("comm", "fork"), 20):
        assert record["pid"] is not None
    try:
        model.symbolize(1, 1, 0x401000)
    except perfray.Error as error:
        assert error.status == "usage", error


def ask(path, **options):
    with perfray.open_model(path, **options) as model:
        for part in (ask_tables, ask_stacks, ask_samples, ask_calls, ask_sums, ask_facts):
            part(model)


def main():
    faulthandler.enable()
    warnings.simplefilter("ignore", perfray.DamageWarning)
    for path in sys.argv[1:]:
        print(path, flush=True)
        try:
            ask(path, columns=KEPT)
        except perfray.Error as error:
            print("    %s: %s" % (error.status, error), flush=True)


if __name__ == "__main__":
    main()
