# SPDX-License-Identifier: Apache-2.0
"""Fields that quipper computes from the contents of a file and writes in addition; computed here from our output in the
same way.

Golden dumps were made by several versions of quipper, and a dump lacks the fields that its version did not have. So a
field is compared only if the dump contains it somewhere (`keep_occurring`).
"""
import hashlib

TEXTS = ("filename", "comm", "entries.comm")  # fields of events for which there is also an md5 prefix
MD5 = "_md5_prefix"
AUX_FLAGS = ("is_truncated", "is_overwrite", "is_partial")  # the lowest bit first
MADE = ("timestamp", "root_path", "is_out", "no_hw_idx", *AUX_FLAGS)
SWITCH_OUT = 1 << 13


def is_made(name):
    return name in MADE or name.endswith(MD5)


def md5_prefix(text):
    """The first eight bytes of the MD5 of a text, as a big-endian number."""
    return int.from_bytes(hashlib.md5(text.encode("utf-8", "surrogateescape")).digest()[:8], "big")


def root_path(filename):
    """The two outermost folders of a file; empty for names that are not paths."""
    if not filename.startswith("/"):
        return ""
    if filename.startswith("//"):  # //anon: memory without a file
        return "//"
    return "/".join(filename.split("/")[:-1][:3])


def make_of_map(record, body):
    path = root_path(body["filename"][0]) if "filename" in body else ""
    return {"root_path": [path], "root_path" + MD5: [md5_prefix(path)]}


def make_of_switch(record, body):
    return {"is_out": [int(record.get("misc", 0) & SWITCH_OUT != 0)]}


def make_of_aux(record, body):
    flags = record["fields"].get("flags", 0)
    return {name: [flags >> bit & 1] for bit, name in enumerate(AUX_FLAGS)}


def make_of_sample(record, body):
    branch = record["fields"].get("branch")
    return {"no_hw_idx": [int(branch is not None and "hw_idx" not in branch)]}


OF_MESSAGE = {"mmap_event": make_of_map, "context_switch_event": make_of_switch, "aux_event": make_of_aux,
              "sample_event": make_of_sample}


def make_fields(record, message, body, tail):
    """The fields of this event that quipper computes; `body` and `tail` are ours under quipper's names."""
    made = OF_MESSAGE[message](record, body) if message in OF_MESSAGE else {}
    for name in TEXTS:
        if name in body:
            made[name + MD5] = [md5_prefix(text) for text in body[name]]
    # quipper's sort key, which is the time of the record.
    made["timestamp"] = (body if message == "sample_event" else tail).get("sample_time_ns", [0])
    return made


def keep_occurring(message, made, occurring):
    """`made` without fields that do not occur in the golden dump; the timestamp is outside the event's message."""
    return {name: values for name, values in made.items() if {(message, name), ("", name)} & occurring}
