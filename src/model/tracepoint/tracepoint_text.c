/* SPDX-License-Identifier: Apache-2.0 */
/* See tracepoint_text.h. A format is read at its first record. */
#include "model/tracepoint/tracepoint_text.h"

#include "base/memory/fail.h"
#include "base/tables/hashmap.h"
#include "base/text/public_output.h"
#include "base/text/text.h"
#include "file/read/tracing_blob.h"
#include "model/tracepoint/tracepoint_child.h"
#include "model/tracepoint/tracepoint_shape.h"

#define TRACING_DATA 1u
#define CHARGE_PER_BYTE 8u /* approximate memory of the library per byte of a format */
#define DATA_ROOM ((size_t)TRACE_DATA_MOST + TRACE_DATA_BEHIND)
#define FIELDS_ALONE "print fmt: none" /* makes the library print fields only */

enum tracepoint_state { NOT_READ, HERE, APART, NO_TEXT };

struct tracepoint_event {
    uint64_t id;
    enum tracepoint_state state;
    struct tracepoint_shape shape;
};

struct tracepoint_text {
    struct memory *memory;
    struct arena arena;
    struct u64_map ids; /* id -> index in `events` of the first format with this id */
    struct tracing_rest rest;
    struct tracepoint_machine machine;
    struct tracepoint_source *sources; /* source of events[i]; a separate array for the child */
    struct tracepoint_event *events;
    size_t count, sources_room, events_room;
    struct tracepoint_printer *printer;
    struct tracepoint_child child;
    bool no_children;
    uint64_t charged;
    uint8_t *data; /* the record, followed by 0 */
    size_t dirty;  /* bytes of data that may not be 0 */
};

/* --- opening --- */

static pfr_status add_event(struct tracepoint_text *t, const struct tracing_format *f, pfr_error *err) {
    bool is_new;
    const uint64_t *index = u64_map_at(&t->ids, f->id, t->count, &is_new);
    if (!index)
        return mem_fail(t->memory, err, "trace formats");
    if (!is_new)
        return PFR_OK;
    struct tracepoint_event *events = mem_grow(t->memory, t->events, t->count, &t->events_room, 64, sizeof *events);
    t->events = events ? events : t->events;
    struct tracepoint_source *sources =
        mem_grow(t->memory, t->sources, t->count, &t->sources_room, 64, sizeof *sources);
    t->sources = sources ? sources : t->sources;
    const char *system = arena_text(&t->arena, f->system.at, f->system.length);
    if (!events || !sources || !system)
        return mem_fail(t->memory, err, "trace formats");
    sources[t->count] = (struct tracepoint_source){f->text, system};
    events[t->count++] = (struct tracepoint_event){.id = f->id};
    return PFR_OK;
}

/* Reads the formats. Damage ends the list; the formats before it are used. */
static pfr_status read_blob(struct tracepoint_text *t, struct tracing_blob *b, pfr_error *err) {
    struct tracing_format f;
    pfr_status status;
    while ((status = blob_next_ftrace(b, &f, err)) == PFR_OK)
        PFR_TRY(add_event(t, &f, err));
    while ((status = blob_next(b, &f, err)) == PFR_OK)
        PFR_TRY(add_event(t, &f, err));
    if (status == PFR_END)
        blob_rest(b, &t->rest, NULL);
    return PFR_OK;
}

/* The next line of *lines, without its end. */
static bool next_line(pfr_bytes *lines, pfr_text *line) {
    if (lines->length == 0)
        return false;
    const uint8_t *end = memchr(lines->at, '\n', lines->length);
    const uint64_t length = end ? (uint64_t)(end - lines->at) : lines->length;
    *line = (pfr_text){(const char *)lines->at, length > UINT32_MAX ? UINT32_MAX : (uint32_t)length, 0};
    lines->at += length + (end != NULL);
    lines->length -= length + (end != NULL);
    return true;
}

/* Adds a line 0xADDRESS : "text\n" of the printk formats. Passes the text after the first quote to the library, which
   removes \n and the last quote. To find them, it reads back three characters from the end, whatever the length. */
static void add_string(struct tracepoint_printer *printer, const pfr_text *line) {
    enum { SHORTEST = 3, LINE = 1024 };
    char text[LINE];
    uint64_t address;
    const char *colon = memchr(line->at, ':', line->length);
    size_t before = colon ? (size_t)(colon - line->at) : 0;
    while (before && line->at[before - 1] == ' ')
        before--;
    if (!colon || !parse_hex_part(line->at, before, &address))
        return;
    const char *at = colon + 1, *end = line->at + line->length;
    while (at < end && *at == ' ')
        at++;
    at += at < end && *at == '"';
    while (end > at && end[-1] == ' ')
        end--;
    const size_t length = (size_t)(end - at);
    if (length < SHORTEST || length >= LINE || memchr(at, '\0', length))
        return;
    memcpy(text, at, length);
    text[length] = '\0';
    tracepoint_printer_string(printer, address, text);
}

static void add_strings(struct tracepoint_printer *printer, void *context) {
    const struct tracepoint_text *t = context;
    pfr_bytes lines = t->rest.printk;
    pfr_text line;
    while (next_line(&lines, &line))
        add_string(printer, &line);
}

static pfr_status prepare(struct tracepoint_text *t, pfr_error *err) {
    t->data = mem_zeroed(t->memory, DATA_ROOM, 1);
    if (!t->data)
        return mem_fail(t->memory, err, "trace text");
    t->printer = tracepoint_printer_new(&t->machine);
    if (!t->printer)
        return pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "trace text", "out of memory for tracepoint formats");
    add_strings(t->printer, t);
    tracepoint_child_init(&t->child, &t->machine, t->memory, t->sources);
    t->child.prepare = add_strings;
    t->child.context = t;
    return PFR_OK;
}

/* The size of `long` on the recorded machine: as in perf, the size of `commit` in the page header; otherwise the size
   in the header of the tracing data. */
static uint8_t long_size(const struct tracing_blob *b) {
    static const char commit[] = " commit;", size[] = "size:";
    const uint8_t *end = b->header_page.at + b->header_page.length;
    const uint8_t *at = memmem(b->header_page.at, b->header_page.length, commit, sizeof commit - 1);
    at = at ? memmem(at, (size_t)(end - at), size, sizeof size - 1) : NULL;
    if (at && (size_t)(end - at) > sizeof size && (at[sizeof size - 1] == '4' || at[sizeof size - 1] == '8'))
        return (uint8_t)(at[sizeof size - 1] - '0');
    return b->long_size;
}

static pfr_status fill(struct tracepoint_text *t, struct tracing_blob *b, pfr_error *err) {
    t->machine = (struct tracepoint_machine){b->big_endian, long_size(b), b->page_size};
    PFR_TRY(read_blob(t, b, err));
    return prepare(t, err);
}

pfr_status tracepoint_text_open_blob(struct tracepoint_text **text, pfr_bytes bytes, struct memory *memory,
                                     pfr_error *err) {
    struct tracing_blob blob;
    *text = NULL;
    if (bytes.length == 0 || blob_open(&blob, bytes.at, bytes.length, 0, NULL) != PFR_OK)
        return PFR_OK;
    struct tracepoint_text *t = mem_zeroed(memory, 1, sizeof *t);
    if (!t)
        return mem_fail(memory, err, "trace text");
    t->memory = memory;
    tracepoint_child_init(&t->child, &t->machine, memory, NULL);
    arena_init(&t->arena, memory);
    u64_map_init(&t->ids, memory);
    const pfr_status status = fill(t, &blob, err);
    if (status == PFR_OK)
        *text = t;
    else
        tracepoint_text_close(t);
    return status;
}

pfr_status tracepoint_text_open(struct tracepoint_text **text, pfr_reader *reader, struct memory *memory,
                                pfr_error *err) {
    pfr_error own = {.status = PFR_OK};
    *text = NULL;
    const pfr_feature *feature = pfr_find_feature(reader, TRACING_DATA, &own);
    if (feature)
        return tracepoint_text_open_blob(text, feature->bytes, memory, err);
    if (own.status < 0 && err)
        *err = own;
    return own.status < 0 ? own.status : PFR_OK;
}

void tracepoint_text_close(struct tracepoint_text *t) {
    if (!t)
        return;
    struct memory *memory = t->memory;
    tracepoint_child_close(&t->child);
    tracepoint_printer_free(t->printer);
    mem_discharge(memory, t->charged);
    mem_free(memory, t->data, DATA_ROOM, 1);
    mem_free(memory, t->sources, t->sources_room, sizeof *t->sources);
    mem_free(memory, t->events, t->events_room, sizeof *t->events);
    u64_map_free(&t->ids);
    arena_free(&t->arena);
    mem_free(memory, t, 1, sizeof *t);
}

void tracepoint_text_names(struct tracepoint_text *t, tracepoint_name_fn *name, void *context) {
    tracepoint_printer_name(t->printer, name, context);
}

void tracepoint_text_no_children(struct tracepoint_text *t) {
    t->no_children = true;
}

/* --- formats --- */

static pfr_status charge(struct tracepoint_text *t, uint64_t bytes, pfr_error *err) {
    if (!mem_charge(t->memory, bytes * CHARGE_PER_BYTE))
        return mem_fail(t->memory, err, "trace formats");
    t->charged += bytes * CHARGE_PER_BYTE;
    return PFR_OK;
}

static pfr_status give_format(struct tracepoint_text *t, struct tracepoint_event *e, const char *text, size_t length,
                              pfr_error *err) {
    bool whole;
    PFR_TRY(charge(t, length, err));
    e->state = tracepoint_printer_add(t->printer, text, length, e->shape.format.system, &whole) ? HERE : NO_TEXT;
    return PFR_OK;
}

/* Adds the format without its print format to the printer, if its fields are understood. */
static pfr_status give_fields(struct tracepoint_text *t, struct tracepoint_event *e,
                              const struct tracepoint_source *source, pfr_error *err) {
    static const char mark[] = "print fmt:";
    e->state = NO_TEXT;
    if (e->shape.verdict == TRACE_NEVER)
        return PFR_OK;
    const char *print = memmem(source->text.at, source->text.length, mark, sizeof mark - 1);
    const size_t fields = print ? (size_t)(print - source->text.at) : source->text.length;
    char *text = arena_take(&t->arena, fields + sizeof FIELDS_ALONE, 1);
    if (!text)
        return mem_fail(t->memory, err, "trace formats");
    memcpy(text, source->text.at, fields);
    memcpy(text + fields, FIELDS_ALONE, sizeof FIELDS_ALONE);
    return give_format(t, e, text, fields + sizeof FIELDS_ALONE - 1, err);
}

static pfr_status read_format(struct tracepoint_text *t, struct tracepoint_event *e,
                              const struct tracepoint_source *source, pfr_error *err) {
    PFR_TRY(tracepoint_shape_read(source->text.at, source->text.length, source->system, &t->arena, &e->shape, err));
    if (e->shape.verdict == TRACE_DIRECT)
        return give_format(t, e, source->text.at, source->text.length, err);
    if (e->shape.verdict == TRACE_FIELDS || t->no_children)
        return give_fields(t, e, source, err);
    e->state = APART;
    return PFR_OK;
}

/* --- records --- */

static bool swapped(const struct tracepoint_text *t) {
    return t->machine.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void store(void *at, uint32_t value, size_t width, bool big_endian) {
    uint8_t *bytes = at;
    for (size_t i = 0; i < width; i++)
        bytes[big_endian ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* Empties a dynamic array that is not inside the record, or that has more than *left bytes, which earlier arrays left
   over: arrays of a record do not overlap, so no byte should be printed more than about once. */
static void mend_place(struct tracepoint_text *t, const struct format_field *f, uint32_t length, uint32_t *left) {
    uint8_t *word = t->data + f->offset;
    const uint32_t place = load_u32(word, swapped(t)), base = f->rel_loc ? f->offset + f->size : 0;
    const uint32_t offset = base + (place & 0xffff), size = place >> 16;
    const bool fits = offset <= length && size <= length - offset && size <= *left;
    *left -= fits ? size : 0;
    if (!fits)
        store(word, length - base, sizeof place, t->machine.big_endian);
}

static void mend_places(struct tracepoint_text *t, const struct tracepoint_event *e, uint32_t length) {
    const struct event_format *format = &e->shape.format;
    uint32_t left = 2 * length;
    if (e->shape.verdict == TRACE_NEVER)
        return;
    for (size_t i = 0; i < format->field_count; i++)
        if (format->fields[i].data_loc || format->fields[i].rel_loc)
            mend_place(t, &format->fields[i], length, &left);
}

static void place_record(struct tracepoint_text *t, const struct tracepoint_event *e, const uint8_t *raw,
                         uint32_t length) {
    if (length)
        memcpy(t->data, raw, length);
    if (t->dirty > length)
        memset(t->data + length, 0, t->dirty - length);
    t->dirty = length < 2 ? 2 : length;
    store(t->data, (uint32_t)e->id, 2, t->machine.big_endian);
    mend_places(t, e, length);
}

static pfr_status print_here(struct tracepoint_text *t, uint32_t length, uint32_t cpu, pfr_output *out) {
    size_t text_length;
    const char *text = tracepoint_printer_text(t->printer, t->data, length, cpu, &text_length);
    if (text)
        print_name(out, text, text_length);
    return PFR_OK;
}

static pfr_status print_apart(struct tracepoint_text *t, struct tracepoint_event *e, uint32_t length, uint32_t cpu,
                              pfr_output *out, pfr_error *err) {
    const size_t number = (size_t)(e - t->events);
    const char *text;
    size_t text_length;
    const pfr_status status =
        tracepoint_child_print(&t->child, (uint32_t)number, t->data, length, cpu, &text, &text_length, err);
    if (status < 0)
        return status;
    if (status == PFR_OK) {
        print_name(out, text, text_length);
        return PFR_OK;
    }
    PFR_TRY(give_fields(t, e, &t->sources[number], err));
    return e->state == HERE ? print_here(t, length, cpu, out) : PFR_OK;
}

static void say_short(pfr_output *out, uint64_t length, uint64_t wanted) {
    out_char(&out->out, '[');
    out_u64(&out->out, length);
    out_text(&out->out, " of ");
    out_u64(&out->out, wanted);
    out_text(&out->out, " bytes]");
}

static struct tracepoint_event *find_event(struct tracepoint_text *t, uint64_t config, const uint8_t *raw,
                                           size_t length) {
    uint64_t index;
    if (length >= 2 && u64_map_get(&t->ids, load_u16(raw, swapped(t)), &index))
        return &t->events[index];
    return u64_map_get(&t->ids, config, &index) ? &t->events[index] : NULL;
}

pfr_status tracepoint_text_write(struct tracepoint_text *t, uint64_t config, const uint8_t *raw, size_t length,
                                 uint32_t cpu, pfr_output *out, pfr_error *err) {
    struct tracepoint_event *e = find_event(t, config, raw, length);
    if (!e || length > TRACE_DATA_MOST || e->id > UINT16_MAX)
        return PFR_OK;
    if (e->state == NOT_READ)
        PFR_TRY(read_format(t, e, &t->sources[e - t->events], err));
    if (length < e->shape.bytes) {
        say_short(out, length, e->shape.bytes);
        return PFR_OK;
    }
    if (e->state == NO_TEXT)
        return PFR_OK;
    place_record(t, e, raw, (uint32_t)length);
    if (e->state == HERE)
        return print_here(t, (uint32_t)length, cpu, out);
    return print_apart(t, e, (uint32_t)length, cpu, out, err);
}

/* --- single fields --- */

/* Prepares the record. *e NULL: there is no format for it. */
static pfr_status ready_fields(struct tracepoint_text *t, uint64_t config, const uint8_t *raw, size_t length,
                               struct tracepoint_event **event, pfr_error *err) {
    struct tracepoint_event *e = find_event(t, config, raw, length);
    *event = NULL;
    if (!e || length > TRACE_DATA_MOST || e->id > UINT16_MAX)
        return PFR_OK;
    if (e->state == NOT_READ)
        PFR_TRY(read_format(t, e, &t->sources[e - t->events], err));
    if (e->state == APART)
        PFR_TRY(give_fields(t, e, &t->sources[e - t->events], err));
    if (e->state != HERE || length < e->shape.bytes)
        return PFR_OK;
    place_record(t, e, raw, (uint32_t)length);
    *event = e;
    return PFR_OK;
}

/* The value of the first word `name=value`; NULL: no such word. */
static const char *find_word(const char *text, size_t length, const char *name, size_t *value_length) {
    const size_t name_length = strlen(name);
    const char *const end = text + length;
    for (const char *at = text; at < end; at++) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        const char *const stop = blank ? blank : end;
        if ((size_t)(stop - at) > name_length && at[name_length] == '=' && memcmp(at, name, name_length) == 0) {
            *value_length = (size_t)(stop - at) - name_length - 1;
            return at + name_length + 1;
        }
        at = stop;
    }
    return NULL;
}

pfr_status tracepoint_text_field(struct tracepoint_text *t, uint64_t config, const uint8_t *raw, size_t length,
                                 const char *name, bool plain, pfr_output *out, bool *has, pfr_error *err) {
    struct tracepoint_event *e;
    const char *text = NULL, *value = NULL;
    size_t text_length = 0, value_length = 0;
    *has = false;
    PFR_TRY(ready_fields(t, config, raw, length, &e, err));
    if (!e || (name && !find_format_field(&e->shape.format, name)))
        return PFR_OK;
    if (name && !plain && (text = tracepoint_printer_text(t->printer, t->data, length, 0, &text_length)))
        value = find_word(text, text_length, name, &value_length);
    if (!value)
        value = tracepoint_printer_field(t->printer, t->data, length, name, &value_length);
    *has = value != NULL;
    if (value)
        print_name(out, value, value_length);
    return PFR_OK;
}

pfr_status tracepoint_text_field_name(struct tracepoint_text *t, uint64_t config, size_t number, const char **name,
                                      bool *is_common, pfr_error *err) {
    struct tracepoint_event *e = find_event(t, config, NULL, 0);
    *name = NULL;
    if (!e)
        return PFR_OK;
    if (e->state == NOT_READ)
        PFR_TRY(read_format(t, e, &t->sources[e - t->events], err));
    const struct event_format *format = &e->shape.format;
    if (e->shape.verdict == TRACE_NEVER || number >= format->field_count)
        return PFR_OK;
    *name = format->fields[number].name;
    *is_common = format->fields[number].is_common;
    return PFR_OK;
}
