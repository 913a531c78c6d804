# SPDX-License-Identifier: Apache-2.0
"""Maps fields of quipper's golden dumps to fields of our JSON. Only this file must be changed when a name changes.

EVENTS names, per message of a quipper event, {quipper field: path in the JSON object of the record}; several paths
separated by `|` are tried in order. A path goes through objects and, over `[]`, through every element of an array.
METADATA does the same for other messages than events. Fields that quipper computes from others (md5 prefixes, root
paths, its timestamp) are made in quipper_made.py. If a dump has a field that none of them names, it is unexplained.
"""
from dataclasses import dataclass

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
        "branch_stack.spec": "fields.branch.entries[].spec", "branch_stack_hw_idx": "fields.branch.hw_idx",
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

SAMPLE, AUX = 9, 11
# The message for records of this type; quipper's events have no other types.
MESSAGE_OF_TYPE = {
    1: "mmap_event", 2: "lost_event", 3: "comm_event", 4: "exit_event", 5: "throttle_event", 6: "throttle_event",
    7: "fork_event", 9: "sample_event", 10: "mmap_event", 11: "aux_event", 12: "itrace_start_event",
    13: "lost_samples_event", 14: "context_switch_event", 15: "context_switch_event", 16: "namespaces_event",
    17: "ksymbol_event", 68: None, 70: "auxtrace_info_event", 71: "auxtrace_event", 73: "thread_map_event",
    79: "time_conv_event",
}


@dataclass(frozen=True)
class Row:
    """The first name in `sources` that exists is used: each of our objects with this name becomes one message or, if
    the name has a path, each value at the path does. The values of paths joined by `+` are concatenated. Rows of one
    message with `single` fill the same message."""
    message: str
    sources: dict
    fields: dict
    single: bool = False


FLAGS = ("disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle",
         "mmap", "comm", "freq", "inherit_stat", "enable_on_exec", "task", "watermark", "precise_ip", "mmap_data",
         "sample_id_all", "exclude_host", "exclude_guest", "exclude_callchain_kernel", "exclude_callchain_user",
         "mmap2", "comm_exec", "use_clockid", "context_switch", "write_backward", "namespaces", "cgroup", "ksymbol")
NUMBERS = ("type", "config", "sample_period", "sample_type", "read_format", "wakeup_events", "bp_type",
           "branch_sample_type", "sample_regs_user", "sample_stack_user")
# Of unions, quipper shows the members for breakpoints.
ATTR = {"attr.bp_addr": "attr.config1", "attr.bp_len": "attr.config2",
        **{"attr." + name: "attr." + name for name in NUMBERS},
        **{"attr." + name: "attr.flags." + name for name in FLAGS}}


def string_row(name, feature, path):
    return Row("string_metadata", {feature: ""}, {name + ".value": path}, single=True)


METADATA = (
    Row("file_attrs", {"file_attr": "", "header_attr": ""}, {"ids": "ids[]", **ATTR}),
    # The names are those of the feature, otherwise of the old table of a file, otherwise of the records of a stream.
    Row("event_types", {"feature_event_desc": "events[]", "event_type": "", "header_event_type": "event_type"},
        {"id": "attr.config|event_id", "name": "name"}),
    Row("build_ids", {"feature_build_id": "entries[]"},
        {"misc": "misc", "pid": "pid", "build_id_hash": "build_id", "size": "length", "filename": "filename"}),
    Row("uint32_metadata", {"feature_nrcpus": ""}, {"type": "bit", "data": "available+online"}),
    Row("uint64_metadata", {"feature_total_mem": ""}, {"type": "bit", "data": "total_mem"}),
    Row("cpu_topology", {"feature_cpu_topology": ""},
        {"core_siblings": "core_siblings[].text", "thread_siblings": "thread_siblings[].text",
         "available_cpus.core_id": "cpus[].core_id", "available_cpus.socket_id": "cpus[].socket_id"}),
    Row("numa_topology", {"feature_numa_topology": "nodes[]"},
        {"id": "node", "total_memory": "mem_total", "free_memory": "mem_free", "cpu_list": "cpus"}),
    Row("pmu_mappings", {"feature_pmu_mappings": "pmus[]"}, {"type": "type", "name": "name"}),
    Row("group_desc", {"feature_group_desc": "groups[]"},
        {"name": "name", "leader_idx": "leader_idx", "num_members": "nr_members"}),
    string_row("hostname", "feature_hostname", "hostname"),
    string_row("kernel_version", "feature_osrelease", "osrelease"),
    string_row("perf_version", "feature_version", "version"),
    string_row("architecture", "feature_arch", "arch"),
    string_row("cpu_description", "feature_cpudesc", "cpudesc"),
    string_row("cpu_id", "feature_cpuid", "cpuid"),
    string_row("perf_command_line_token", "feature_cmdline", "words[].text"),
)

# Numbers that quipper counts, by record type.
STATS = {"num_sample_events": (9,), "num_sample_events_mapped": (9,), "num_mmap_events": (1, 10),
         "num_fork_events": (7,), "num_exit_events": (4,)}
# Every attr has the size of quipper's own struct.
ATTR_SIZE = 96
# In golden dumps the time of quipper's run is 0; no dump is of a file whose maps had to be moved.
CONSTANTS = {"timestamp_sec": "0", "stats[0].did_remap": "0"}
# The features that quipper takes from records of a stream.
STREAM_FEATURES = {*range(3, 15), 16, 17}
EVENT_DESC = 12
LITTLE_MAGIC = b"PERFILE2".hex()
AUX_OBJECT = "aux_data"  # the object that compare.py makes of a file of `dump --aux`
AUX_DATA = "auxtrace_event.trace_data"

METADATA_TEXTS = frozenset((
    "event_types.name", "build_ids.filename", "cpu_topology.core_siblings", "cpu_topology.thread_siblings",
    "numa_topology.cpu_list", "pmu_mappings.name", "group_desc.name",
    *("%s.%s" % (row.message, name) for row in METADATA if row.single for name in row.fields)))
BYTE_FIELDS = ("raw", "build_ids.build_id_hash")
TEXT_FIELDS = METADATA_TEXTS | {*BYTE_FIELDS, "filename", "comm", "name", "entries.comm"}
