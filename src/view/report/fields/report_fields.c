/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of fields, and the parser of -s and -F. As in perf, the parser makes two lists of fields: `sort` determines
 * how rows are sorted, `columns` determines the columns and their order. "Weights" are the default columns of weights.
 *
 *     -s KEYS             both lists: weights, then KEYS
 *     -s +KEYS            both lists: weights, then the default keys, then KEYS
 *     -F FIELDS           both lists: FIELDS
 *     -F +FIELDS          columns: weights, FIELDS, KEYS; sort: weights, KEYS, FIELDS
 *     -s KEYS -F FIELDS   columns: FIELDS, then the other KEYS; sort: KEYS, then the other FIELDS
 */
#include "view/report/fields/report_fields.h"
#include "view/report/fields/report_tracepoint.h"
#include "view/report/fields/report_cells.h"

#include "base/memory/fail.h"

#include <string.h>
#include <strings.h>

#define KEY(name) PROFILE_BIT(PROFILE_##name)
#define AS_TEXT(cell) .identity = identity_of_##cell, .collate = collate_texts
#define WEIGHT_COLUMN(column, by) .number = number_##column, .rank = rank_##by, .right = true

const struct report_field report_fields[] = {
    {"overhead", NULL, "Overhead", .in_percent = true, WEIGHT_COLUMN(overhead, overhead)},
    {"overhead_children", NULL, "Children", .in_percent = true, .breaks_ties = true, WEIGHT_COLUMN(children, children)},
    {"latency", NULL, "Latency", .in_percent = true, .of_latency = true, WEIGHT_COLUMN(latency, self)},
    {"latency_children", NULL, "Latency", .in_percent = true, .of_latency = true, .breaks_ties = true,
     WEIGHT_COLUMN(latency_children, total)},
    {"overhead_sys", NULL, "sys", .in_percent = true, .needs = NEEDS_FRAMES, WEIGHT_COLUMN(system, system)},
    {"overhead_us", NULL, "usr", .in_percent = true, .needs = NEEDS_FRAMES, WEIGHT_COLUMN(user, user)},
    {"sample", NULL, "Samples", WEIGHT_COLUMN(samples, samples)},
    {"period", NULL, "Period", WEIGHT_COLUMN(period, overhead)},
    {"comm", NULL, "Command", KEY(COMM), .print = cell_comm, AS_TEXT(comm)},
    {"pid", NULL, "    Pid:Command", KEY(TID), .identity = identity_of_tid, .collate = collate_signed,
     .print = cell_thread},
    {"tid", NULL, "Tid", KEY(TID), .identity = identity_of_tid, .collate = collate_signed, .print = cell_signed,
     .right = true, .is_number = true},
    {"cpu", NULL, "CPU", KEY(CPU), .identity = identity_of_cpu, .collate = collate_signed, .print = cell_three},
    {"event", NULL, "Event", .identity = identity_of_event, .print = cell_event},
    {"dso", NULL, "Shared Object", .needs = NEEDS_FRAMES, .identity = identity_of_dso, .collate = collate_objects,
     .print = cell_object},
    {"sym", "symbol", "Symbol", .needs = NEEDS_FRAMES, .identity = identity_of_symbol, .collate = collate_symbols,
     .order = order_symbols, .strict = strict_symbols, .order_coarse = order_symbols_coarsely,
     .strict_coarse = strict_symbols_coarsely, .of_level = true, .print = cell_sampled_symbol},
    {"symbol_size", NULL, "Symbol size", .needs = NEEDS_FRAMES, .identity = identity_of_symbol_size, .print = cell_size,
     .right = true},
    {"dso_size", NULL, "DSO size", .needs = NEEDS_FRAMES | NEEDS_MAPS, .identity = identity_of_dso_size,
     .print = cell_size, .right = true},
    {"srcline", NULL, "Source:Line", .needs = NEEDS_FRAMES | NEEDS_ADDRESSES | NEEDS_LINES, AS_TEXT(line),
     .print = cell_line},
    {"srcfile", NULL, "Source File", .needs = NEEDS_FRAMES | NEEDS_ADDRESSES | NEEDS_LINES, AS_TEXT(source_file),
     .print = cell_line},
    {"addr", NULL, "Address", .needs = NEEDS_FRAMES | NEEDS_ADDRESSES | NEEDS_APART, .identity = identity_of_address,
     .collate = collate_as_addresses, .print = cell_address},
    {"parent", NULL, "Parent symbol", .needs = NEEDS_PARENT, AS_TEXT(parent), .print = cell_parent},
    {"socket", NULL, "Socket", KEY(CPU), NEEDS_TOPOLOGY, .identity = identity_of_socket, .collate = collate_signed,
     .print = cell_three, .right = true},
    {"cgroup", NULL, "Cgroup", KEY(CGROUP), AS_TEXT(cgroup), .print = cell_text_or_none},
    {"cgroup_id", NULL, "Cgroup id", KEY(CGROUP_ID), .identity = identity_of_cgroup_id, .print = cell_number,
     .right = true, .is_number = true},
    {"time", NULL, "Time", KEY(TIME), .identity = identity_of_time, .print = cell_time},
    {"parallelism", NULL, "Parallelism", KEY(PARALLELISM), .identity = identity_of_parallelism, .print = cell_number,
     .right = true, .is_number = true},
    {"trace", NULL, "Trace output", KEY(TRACE), AS_TEXT(trace), .print = cell_text_or_none},
    {"local_weight", NULL, "Local Weight", KEY(WEIGHT), .identity = identity_of_weight, .collate = collate_largest,
     .print = cell_left_number, .is_number = true},
    {"weight", NULL, "Weight", KEY(WEIGHT), .identity = identity_of_weight, .collate = collate_largest, .of_row = true,
     .print = cell_weight_of_all, .is_number = true},
    {"local_ins_lat", NULL, "Local INSTR Latency", KEY(INS_LAT), .identity = identity_of_ins_lat,
     .collate = collate_largest, .print = cell_left_number, .is_number = true},
    {"ins_lat", NULL, "INSTR Latency", KEY(INS_LAT), .identity = identity_of_ins_lat, .collate = collate_largest,
     .of_row = true, .print = cell_weight_of_all, .is_number = true},
    {"local_p_stage_cyc", NULL, "Local Pipeline Stage Cycle", KEY(STAGE_CYCLES), .identity = identity_of_stage_cycles,
     .collate = collate_largest, .print = cell_left_number, .is_number = true},
    {"p_stage_cyc", NULL, "Pipeline Stage Cycle", KEY(STAGE_CYCLES), .identity = identity_of_stage_cycles,
     .collate = collate_largest, .print = cell_left_number, .is_number = true},
    {"transaction", NULL, "Transaction", KEY(TRANSACTION), .identity = identity_of_transaction,
     .collate = collate_largest, .print = cell_transaction},
    {"code_page_size", NULL, "Code Page Size", KEY(CODE_PAGE_SIZE), .identity = identity_of_code_page_size,
     .collate = collate_largest, .print = cell_page_size},
    {"mem", NULL, "Memory access", KEY(DATA_SRC), .identity = identity_of_level, .print = cell_level_words},
    {"snoop", NULL, "Snoop", KEY(DATA_SRC), .identity = identity_of_snoop, .print = cell_snoop},
    {"tlb", NULL, "TLB access", KEY(DATA_SRC), .identity = identity_of_tlb, .print = cell_tlb},
    {"locked", NULL, "Locked", KEY(DATA_SRC), .identity = identity_of_lock, .print = cell_lock},
    {"blocked", NULL, "Blocked", KEY(DATA_SRC), .identity = identity_of_block, .print = cell_block},
    {"phys_daddr", NULL, "Data Physical Address", KEY(PHYS_ADDR), NEEDS_FRAMES, .identity = identity_of_phys_address,
     .collate = collate_as_addresses, .of_row = true, .print = cell_phys_address},
    {"data_page_size", NULL, "Data Page Size", KEY(DATA_PAGE_SIZE), .identity = identity_of_data_page_size,
     .print = cell_page_size},
    {"symbol_daddr", NULL, "Data Symbol", KEY(ADDR), NEEDS_FRAMES | NEEDS_ADDRESSES,
     .identity = identity_of_data_symbol, .collate = collate_places, .of_row = true, .print = cell_data_symbol},
    {"symbol_iaddr", NULL, "Code Symbol", 0, NEEDS_FRAMES | NEEDS_ADDRESSES | NEEDS_APART, .of_memory = true,
     .identity = identity_of_code, .collate = collate_code, .of_row = true, .print = cell_code_symbol},
    {"dcacheline", NULL, "Data Cacheline", KEY(ADDR) | KEY(PID), NEEDS_FRAMES | NEEDS_ADDRESSES,
     .identity = identity_of_cache_line, .collate = collate_cache_lines, .of_row = true, .print = cell_cache_line},
    {"dso_daddr", NULL, "Data Object", KEY(ADDR), .identity = identity_of_data_object, .collate = collate_objects_back,
     .print = cell_object},
    {"dso_from", NULL, "Source Shared Object", KEY(FROM), .identity = identity_of_from_object,
     .collate = collate_objects_back, .print = cell_object},
    {"dso_to", NULL, "Target Shared Object", KEY(TO), .identity = identity_of_to_object,
     .collate = collate_objects_back, .print = cell_object},
    {"symbol_from", NULL, "Source Symbol", KEY(FROM), .identity = identity_of_from_symbol, .collate = collate_symbols,
     .print = cell_symbol},
    {"symbol_to", NULL, "Target Symbol", KEY(TO), .identity = identity_of_to_symbol, .collate = collate_symbols,
     .print = cell_symbol},
    {"addr_from", NULL, "Source Address", KEY(FROM), NEEDS_ADDRESSES, .identity = identity_of_from_symbol,
     .collate = collate_symbols, .print = cell_place},
    {"addr_to", NULL, "Target Address", KEY(TO), NEEDS_ADDRESSES, .identity = identity_of_to_symbol,
     .collate = collate_symbols, .print = cell_place},
    {"mispredict", NULL, "Branch Mispredicted", KEY(BRANCH_FLAGS), .identity = identity_of_mispredict,
     .print = cell_mispredict},
    {"abort", NULL, "Transaction abort", KEY(BRANCH_FLAGS), .identity = identity_of_abort, .print = cell_abort},
    {"in_tx", NULL, "Branch in transaction", KEY(BRANCH_FLAGS), .identity = identity_of_in_tx, .print = cell_in_tx},
    {"cycles", NULL, "Basic Block Cycles", KEY(BRANCH_FLAGS), .identity = identity_of_cycles,
     .collate = collate_largest, .print = cell_cycles},
    {0},
};

const char *pfr_report_field_name(uint32_t index) {
    const uint32_t count = sizeof report_fields / sizeof *report_fields - 1;
    return index < count ? report_fields[index].name : NULL;
}

static const char *default_sort(const struct report *r) {
    static const char *const of_mode[] = {
        [REPORT_SAMPLES] = "comm,dso,sym",
        [REPORT_BRANCHES] = "comm,dso_from,symbol_from,symbol_to,cycles",
        [REPORT_MEMORY] = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat",
    };
    if (r->mode == REPORT_SAMPLES && !r->measure->has_comms)
        return "dso,sym";
    return r->tracepoints ? "trace" : of_mode[r->mode];
}

static const struct report_field *find_field(const char *name, size_t length) {
    for (const struct report_field *f = report_fields; f->name; f++)
        for (unsigned i = 0; i < 2; i++) {
            const char *known = i ? f->other_name : f->name;
            if (known && strncmp(known, name, length) == 0 && !known[length])
                return f;
        }
    return NULL;
}

static bool begins_so(const char *known, const char *name, size_t length) {
    return known && strncasecmp(known, name, length) == 0;
}

struct field_list {
    const struct report_field **at;
    unsigned *count;
};

static void add_field(struct field_list list, const struct report_field *field) {
    for (unsigned i = 0; i < *list.count; i++)
        if (list.at[i] == field)
            return;
    if (*list.count < FIELDS_MOST)
        list.at[(*list.count)++] = field;
}

/* Whether the report can have a field: fields of branches need a report of branches, fields of memory accesses need
   --mem-mode. perf refuses the other combinations, too. */
static bool fits_mode(const struct report *r, const struct report_field *f) {
    const uint32_t of_branches = KEY(FROM) | KEY(TO) | KEY(BRANCH_FLAGS);
    const uint32_t of_memory = KEY(ADDR) | KEY(DATA_SRC) | KEY(PHYS_ADDR) | KEY(DATA_PAGE_SIZE);
    return (r->mode == REPORT_BRANCHES || !(f->keys & of_branches)) &&
           (r->mode == REPORT_MEMORY || !(f->keys & of_memory || f->of_memory));
}

/* An abbreviated word selects the first field with that prefix, as in perf; grouping keys take precedence over
 * weights. */
static const struct report_field *find_word(const struct report *r, const char *name, size_t length) {
    const struct report_field *found = find_field(name, length);
    for (unsigned weights = 0; !found && weights < 2; weights++)
        for (const struct report_field *f = report_fields; f->name && !found; f++)
            if ((f->identity == NULL) == (weights > 0) && fits_mode(r, f) &&
                (begins_so(f->name, name, length) || begins_so(f->other_name, name, length)))
                found = f;
    return found;
}

static void add_to_list(void *list, const struct report_field *field) {
    add_field(*(const struct field_list *)list, field);
}

static pfr_status read_words(struct report *r, const char *words, struct field_list list, const char *option,
                             pfr_error *err) {
    for (const char *at = words; *at; at += *at == ',' || *at == ' ') {
        const size_t length = strcspn(at, ", ");
        const struct report_field *f = length ? find_word(r, at, length) : NULL;
        bool known = f || !length;
        if (!known)
            PFR_TRY(report_tracepoint_word(r, at, length, add_to_list, &list, &known, err));
        if (!known)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, option, "unknown %s %.*s", option,
                            length < 60 ? (int)length : 60, at);
        if (f && !fits_mode(r, f))
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, option,
                            "%s %s is not available in this kind of report%s", option, f->name,
                            r->mode == REPORT_SAMPLES ? ": --branch-stack, --mem-mode" : "");
        if (f)
            add_field(list, f);
        at += length;
    }
    return *list.count ? PFR_OK : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, option, "no %s is named", option);
}

static void add_named(struct field_list list, const char *name) {
    add_field(list, find_field(name, strlen(name)));
}

/* With --latency, as in perf, each latency column is followed by the column of the undivided weight. */
static void add_weights(const struct report *r, struct field_list list, bool shown) {
    if (r->children && r->options->latency)
        add_named(list, "latency_children");
    if (r->children)
        add_named(list, "overhead_children");
    if (r->options->latency)
        add_named(list, "latency");
    add_named(list, "overhead");
    if (shown && r->options->show_samples)
        add_named(list, "sample");
    if (shown && r->options->show_total_period)
        add_named(list, "period");
}

static void add_all(struct field_list list, const struct report_field *const *fields, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        add_field(list, fields[i]);
}

/* Whether to hide a column because a filter restricts it to a single name, as in perf. A hierarchy hides no level. */
static bool is_settled(const struct report *r, const struct report_field *f) {
    const struct sample_lists *lists = &r->filters.rows.lists;
    const char *const names = f->keys == KEY(COMM)                ? lists->comms
                              : f->identity == identity_of_dso    ? lists->objects
                              : f->identity == identity_of_symbol ? lists->symbols
                                                                  : NULL;
    return names && !strchr(names, ',') && !r->options->hierarchy;
}

static void settle(struct report *r) {
    unsigned kept = 0, left = 0;
    for (unsigned i = 0; i < r->chosen.nr_columns; i++)
        kept += r->chosen.columns[i]->identity && !is_settled(r, r->chosen.columns[i]);
    for (unsigned i = 0; i < r->chosen.nr_columns; i++)
        if (!kept || !r->chosen.columns[i]->identity || !is_settled(r, r->chosen.columns[i]))
            r->chosen.columns[left++] = r->chosen.columns[i];
    r->chosen.nr_columns = left;
}

/* Adds the default keys if `keys` is NULL or begins with '+'; then adds the given keys. */
static pfr_status read_keys(struct report *r, const char *keys, struct field_list sort, pfr_error *err) {
    const bool adds = keys && *keys == '+';
    if (adds || !keys)
        PFR_TRY(read_words(r, default_sort(r), sort, "sort key", err));
    if (adds && !keys[1])
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sort key", "a sort key is missing after the +");
    return keys ? read_words(r, keys + adds, sort, "sort key", err) : PFR_OK;
}

static pfr_status read_lists(struct report *r, pfr_error *err) {
    const struct field_list sort = {r->chosen.sort, &r->chosen.nr_sort},
                            columns = {r->chosen.columns, &r->chosen.nr_columns};
    const char *fields = r->options->fields, *keys = r->options->sort;
    const bool adds = fields && *fields == '+';
    if (fields && !adds) {
        PFR_TRY(read_words(r, fields, columns, "field", err));
        if (keys)
            PFR_TRY(read_keys(r, keys, sort, err));
        add_all(sort, r->chosen.columns, r->chosen.nr_columns);
        add_all(columns, r->chosen.sort, r->chosen.nr_sort);
        return PFR_OK;
    }
    add_weights(r, sort, false);
    add_weights(r, columns, true);
    PFR_TRY(read_keys(r, keys, sort, err));
    if (adds && !fields[1])
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "field", "a field is missing after the +");
    if (adds) {
        PFR_TRY(read_words(r, fields + 1, columns, "field", err));
        add_all(sort, r->chosen.columns, r->chosen.nr_columns);
    }
    if (r->options->parent)
        add_named(sort, "parent");
    add_all(columns, r->chosen.sort, r->chosen.nr_sort);
    return PFR_OK;
}

static pfr_status check_latency(const struct report *r, pfr_error *err) {
    for (unsigned i = 0; i < r->chosen.nr_columns && !r->options->latency; i++)
        if (r->chosen.columns[i]->of_latency)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "field", "the field %s needs --latency",
                            r->chosen.columns[i]->name);
    return PFR_OK;
}

pfr_status report_fields_read(struct report *r, pfr_error *err) {
    r->chosen.nr_sort = r->chosen.nr_keys = r->chosen.nr_columns = 0;
    PFR_TRY(read_lists(r, err));
    for (unsigned i = 0; i < r->chosen.nr_sort; i++)
        if (r->chosen.sort[i]->identity)
            r->chosen.keys[r->chosen.nr_keys++] = r->chosen.sort[i];
    PFR_TRY(check_latency(r, err));
    settle(r);
    const char *sort = r->options->sort;
    r->trees.skips_first = sort && !r->options->fields && strncmp(sort, "sym", 3) == 0;
    return PFR_OK;
}

uint32_t report_keys_needed(const struct report *r, unsigned *needs) {
    uint32_t keys = 0;
    *needs = 0;
    for (unsigned i = 0; i < r->chosen.nr_sort + r->chosen.nr_columns; i++) {
        const struct report_field *f =
            i < r->chosen.nr_sort ? r->chosen.sort[i] : r->chosen.columns[i - r->chosen.nr_sort];
        keys |= f->keys;
        *needs |= f->needs;
    }
    return keys;
}
