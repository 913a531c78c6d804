# SPDX-License-Identifier: Apache-2.0
"""One small recording in two forms, for the tests of the comparison: GOLDEN as quipper prints it, OURS as `dump
--format=jsonl`.

It is written by hand, not made by replay.py, so that an error in quipper_map.py is not on both sides.
"""
import json

GOLDEN = r'''
file_attrs {
  attr {
    type: 1
    size: 96
    config: 3
    sample_period: 4000
    sample_type: 263
    read_format: 4
    disabled: true
    pinned: false
    precise_ip: 2
    bp_addr: 17
    bp_len: 0
    branch_sample_type: 8
    sample_regs_user: 5
    sample_stack_user: 64
  }
  ids: 81
  ids: 82
}
timestamp_sec: 0
stats {
  num_sample_events: 1
  num_mmap_events: 2
  num_fork_events: 1
  num_exit_events: 1
  num_sample_events_mapped: 1
  did_remap: false
}
metadata_mask: 229372
build_ids {
  misc: 32769
  pid: 4294967295
  build_id_hash: "1234"
  filename: "/bin/w"
  filename_md5_prefix: 6125841310569602680
  size: 4
}
uint32_metadata {
  type: 7
  data: 4
  data: 2
}
uint64_metadata {
  type: 10
  data: 2067704
}
event_types {
  id: 3
  name: "cycles"
  name_md5_prefix: 12436270580932095263
}
cpu_topology {
  core_siblings: "0-1"
  core_siblings_md5_prefix: 14045363986529205085
  thread_siblings: "0"
  thread_siblings: "1"
  thread_siblings_md5_prefix: 14973660089898329583
  thread_siblings_md5_prefix: 14180219187711517570
  available_cpus {
    core_id: 0
    socket_id: 0
  }
  available_cpus {
    core_id: 1
    socket_id: 0
  }
}
numa_topology {
  id: 0
  total_memory: 792546768
  free_memory: 785125648
  cpu_list: "0-1"
  cpu_list_md5_prefix: 14045363986529205085
}
string_metadata {
  hostname {
    value: "localhost"
    value_md5_prefix: 4763305433620259622
  }
  kernel_version {
    value: "3.4.0"
    value_md5_prefix: 1378581565045883552
  }
  perf_version {
    value: ""
    value_md5_prefix: 15284527576400310788
  }
  architecture {
    value: "x86_64"
    value_md5_prefix: 11246003006864564
  }
  cpu_description {
    value: "ARMv7 Processor rev 4 (v7l)"
    value_md5_prefix: 10130226885502892353
  }
  cpu_id {
    value: "GenuineIntel,6,78,3"
    value_md5_prefix: 4188185387426374524
  }
  perf_command_line_token {
    value: "record"
    value_md5_prefix: 16003524724320237622
  }
  perf_command_line_token {
    value: "-e"
    value_md5_prefix: 5793861197931060347
  }
  perf_command_line_whole {
    value: "record -e"
    value_md5_prefix: 5522379831250936091
  }
}
pmu_mappings {
  type: 5
  name: "breakpoint"
  name_md5_prefix: 15231791590021874039
}
group_desc {
  name: "{anon_group}"
  name_md5_prefix: 14951447085465875148
  leader_idx: 0
  num_members: 2
}
events {
  header {
    type: 3
    misc: 0
    size: 64
  }
  timestamp: 18446744041015200657
  comm_event {
    pid: 4294967295
    tid: 8
    comm: "w\303\266rk"
    comm_md5_prefix: 9483794904157314969
    sample_info {
      pid: 8
      tid: 8
      sample_time_ns: 18446744041015200657
    }
  }
}
events {
  header {
    type: 10
    misc: 2
    size: 112
  }
  timestamp: 5
  mmap_event {
    pid: 8
    tid: 8
    start: 4096
    len: 8192
    filename: "/usr/lib/a/b.so"
    filename_md5_prefix: 17991495375921598798
    root_path: "/usr/lib"
    root_path_md5_prefix: 7459869125215751206
    sample_info {
      sample_time_ns: 5
    }
  }
}
events {
  header {
    type: 1
    misc: 2
    size: 104
  }
  timestamp: 7
  mmap_event {
    pid: 8
    tid: 8
    start: 65536
    len: 12288
    pgoff: 512
    filename: "/lib/wide.so.1"
    filename_md5_prefix: 16408764752651731565
    root_path: "/lib"
    root_path_md5_prefix: 18026915772146196191
    sample_info {
      sample_time_ns: 7
    }
  }
}
events {
  header {
    type: 14
    misc: 8192
    size: 24
  }
  timestamp: 0
  context_switch_event {
    is_out: true
  }
}
events {
  header {
    type: 11
    misc: 0
    size: 32
  }
  timestamp: 0
  aux_event {
    aux_offset: 0
    aux_size: 3
    is_truncated: true
    is_overwrite: false
    is_partial: true
  }
}
events {
  header {
    type: 71
    misc: 0
    size: 48
  }
  timestamp: 0
  auxtrace_event {
    size: 3
    offset: 1
    reference: 9
    idx: 7
    tid: 4294967295
    cpu: 2
    trace_data: "\002\"\n"
  }
}
events {
  header {
    type: 7
    misc: 0
    size: 32
  }
  timestamp: 0
  fork_event {
    tid: 9
  }
}
events {
  header {
    type: 4
    misc: 0
    size: 32
  }
  timestamp: 0
  exit_event {
    tid: 9
  }
}
events {
  header {
    type: 9
    misc: 2
    size: 80
  }
  timestamp: 6
  sample_event {
    ip: 16
    sample_time_ns: 6
    branch_stack {
      from_ip: 17
      to_ip: 18
      mispredicted: true
    }
    no_hw_idx: true
    branch_stack_hw_idx: 0
  }
}
'''

ATTR = {"type": 1, "size": 112, "config": 3, "sample_period": 4000, "sample_type": 263, "read_format": 4,
        "flags": {"disabled": 1, "pinned": 0, "precise_ip": 2}, "bp_type": 0, "config1": 17, "config2": 0,
        "branch_sample_type": 8, "sample_regs_user": 5, "sample_stack_user": 64}
FEATURES = {
    2: ("build_id", {"entries": [{"misc": 32769, "pid": -1, "build_id": "31323334", "length": 4,
                                  "filename": "/bin/w"}]}),
    3: ("hostname", {"hostname": "localhost"}), 4: ("osrelease", {"osrelease": "3.4.0"}),
    5: ("version", {"version": ""}), 6: ("arch", {"arch": "x86_64"}), 7: ("nrcpus", {"available": 4, "online": 2}),
    8: ("cpudesc", {"cpudesc": "ARMv7 Processor rev 4 (v7l)"}), 9: ("cpuid", {"cpuid": "GenuineIntel,6,78,3"}),
    10: ("total_mem", {"total_mem": 2067704}), 11: ("cmdline", {"words": [{"text": "record"}, {"text": "-e"}]}),
    12: ("event_desc", {"events": [{"attr": {"config": 3}, "name": "cycles", "ids": [81, 82]}]}),
    13: ("cpu_topology", {"core_siblings": [{"text": "0-1"}], "thread_siblings": [{"text": "0"}, {"text": "1"}],
                          "cpus": [{"core_id": 0, "socket_id": 0}, {"core_id": 1, "socket_id": 0}]}),
    14: ("numa_topology", {"nodes": [{"node": 0, "mem_total": 792546768, "mem_free": 785125648, "cpus": "0-1"}]}),
    16: ("pmu_mappings", {"pmus": [{"type": 5, "name": "breakpoint"}]}),
    17: ("group_desc", {"groups": [{"name": "{anon_group}", "leader_idx": 0, "nr_members": 2}]}),
}
FILE = [
    {"offset": 0, "name": "file_header", "fields": {"magic": "50455246494c4532",
                                                    "features": "fc7f030000000000" + "0" * 48}},
    {"offset": 104, "name": "file_attr", "fields": {"attr": ATTR, "ids": {"offset": 96, "size": 16}}},
    {"offset": 96, "name": "file_ids", "fields": {"event": 0, "ids": [81, 82]}},
]
# Two records that quipper joins into one.
JOINED_MAPS = [
    {"type": 1, "misc": 2, "size": 104, "fields": {"pid": 8, "tid": 8, "addr": 65536, "len": 8192, "pgoff": 512,
                                                   "filename": "/lib/wide.so.1"}, "id": {"time": 7}},
    {"type": 1, "misc": 2, "size": 96, "fields": {"pid": 8, "tid": 8, "addr": 73728, "len": 4096, "pgoff": 0,
                                                  "filename": "//anon"}, "id": {"time": 7}},
]
RECORDS = [
    {"type": 3, "misc": 0, "size": 64, "fields": {"pid": -1, "tid": 8, "comm": "w\u00f6rk"},
     "id": {"pid": 8, "tid": 8, "time": "18446744041015200657", "cpu": 0}},
    {"type": 10, "misc": 2, "size": 112, "fields": {"pid": 8, "tid": 8, "addr": "0x1000", "len": 8192,
                                                    "filename": "/usr/lib/a/b.so"}, "id": {"time": 5}},
    *JOINED_MAPS,
    {"type": 14, "misc": 8192, "size": 24, "fields": {}},
    {"type": 11, "misc": 0, "size": 32, "fields": {"aux_offset": 0, "aux_size": 3, "flags": 5}},
    {"type": 71, "misc": 0, "size": 48, "fields": {"size": 3, "offset": 1, "reference": 9, "idx": 7, "tid": -1,
                                                   "cpu": 2}},
    {"type": 7, "misc": 0, "size": 32, "fields": {"tid": 9}},
    {"type": 4, "misc": 0, "size": 32, "fields": {"tid": 9}},
    {"type": 9, "misc": 2, "size": 80,
     "fields": {"ip": 16, "time": 6, "branch": {"entries": [{"from": 17, "to": 18, "mispred": 1}]}}},
]
AUX = [{"name": "aux_data", "fields": {"file": "aux-7--1-2.bin", "data": "02220a"}}]


def feature_of_file(bit):
    name, body = FEATURES[bit]
    return {"offset": 1000 + bit, "name": "feature_" + name, "bit": bit, "fields": body}


def feature_of_stream(bit):
    name, body = FEATURES[bit]
    return {"offset": 1000 + bit, "type": 80, "name": "header_feature", "misc": 0, "size": 64,
            "fields": {"feat_id": bit, "payload": {"feature_" + name: body}}}


def to_lines(objects):
    return "\n".join(map(json.dumps, objects))


OURS_OBJECTS = FILE + [feature_of_file(bit) for bit in FEATURES] + RECORDS + AUX
OURS = to_lines(OURS_OBJECTS)
# The same recording as a stream: its attr is a record with ids, its features are records, and it has no bitmap.
STREAM = to_lines([feature_of_stream(bit) for bit in FEATURES] +
                  [{"type": 64, "name": "header_attr", "size": 136, "fields": {"attr": ATTR, "ids": [81, 82]}}] +
                  RECORDS + AUX)
