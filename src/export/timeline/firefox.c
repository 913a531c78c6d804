/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a processed profile of the Firefox Profiler, version 60: all threads share the tables of frames and stacks,
 * and each thread has its samples. Each call of a trace is a marker (an interval with the function's name) and also a
 * sample, weighted by the call's self time ("tracing-ms"). Lost records are markers.
 *
 * Times are milliseconds from the first sample or call.
 */
#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "export/rows/row_sinks.h"
#include "export/timeline/firefox.h"

/* --- Pieces of JSON. */

void fox_put_ms(struct output *to, uint64_t ns) {
    char digits[7] = {'.'};
    format_digits(digits + 1, (uint32_t)(ns % 1000000), 6);
    out_u64(to, ns / 1000000);
    out_write(to, digits, sizeof digits);
}

void fox_put_time(struct rows *r, uint64_t time) {
    fox_put_ms(r->out, time == PFR_NO_TIME || time < r->begin ? 0 : time - r->begin);
}

void fox_put_same(struct rows *r, const char *key, const char *value, size_t count) {
    out_text(r->out, key);
    out_text(r->out, ":[");
    for (size_t i = 0; i < count; i++) {
        if (i)
            out_char(r->out, ',');
        out_text(r->out, value);
    }
    out_char(r->out, ']');
}

/* --- Texts: functions and objects. */

static pfr_status intern_all(struct rows *r, struct firefox *f, pfr_error *err) {
    intern_init(&f->strings, r->memory);
    f->nr_symbols = (size_t)pfr_model_count(r->model, PFR_TABLE_SYMBOL) + 1;
    f->func_string = mem_zeroed(r->memory, f->nr_symbols, sizeof *f->func_string);
    f->object_string = mem_zeroed(r->memory, f->nr_symbols, sizeof *f->object_string);
    if (!f->func_string || !f->object_string)
        return mem_fail(r->memory, err, "export");
    for (uint32_t id = 0; id < f->nr_symbols; id++) {
        const struct intern_text name = rows_symbol(r, id);
        PFR_TRY(intern_put(&f->strings, name.bytes, name.length, &f->func_string[id], err));
        const struct intern_text object = rows_object_of(r, id);
        PFR_TRY(intern_put(&f->strings, object.bytes, object.length, &f->object_string[id], err));
    }
    return PFR_OK;
}

static void put_strings(struct rows *r, const struct firefox *f) {
    out_text(r->out, "\"stringArray\":[");
    for (uint32_t i = 0; i < f->strings.count; i++) {
        const struct intern_text text = intern_get(&f->strings, i);
        out_text(r->out, i ? ",\n" : "\n");
        out_json_string(r->out, text.bytes, text.length);
    }
    out_char(r->out, ']');
}

/* --- Tables. Each symbol of the model, and the number 0, becomes a function, a frame and a resource of the file; each
   stack of the model becomes a stack of the file. */

static unsigned category_of(const struct rows *r, uint32_t symbol) {
    const pfr_model_symbol *s = pfr_model_get_symbol(r->model, symbol);
    const pfr_model_object *object = s ? pfr_model_get_object(r->model, s->object) : NULL;
    const pfr_object_kind kind = object ? object->kind : PFR_OBJECT_UNKNOWN;
    if (kind == PFR_OBJECT_KERNEL || kind == PFR_OBJECT_MODULE || kind == PFR_OBJECT_BPF)
        return 2;
    return kind == PFR_OBJECT_JIT ? 3 : kind == PFR_OBJECT_UNKNOWN ? 0 : 1;
}

static void put_numbers(struct rows *r, const char *key, size_t count,
                        int64_t (*number)(const struct rows *r, uint32_t i)) {
    out_text(r->out, key);
    out_text(r->out, ":[");
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            out_char(r->out, ',');
        const int64_t n = number(r, i);
        if (n == INT64_MIN)
            out_text(r->out, "null");
        else
            out_i64(r->out, n);
    }
    out_char(r->out, ']');
}

static int64_t itself(const struct rows *r, uint32_t i) {
    (void)r;
    return i;
}

static int64_t name_of(const struct rows *r, uint32_t i) {
    return ((const struct firefox *)r->state)->func_string[i];
}

static int64_t resource_name_of(const struct rows *r, uint32_t i) {
    return ((const struct firefox *)r->state)->object_string[i];
}

static int64_t category(const struct rows *r, uint32_t i) {
    return category_of(r, i);
}

/* In this format stacks are numbered from 0. */
static int64_t frame_of(const struct rows *r, uint32_t i) {
    return pfr_model_stacks(r->model)[i + 1].symbol;
}

static int64_t prefix_of(const struct rows *r, uint32_t i) {
    const uint32_t parent = pfr_model_stacks(r->model)[i + 1].parent;
    return parent ? (int64_t)parent - 1 : INT64_MIN;
}

static void put_length(struct rows *r, size_t count) {
    out_text(r->out, ",\"length\":");
    out_u64(r->out, count);
    out_text(r->out, "},\n");
}

static void put_frames(struct rows *r, size_t n) {
    out_text(r->out, "\"frameTable\":{");
    fox_put_same(r, "\"address\"", "-1", n);
    fox_put_same(r, ",\"inlineDepth\"", "0", n);
    put_numbers(r, ",\"category\"", n, category);
    fox_put_same(r, ",\"subcategory\"", "0", n);
    put_numbers(r, ",\"func\"", n, itself);
    fox_put_same(r, ",\"nativeSymbol\"", "null", n);
    fox_put_same(r, ",\"innerWindowID\"", "0", n);
    fox_put_same(r, ",\"line\"", "null", n);
    fox_put_same(r, ",\"column\"", "null", n);
    put_length(r, n);
}

static void put_funcs(struct rows *r, size_t n) {
    out_text(r->out, "\"funcTable\":{");
    put_numbers(r, "\"name\"", n, name_of);
    fox_put_same(r, ",\"isJS\"", "false", n);
    fox_put_same(r, ",\"relevantForJS\"", "false", n);
    put_numbers(r, ",\"resource\"", n, itself);
    fox_put_same(r, ",\"source\"", "null", n);
    fox_put_same(r, ",\"lineNumber\"", "null", n);
    fox_put_same(r, ",\"columnNumber\"", "null", n);
    put_length(r, n);
    out_text(r->out, "\"resourceTable\":{");
    fox_put_same(r, "\"lib\"", "null", n);
    put_numbers(r, ",\"name\"", n, resource_name_of);
    fox_put_same(r, ",\"host\"", "null", n);
    fox_put_same(r, ",\"type\"", "1", n);
    put_length(r, n);
}

static void put_shared(struct rows *r, const struct firefox *f) {
    const size_t stacks = pfr_model_count(r->model, PFR_TABLE_STACK);
    out_text(r->out, "\"shared\":{\n\"stackTable\":{");
    put_numbers(r, "\"frame\"", stacks, frame_of);
    put_numbers(r, ",\"prefix\"", stacks, prefix_of);
    put_length(r, stacks);
    put_frames(r, f->nr_symbols);
    put_funcs(r, f->nr_symbols);
    out_text(r->out,
             "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
             "\"sources\":{\"uuid\":[],\"filename\":[],\"length\":0},\n");
    put_strings(r, f);
    out_text(r->out, "},\n");
}

/* --- The head. */

static const char *const categories =
    "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]}],\n";
static const char *const schemas =
    "\"markerSchema\":[{\"name\":\"call\",\"display\":[\"marker-chart\",\"marker-table\"],\"chartLabel\":"
    "\"{marker.name}\",\"fields\":[]},{\"name\":\"lost\",\"display\":[\"marker-chart\",\"marker-table\"],"
    "\"fields\":[{\"key\":\"count\",\"label\":\"Count\",\"format\":\"integer\"}]},"
    "{\"name\":\"event\",\"display\":[\"marker-chart\",\"marker-table\"],\"tableLabel\":\"{marker.data.text}\","
    "\"fields\":[{\"key\":\"count\",\"label\":\"Bytes\",\"format\":\"integer\"},{\"key\":\"number\",\"label\":\"Type\","
    "\"format\":\"integer\"},{\"key\":\"text\",\"label\":\"Text\",\"format\":\"string\"}]}],\n";

static void put_head(struct rows *r) {
    const char *program = rows_meta(r, "cmdline");
    out_text(r->out, "{\"meta\":{\"interval\":1,\"startTime\":0,\"processType\":0,\"product\":");
    out_json_string(r->out, program[0] ? program : "perfray", program[0] ? strlen(program) : strlen("perfray"));
    out_text(r->out, ",\"stackwalk\":1,\"version\":29,\"preprocessedProfileVersion\":60,\"symbolicated\":true,\n");
    out_text(r->out, categories);
    out_text(r->out, schemas);
    out_text(r->out, "\"importedFrom\":\"perfray\",\"platform\":");
    const char *release = rows_meta(r, "osrelease");
    out_json_string(r->out, release, strlen(release));
    out_text(r->out, ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}},\n"
                     "\"libs\":[],\n");
}

/* --- Threads. */

void fox_put_thread_head(struct rows *r, uint32_t id, struct intern_text name) {
    struct firefox *f = r->state;
    out_text(r->out, f->has_thread ? ",\n{\"name\":" : "\n{\"name\":");
    f->has_thread = true;
    out_json_string(r->out, name.bytes, name.length);
    out_text(r->out, ",\"processName\":");
    out_json_string(r->out, name.bytes, name.length);
    out_text(r->out, ",\"pid\":\"");
    out_u64(r->out, rows_pid(r, id));
    out_text(r->out, "\",\"tid\":");
    out_u64(r->out, rows_tid(r, id));
    out_text(r->out, rows_pid(r, id) == rows_tid(r, id) ? ",\"isMainThread\":true" : ",\"isMainThread\":false");
    out_text(r->out, ",\"processType\":\"default\",\"registerTime\":0,\"unregisterTime\":null,\"processStartupTime\":0,"
                     "\"processShutdownTime\":null,\"pausedRanges\":[],\n");
}

/* --- Marks: one thread for lost records, and one for events that the program logged. */

static void put_mark_column(struct rows *r, bool logged, const char *key,
                            void (*cell)(struct rows *r, const pfr_mark *mark)) {
    const pfr_mark *mark;
    bool is_first = true;
    out_text(r->out, key);
    out_text(r->out, ":[");
    for (uint64_t i = 0; (mark = pfr_model_mark(r->model, i)); i++) {
        if (rows_is_logged(mark) != logged)
            continue;
        if (!is_first)
            out_char(r->out, ',');
        is_first = false;
        cell(r, mark);
    }
    out_char(r->out, ']');
}

static void cell_logged(struct rows *r, const pfr_mark *mark) {
    out_text(r->out, "{\"type\":\"event\",\"count\":");
    out_u64(r->out, mark->count);
    if (mark->kind == PFR_MARK_TYPED) {
        out_text(r->out, ",\"number\":");
        out_u64(r->out, mark->type);
    }
    if (mark->text) {
        out_text(r->out, ",\"text\":");
        out_json_string(r->out, mark->text, strlen(mark->text));
    }
    out_char(r->out, '}');
}

static void cell_data(struct rows *r, const pfr_mark *mark) {
    out_text(r->out, "{\"type\":\"lost\",\"count\":");
    out_u64(r->out, mark->count);
    out_char(r->out, '}');
}

static void cell_name(struct rows *r, const pfr_mark *mark) {
    const struct firefox *f = r->state;
    const char *name = rows_mark_name(mark);
    out_u64(r->out, intern_find(&f->strings, name, strlen(name)));
}

static void cell_time(struct rows *r, const pfr_mark *mark) {
    fox_put_time(r, mark->time);
}

static pfr_status intern_marks(struct rows *r, struct firefox *f, pfr_error *err) {
    const pfr_mark *mark;
    uint32_t number;
    for (uint64_t i = 0; (mark = pfr_model_mark(r->model, i)); i++) {
        const char *name = rows_mark_name(mark);
        PFR_TRY(intern_put(&f->strings, name, strlen(name), &number, err));
    }
    return PFR_OK;
}

static size_t count_marks(const struct rows *r, bool logged) {
    const pfr_mark *mark;
    size_t count = 0;
    for (uint64_t i = 0; (mark = pfr_model_mark(r->model, i)); i++)
        count += rows_is_logged(mark) == logged;
    return count;
}

static void put_marks(struct rows *r, bool logged) {
    const size_t count = count_marks(r, logged);
    if (!count)
        return;
    fox_put_thread_head(r, 0, (struct intern_text){(const uint8_t *)(logged ? "events" : "losses"), 6});
    out_text(r->out, "\"samples\":{\"stack\":[],\"time\":[],\"weight\":null,\"weightType\":\"samples\",\"length\":0},\n"
                     "\"markers\":{");
    put_mark_column(r, logged, "\"data\"", logged ? cell_logged : cell_data);
    put_mark_column(r, logged, ",\"name\"", cell_name);
    put_mark_column(r, logged, ",\"startTime\"", cell_time);
    fox_put_same(r, ",\"endTime\"", "null", count);
    fox_put_same(r, ",\"phase\"", "0", count);
    fox_put_same(r, ",\"category\"", "0", count);
    out_text(r->out, ",\"length\":");
    out_u64(r->out, count);
    out_text(r->out, "}}");
}

static pfr_status write_firefox(struct rows *r, pfr_error *err) {
    struct firefox *f = r->state;
    PFR_TRY(intern_all(r, f, err));
    PFR_TRY(intern_marks(r, f, err));
    put_head(r);
    put_shared(r, f);
    out_text(r->out, "\"threads\":[");
    PFR_TRY(fox_put_threads(r, err));
    put_marks(r, false);
    put_marks(r, true);
    out_text(r->out, "]}\n");
    return PFR_OK;
}

static void clear(struct rows *r) {
    struct firefox *f = r->state;
    fox_free_threads(r);
    mem_free(r->memory, f->func_string, f->nr_symbols, sizeof *f->func_string);
    mem_free(r->memory, f->object_string, f->nr_symbols, sizeof *f->object_string);
    if (f->strings.memory)
        intern_free(&f->strings);
}

const struct row_sink sink_firefox = {
    .format = {.name = "firefox",
               .suffix = ".firefox.json",
               .about = "processed profile of the Firefox Profiler, version 60",
               .reader = "profiler.firefox.com, profiler-cli, Perfetto UI",
               .losses = "CPUs, addresses",
               .holds_both = true},
    .sums_events = true,
    .state_size = sizeof(struct firefox),
    .write = write_firefox,
    .clear = clear,
};
