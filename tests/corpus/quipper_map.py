# SPDX-License-Identifier: Apache-2.0
"""Which field of our JSON a field of quipper's golden dump is: the one place to change when a name changes.

EVENTS names, per message of a quipper event, {quipper field: path in the JSON object of the record}; several paths
separated by `|` are tried in order. A path goes through objects and, over `[]`, through every element of an array.
Fields that quipper makes itself (md5 prefixes, root paths, its own time stamp) are in MADE_BY_QUIPPER.
"""

TAIL = {"pid": "id.pid", "tid": "id.tid", "sample_time_ns": "id.time", "id": "id.id|id.identifier",
        "cpu": "id.cpu", "stream_id": "id.stream_id"}

MMAP = {"pid": "fields.pid", "tid": "fields.tid", "start": "fields.addr", "len": "fields.len", "pgoff": "fields.pgoff",
        "maj": "fields.maj", "min": "fields.min", "ino": "fields.ino", "ino_generation": "fields.ino_generation",
        "prot": "fields.prot", "flags": "fields.flags", "filename": "fields.filename"}
TASK = {"pid": "fields.pid", "ppid": "fields.ppid", "tid": "fields.tid", "ptid": "fields.ptid",
        "fork_time_ns": "fields.time"}

EVENTS = {
    "mmap_event": MMAP,
    "comm_event": {"pid": "fields.pid", "tid": "fields.tid", "comm": "fields.comm"},
    "fork_event": TASK,
    "exit_event": TASK,
    "lost_event": {"id": "fields.id", "lost": "fields.lost"},
    "throttle_event": {"time_ns": "fields.time", "id": "fields.id", "stream_id": "fields.stream_id"},
    "sample_event": {
        "ip": "fields.ip", "pid": "fields.pid", "tid": "fields.tid", "sample_time_ns": "fields.time",
        "addr": "fields.addr", "id": "fields.id|fields.identifier", "stream_id": "fields.stream_id",
        "cpu": "fields.cpu", "period": "fields.period", "weight": "fields.weight",
        "callchain": "fields.chain[]", "raw_size": "fields.raw.size", "raw": "fields.raw.data",
        "branch_stack.from_ip": "fields.branch.entries[].from", "branch_stack.to_ip": "fields.branch.entries[].to",
        "branch_stack.mispredicted": "fields.branch.entries[].mispred",
        "branch_stack.predicted": "fields.branch.entries[].predicted",
        "branch_stack.in_transaction": "fields.branch.entries[].in_tx",
        "branch_stack.abort": "fields.branch.entries[].abort",
        "branch_stack.cycles": "fields.branch.entries[].cycles", "branch_stack.type": "fields.branch.entries[].type",
        "branch_stack.spec": "fields.branch.entries[].spec",
    },
    "aux_event": {"aux_offset": "fields.aux_offset", "aux_size": "fields.aux_size"},
    "itrace_start_event": {"pid": "fields.pid", "tid": "fields.tid"},
    "lost_samples_event": {"num_lost": "fields.lost"},
    "context_switch_event": {"next_prev_pid": "fields.next_prev_pid", "next_prev_tid": "fields.next_prev_tid"},
    "namespaces_event": {"pid": "fields.pid", "tid": "fields.tid", "link_info.dev": "fields.link_info[].dev",
                         "link_info.ino": "fields.link_info[].ino"},
    "ksymbol_event": {"addr": "fields.addr", "len": "fields.len", "ksym_type": "fields.ksym_type",
                      "flags": "fields.flags", "name": "fields.name"},
    "auxtrace_info_event": {"type": "fields.type", "unparsed_binary_blob_priv_data": "fields.priv[]"},
    "auxtrace_event": {"size": "fields.size", "offset": "fields.offset", "reference": "fields.reference",
                       "idx": "fields.idx", "tid": "fields.tid", "cpu": "fields.cpu"},
    "thread_map_event": {"entries.pid": "fields.entries[].pid", "entries.comm": "fields.entries[].comm"},
    "time_conv_event": {"time_shift": "fields.time_shift", "time_mult": "fields.time_mult",
                        "time_zero": "fields.time_zero",
                        "time_cycles": "fields.time_cycles", "time_mask": "fields.time_mask",
                        "cap_user_time_zero": "fields.cap_user_time_zero",
                        "cap_user_time_short": "fields.cap_user_time_short"},
}

# The message that holds a record of this type; other types are not in quipper's events at all.
MESSAGE_OF_TYPE = {
    1: "mmap_event", 2: "lost_event", 3: "comm_event", 4: "exit_event", 5: "throttle_event", 6: "throttle_event",
    7: "fork_event", 9: "sample_event", 10: "mmap_event", 11: "aux_event", 12: "itrace_start_event",
    13: "lost_samples_event", 14: "context_switch_event", 15: "context_switch_event", 16: "namespaces_event",
    17: "ksymbol_event", 68: None, 70: "auxtrace_info_event", 71: "auxtrace_event", 73: "thread_map_event",
    79: "time_conv_event",
}

MADE_BY_QUIPPER = ("md5_prefix", "root_path", "no_hw_idx", "branch_stack_hw_idx", "trace_data", "is_out",
                   "is_truncated", "is_overwrite", "is_partial")
BYTE_FIELDS = ("raw",)
