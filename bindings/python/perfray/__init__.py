# SPDX-License-Identifier: Apache-2.0
"""Reads recordings of perf and XRay traces with libperfray.

A model contains stacks, samples, calls, names and sums:

    import perfray

    model = perfray.open_model("perf.data")
    for row in model.flat()[:10]:
        print(row.percent, row.symbol)
    frame = model.samples().to_pandas()
    model.sql("SELECT name, self FROM function ORDER BY self DESC LIMIT 5")

Raw records can be iterated in file order:

    with perfray.open("perf.data") as recording:
        for record in recording:
            if record.name == "sample":
                print(record["time"], hex(record["ip"]))
        for hole in recording.holes:
            print("byte", hole.offset, hole.text)

Numbers are ints. Texts of the recording are str, with `\\xNN` for unprintable bytes, as everywhere in perfray; raw bytes are bytes. The
library runs without the GIL. The environment variable PERFRAY_LIBRARY names another libperfray to load instead of the package's.
ImportError: the library is missing.
"""
from perfray._columns import Columns
from perfray._cursors import Call, Calls, Sample, Samples
from perfray._library import DamageWarning, Error, Hole
from perfray._model import Model, Place, flat, open_model
from perfray._queries import Bin, Latency, LatencyRow, SqlRows
from perfray._recorder import Recorder, RecordResult, record
from perfray._recording import Record, Recording, dump, open
from perfray._rows import Rows
from perfray._stacks import Stack, Stacks
from perfray._tables import Event, Frame, Interval, Mark, Object, Process, Symbol, Table, Thread
from perfray._weights import CallerRow, FlatRow, FunctionRow, Node, Tree

__version__ = "0.1.0"

__all__ = [
    "Bin", "Call", "CallerRow", "Calls", "Columns", "DamageWarning", "Error", "Event", "FlatRow", "Frame", "FunctionRow", "Hole",
    "Interval", "Latency", "LatencyRow", "Mark", "Model", "Node", "Object", "Place", "Process", "Record", "Recorder", "RecordResult",
    "Recording", "Rows", "Sample", "Samples", "SqlRows", "Stack", "Stacks", "Symbol", "Table", "Thread", "Tree", "dump", "flat", "open",
    "open_model", "record",
]
