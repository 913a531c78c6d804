# SPDX-License-Identifier: Apache-2.0
"""The part of libperfray's C API that this package calls, in C.

`_library.py` makes ctypes structs and prototypes from these texts. `tests/laws/python/run_layouts.py` compiles them together with the
headers: a prototype that differs does not compile, and a member at another offset fails the test. Members are listed completely and in order;
names are those of the headers.
"""

#: Enumerations, which are int in C, and handles, which are opaque.
ENUMS = """pfr_status pfr_table pfr_column_type pfr_object_kind pfr_interval_kind pfr_wait_reason pfr_mark_kind pfr_value_kind pfr_dump_format
pfr_templates pfr_latency_format pfr_latency_by pfr_latency_order pfr_sql_format pfr_record_chains pfr_record_build_ids
pfr_container pfr_format pfr_report_format pfr_report_choice"""
HANDLES = "pfr_reader pfr_output pfr_model pfr_samples pfr_calls pfr_symbolizer pfr_sql pfr_recorder pfr_alloc"

#: Callbacks: the result, and the type of the argument after the context.
CALLBACKS = {"pfr_hole": ("void", "pfr_error *"), "pfr_note": ("void", "char *"), "pfr_flat_each": ("bool", "pfr_flat_row *")}

STRUCTS = """
pfr_error { pfr_status status; uint64_t offset, length; const char *where; char text[160]; }

pfr_flat_row { uint64_t weight, samples; uint32_t comm, symbol; uint8_t mode; }

pfr_record { uint64_t offset, inner; uint32_t part, type, size; uint16_t misc, tail; bool inside; int32_t event;
    uint64_t payload; const void *bytes, *context; }
pfr_text { const void *at; uint32_t length, room; }
pfr_bytes { const void *at; uint64_t length; }
pfr_u64s { const void *at; uint64_t count, swap; }
pfr_items { const void *at; uint64_t length, count; const void *context; uint64_t of; }
pfr_dump_options { size_t size; pfr_dump_format format; bool hex; const char *only;
    uint64_t offset_from, offset_to, time_from, time_to; const char *name, *aux_folder; pfr_hole hole; void *hole_context;
    void *counts; const void *instr_maps; pfr_note note; }

pfr_limits { size_t size; uint64_t memory, window, string, records; uint32_t depth, reserved;
    uint64_t zstd_output_per_record, ratio, chunk, trees; }
pfr_header { pfr_container container; uint32_t version; bool big_endian, not_finalised; uint32_t parts;
    uint64_t header_size, attr_size, data_offset, data_size, data_size_said, features_offset; uint64_t features[4];
    uint64_t file_size; pfr_format format; bool constant_tsc, nonstop_tsc, low_bits_first;
    uint64_t cycle_frequency, buffer_size, profile_time, profile_pid; }
pfr_feature { uint32_t bit; const char *name; uint64_t offset; pfr_bytes bytes; uint64_t layout; pfr_status status; }
pfr_open_options { size_t size; const void *alloc; const void *limits; bool keep_aux, spool; }
pfr_symbol_options { size_t size; const char *symfs, *debug_dir, *fetched, *cache_dir, *vmlinux, *kallsyms;
    const void *instr_maps; bool no_symbols, mangled, parameters, demangle_kernel; pfr_templates templates; }

pfr_model_options { size_t size; uint32_t columns, jobs, max_stack; bool functions, lines, inlined, stitched;
    const void *naming; void *beside; pfr_hole hole; pfr_note note; void *context;
    bool no_intervals, no_marks; }
pfr_model_event { const char *name, *unit; uint64_t samples, weight, first, last; bool is_traced; }
pfr_model_process { uint32_t pid, parent, comm; uint64_t start, end; }
pfr_model_thread { uint32_t process, tid, comm; uint64_t start, end; }
pfr_model_object { const char *path, *name; uint8_t build_id[20]; uint8_t build_id_size; pfr_object_kind kind; }
pfr_model_symbol { const char *name, *mangled; uint32_t object; uint64_t address, size; }
pfr_model_frame { uint32_t symbol, object; uint64_t address; const char *file; uint32_t line; uint8_t mode; bool inlined;
    const char *function_file; uint32_t function_line; }
pfr_stack { uint32_t parent, frame, symbol; uint16_t depth; uint8_t is_outer, is_apart; }
pfr_column { const void *at; uint64_t count; size_t stride; pfr_column_type type; }
pfr_fact { const char *key, *text; uint64_t value; }

pfr_samples_options { size_t size; bool in_time_order, records; uint64_t first, last; uint32_t thread, event; bool by_cpu;
    uint32_t cpu; }
pfr_sample_batch { uint32_t count; const uint64_t *id, *time, *weight, *period;
    const uint32_t *thread, *comm, *cpu, *event, *stack; const uint8_t *mode; const void *record; }
pfr_calls_options { size_t size; uint64_t first, last, min_duration; uint32_t thread, symbol; }
pfr_call_batch { uint32_t count; const uint64_t *id, *start, *duration; const int64_t *self;
    const uint64_t *parent, *argument; const uint32_t *thread, *symbol, *stack, *depth, *flags; }
pfr_interval { uint64_t start, duration; uint32_t thread, stack, cpu; pfr_interval_kind kind; pfr_wait_reason reason;
    uint32_t waker, waker_stack; bool open_start, open_end; }
pfr_mark { uint64_t time, count, offset; uint32_t thread, cpu, event; pfr_mark_kind kind; const char *text; uint32_t type; }
pfr_place { uint32_t object; const char *path, *name, *mangled; uint64_t address, start, size; const char *file;
    uint32_t line; }

pfr_report_options { size_t size; pfr_report_format format; const char *sort; bool raw_trace; const char *fields;
    bool show_samples, show_total_period; pfr_report_choice children; const char *call_graph; bool inverted;
    uint32_t max_stack; const char *parent; bool only_parent; double percent_limit; bool relative; pfr_report_choice group;
    const char *separator; pfr_report_choice branches; bool memory_mode; const char *cpus, *time, *pids, *tids;
    const char *comms, *objects, *symbols, *symbol_filter; uint64_t time_quantum; bool bars, color; const void *naming;
    bool inlined; unsigned jobs; pfr_hole hole; void *context; pfr_note note; bool stitched, quiet, hide_unresolved,
    full_paths; const char *ignore_callees, *sockets, *switch_on, *switch_off, *event; bool latency, hints, hierarchy; }
pfr_latency_options { size_t size; pfr_latency_format format; pfr_latency_by by; const char *sort; pfr_latency_order order;
    uint32_t top; bool histogram, deduce, ticks; const void *functions, *objects; const char *tids, *min_duration, *time;
    const void *naming; bool lines; unsigned jobs; pfr_hole hole; pfr_note note; void *context; }
pfr_sql_options { size_t size; const void *alloc; const void *limits; uint64_t sqlite_memory; const void *model; }

pfr_recorder_options { size_t size; const void *alloc; const void *events, *filters; const char *cgroups;
    const void *command; const char *pids, *tids, *user, *cpus; bool all_cpus, self, per_thread, no_inherit;
    uint64_t period; uint32_t frequency; bool highest_frequency, strict_frequency, one_group, count_only;
    pfr_record_chains chains; uint32_t stack_bytes; const char *branches, *user_regs, *intr_regs;
    bool addresses, physical_addresses, data_page_size, code_page_size, weight, raw, cpu, with_period, identifier;
    bool times, transaction; bool no_user_chains, no_kernel_chains; uint32_t aux_sample;
    bool namespaces, cgroup_events, switches, counts_per_thread, running_time, only_user, only_kernel; bool no_bpf;
    bool without_recorder; const char *synthesize, *clock; uint64_t ring_bytes, aux_bytes; bool overwrite, tail_synthesize;
    uint32_t realtime; bool unbuffered; uint64_t drain_least; const char *on_times; int64_t delay_ms; const char *control;
    const char *output; bool compress; int level; pfr_record_build_ids build_ids; bool drop_privileges; uint64_t max_bytes;
    bool parts; uint64_t part_bytes, part_ns; uint32_t parts_most; bool dated; const void *words; const char *version;
    pfr_note note; void *context; }
pfr_recorder_result { uint64_t samples, bytes, lost, aux_truncated, wakes, plain_bytes; uint32_t parts; bool has_status;
    int status; bool is_full; }
"""

PROTOTYPES = """
const char *pfr_status_name(pfr_status);
size_t pfr_escape(char *, size_t, const void *, size_t);
pfr_output *pfr_output_open(int, bool, pfr_error *);
pfr_status pfr_output_close(pfr_output *, pfr_error *);

pfr_reader *pfr_open(const char *, const pfr_open_options *, pfr_error *);
void pfr_close(pfr_reader *);
pfr_status pfr_next(pfr_reader *, pfr_record *, pfr_error *);
pfr_status pfr_rewind(pfr_reader *, pfr_error *);
const char *pfr_record_name(const pfr_record *);
pfr_status pfr_get(const pfr_record *, const char *, pfr_value *, pfr_error *);
pfr_status pfr_dump(pfr_reader *, const pfr_dump_options *, pfr_output *, pfr_error *);

pfr_model *pfr_model_open(pfr_reader *, const pfr_model_options *, pfr_error *);
void pfr_model_close(pfr_model *);
uint32_t pfr_model_count(const pfr_model *, pfr_table);
const pfr_model_event *pfr_model_get_event(const pfr_model *, uint32_t);
const pfr_model_process *pfr_model_get_process(const pfr_model *, uint32_t);
const pfr_model_thread *pfr_model_get_thread(const pfr_model *, uint32_t);
const char *pfr_model_get_comm(const pfr_model *, uint32_t);
const pfr_model_object *pfr_model_get_object(const pfr_model *, uint32_t);
const pfr_model_symbol *pfr_model_get_symbol(const pfr_model *, uint32_t);
const pfr_model_frame *pfr_model_get_frame(const pfr_model *, uint32_t);
const pfr_stack *pfr_model_stacks(const pfr_model *);
size_t pfr_model_stack_text(const pfr_model *, uint32_t, const char *, char *, size_t);
uint32_t pfr_model_comm_at(const pfr_model *, uint32_t, uint64_t);
pfr_status pfr_model_weights(const pfr_model *, uint32_t, uint64_t *, uint64_t *, pfr_error *);
pfr_status pfr_model_symbol_weights(const pfr_model *, uint32_t, uint64_t *, uint64_t *, pfr_error *);
pfr_status pfr_model_flat(const pfr_model *, uint32_t, pfr_flat_each *, void *, pfr_error *);
bool pfr_model_column(const pfr_model *, uint32_t, pfr_column *);
const pfr_fact *pfr_model_fact(const pfr_model *, uint32_t);
const pfr_fact *pfr_model_meta(const pfr_model *, uint32_t);
bool pfr_model_ticks(const pfr_model *);
pfr_samples *pfr_samples_open(const pfr_model *, const pfr_samples_options *, pfr_error *);
pfr_status pfr_samples_next(pfr_samples *, const pfr_sample_batch **, pfr_error *);
void pfr_samples_close(pfr_samples *);
uint64_t pfr_model_sample_count(const pfr_model *);
pfr_calls *pfr_calls_open(const pfr_model *, const pfr_calls_options *, pfr_error *);
pfr_status pfr_calls_next(pfr_calls *, const pfr_call_batch **, pfr_error *);
void pfr_calls_close(pfr_calls *);
uint64_t pfr_model_call_count(const pfr_model *);
const pfr_interval *pfr_model_interval(const pfr_model *, uint64_t);
const pfr_mark *pfr_model_mark(const pfr_model *, uint64_t);
pfr_symbolizer *pfr_symbolizer_open(const pfr_model *, pfr_error *);
pfr_status pfr_symbolize(pfr_symbolizer *, uint32_t, uint32_t, unsigned, uint64_t, uint64_t, pfr_place *, pfr_error *);
void pfr_symbolizer_close(pfr_symbolizer *);

const pfr_header *pfr_get_header(const pfr_reader *);
uint32_t pfr_feature_count(const pfr_reader *);
const pfr_feature *pfr_get_feature(pfr_reader *, uint32_t, pfr_error *);
pfr_status pfr_check_feature(const pfr_reader *, const pfr_feature *, pfr_error *);
pfr_status pfr_report_print(pfr_reader *, const pfr_report_options *, pfr_output *, pfr_error *);
pfr_status pfr_latency_print(pfr_reader *, const pfr_latency_options *, pfr_output *, pfr_error *);

pfr_recorder *pfr_recorder_open(const pfr_recorder_options *, pfr_error *);
pfr_status pfr_recorder_run(pfr_recorder *, pfr_error *);
pfr_status pfr_recorder_begin(pfr_recorder *, pfr_error *);
pfr_status pfr_recorder_end(pfr_recorder *, pfr_error *);
void pfr_recorder_stop(pfr_recorder *);
void pfr_recorder_get_result(const pfr_recorder *, pfr_recorder_result *);
void pfr_recorder_close(pfr_recorder *);
"""

#: The same for a library that was built with SQLite.
SQL_PROTOTYPES = """
pfr_sql *pfr_sql_open(const pfr_sql_options *, pfr_error *);
void pfr_sql_close(pfr_sql *);
pfr_status pfr_sql_attach(pfr_sql *, const char *, const char *, pfr_error *);
pfr_status pfr_sql_attach_opened(pfr_sql *, const char *, const pfr_model *, const char *, pfr_error *);
pfr_status pfr_sql_bind(pfr_sql *, const char *, const char *, pfr_error *);
pfr_status pfr_sql_print(pfr_sql *, const char *, pfr_sql_format, pfr_output *, pfr_error *);
void pfr_sql_interrupt(pfr_sql *);
"""
