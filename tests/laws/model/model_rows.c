/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the contents of a model, for run_model.py:
 *
 *     model_rows sums FILE JOBS       event, object, symbol, total, self, samples; then sums by comm, pid, tid, cpu
 *     model_rows samples FILE JOBS    one sample a line, in file order, its stack innermost first
 *     model_rows all FILE JOBS        every table and every sample, raw: the same for all ways to read a recording
 *     model_rows calls FILE JOBS      sums of the calls of a trace by function
 *     model_rows marks FILE JOBS      one mark a line, its text in hexadecimal digits
 *
 * A second file after JOBS is one of the same run: a trace for a recording.
 */
#include <perfray/perfray.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const pfr_error *err) {
    fprintf(stderr, "model_rows: %s (%s)\n", err->text, pfr_status_name(err->status));
    return 1;
}

static void put_name(const char *name) {
    char text[8192];
    pfr_escape(text, sizeof text, name, strlen(name));
    fputs(text, stdout);
}

/* A symbol by its name, or by its address if it has no name. */
static void put_symbol(const pfr_model *m, uint32_t id) {
    const pfr_model_symbol *symbol = pfr_model_get_symbol(m, id);
    put_name(pfr_model_get_object(m, symbol->object)->name);
    putchar('\t');
    if (symbol->name)
        put_name(symbol->name);
    else
        printf("%#018" PRIx64, symbol->address);
}

/* --- sums --- */

struct sums {
    uint64_t *weight, *samples;
};

static struct sums sums_new(uint32_t count) {
    return (struct sums){calloc((size_t)count + 1, sizeof(uint64_t)), calloc((size_t)count + 1, sizeof(uint64_t))};
}

static int print_symbols(const pfr_model *m, uint32_t event, pfr_error *err) {
    const uint32_t count = pfr_model_count(m, PFR_TABLE_STACK), symbols = pfr_model_count(m, PFR_TABLE_SYMBOL);
    uint64_t *self = calloc((size_t)count + 1, sizeof *self), *total = calloc((size_t)count + 1, sizeof *total);
    struct sums selves = sums_new(symbols), totals = sums_new(symbols);
    if (pfr_model_weights(m, event, self, total, err) < 0)
        return fail(err);
    for (uint32_t id = 1; id <= count; id++) {
        const pfr_stack *stack = pfr_model_get_stack(m, id);
        selves.weight[stack->symbol] += self[id];
        totals.weight[stack->symbol] += stack->is_outer ? total[id] : 0;
    }
    for (uint32_t id = 1; id <= symbols; id++) {
        if (!totals.weight[id])
            continue;
        printf("symbol\t%" PRIu32 "\t", event);
        put_symbol(m, id);
        printf("\t%" PRIu64 "\t%" PRIu64 "\n", totals.weight[id], selves.weight[id]);
    }
    return 0;
}

struct key_sums {
    const char *name;
    struct sums sums;
};

static void add(struct sums *to, uint32_t at, uint64_t weight) {
    to->weight[at] += weight;
    to->samples[at]++;
}

static void print_sums(const pfr_model *m, const char *key, const struct sums *sums, uint32_t count) {
    for (uint32_t id = 0; id <= count; id++) {
        if (!sums->samples[id])
            continue;
        printf("%s\t", key);
        if (strcmp(key, "comm") == 0)
            put_name(id ? pfr_model_get_comm(m, id) : "");
        else if (strcmp(key, "tid") == 0)
            printf("%d", id ? (int)pfr_model_get_thread(m, id)->tid : -1);
        else
            printf("%" PRIu32, id);
        printf("\t%" PRIu64 "\t%" PRIu64 "\n", sums->weight[id], sums->samples[id]);
    }
}

static int print_keys(const pfr_model *m, pfr_error *err) {
    const uint32_t comms = pfr_model_count(m, PFR_TABLE_COMM), threads = pfr_model_count(m, PFR_TABLE_THREAD);
    struct sums comm = sums_new(comms), thread = sums_new(threads),
                event = sums_new(pfr_model_count(m, PFR_TABLE_EVENT));
    const pfr_sample_batch *b;
    pfr_status st;
    pfr_samples *cursor = pfr_samples_open(m, NULL, err);
    if (!cursor)
        return fail(err);
    while ((st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++) {
            add(&comm, b->comm[i], b->weight[i]);
            add(&thread, b->thread[i], b->weight[i]);
            add(&event, b->event[i], b->weight[i]);
        }
    pfr_samples_close(cursor);
    print_sums(m, "comm", &comm, comms);
    print_sums(m, "tid", &thread, threads);
    print_sums(m, "event", &event, pfr_model_count(m, PFR_TABLE_EVENT));
    return st < 0 ? fail(err) : 0;
}

static int print_all_sums(const pfr_model *m, pfr_error *err) {
    for (uint32_t event = 1; event <= pfr_model_count(m, PFR_TABLE_EVENT); event++)
        if (print_symbols(m, event, err))
            return 1;
    return print_keys(m, err);
}

/* --- samples --- */

static void print_stack(const pfr_model *m, uint32_t id) {
    const pfr_stack *stacks = pfr_model_stacks(m);
    for (; id; id = stacks[id].parent) {
        const pfr_model_frame *frame = pfr_model_get_frame(m, stacks[id].frame);
        const pfr_model_symbol *symbol = pfr_model_get_symbol(m, frame->symbol);
        const pfr_model_object *object = pfr_model_get_object(m, frame->object);
        printf("\t%s", stacks[id].is_apart ? "apart " : "");
        put_name(object->kind == PFR_OBJECT_UNKNOWN ? "" : object->path);
        putchar('|');
        if (symbol->name) {
            put_name(symbol->name);
            printf("|%" PRIu64, frame->address - symbol->address);
        } else {
            printf("|");
        }
    }
    putchar('\n');
}

static int print_samples(const pfr_model *m, pfr_error *err) {
    const pfr_sample_batch *b;
    pfr_status st;
    pfr_samples *cursor = pfr_samples_open(m, NULL, err);
    if (!cursor)
        return fail(err);
    while ((st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++) {
            const pfr_model_thread *thread = pfr_model_get_thread(m, b->thread[i]);
            printf("%" PRIu64 "\t%d\t%d\t%" PRIu64 "\t", b->time[i],
                   thread ? (int)pfr_model_get_process(m, thread->process)->pid : -1, thread ? (int)thread->tid : -1,
                   b->weight[i]);
            put_name(pfr_model_get_event(m, b->event[i])->name);
            printf("\t%d\t%u", (int)b->cpu[i], b->mode[i]);
            print_stack(m, b->stack[i]);
        }
    pfr_samples_close(cursor);
    return st < 0 ? fail(err) : 0;
}

/* --- everything --- */

static void print_dictionaries(const pfr_model *m) {
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_EVENT); id++) {
        const pfr_model_event *e = pfr_model_get_event(m, id);
        printf("event %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", e->name, e->samples, e->weight, e->first,
               e->last);
    }
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_PROCESS); id++) {
        const pfr_model_process *p = pfr_model_get_process(m, id);
        printf("process %u %u %u %" PRIu64 " %" PRIu64 "\n", p->pid, p->parent, p->comm, p->start, p->end);
    }
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_THREAD); id++) {
        const pfr_model_thread *t = pfr_model_get_thread(m, id);
        printf("thread %u %u %u %" PRIu64 " %" PRIu64 "\n", t->process, t->tid, t->comm, t->start, t->end);
    }
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_COMM); id++)
        printf("comm %s\n", pfr_model_get_comm(m, id));
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_OBJECT); id++) {
        const pfr_model_object *o = pfr_model_get_object(m, id);
        printf("object %s %s %d %u %02x\n", o->path, o->name, (int)o->kind, o->build_id_size, o->build_id[0]);
    }
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_SYMBOL); id++) {
        const pfr_model_symbol *s = pfr_model_get_symbol(m, id);
        printf("symbol %s %s %u %" PRIx64 " %" PRIx64 "\n", s->name ? s->name : "-", s->mangled ? s->mangled : "-",
               s->object, s->address, s->size);
    }
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_FRAME); id++) {
        const pfr_model_frame *f = pfr_model_get_frame(m, id);
        printf("frame %u %u %" PRIx64 " %s %u %u %d\n", f->symbol, f->object, f->address, f->file ? f->file : "-",
               f->line, f->mode, f->inlined);
    }
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_STACK); id++) {
        const pfr_stack *s = pfr_model_get_stack(m, id);
        printf("stack %u %u %u %u %u %u\n", s->parent, s->frame, s->symbol, s->depth, s->is_outer, s->is_apart);
    }
}

static int print_every_sample(const pfr_model *m, bool in_time_order, pfr_error *err) {
    const pfr_samples_options options = {.size = sizeof options, .in_time_order = in_time_order};
    const pfr_sample_batch *b;
    pfr_status st;
    pfr_samples *cursor = pfr_samples_open(m, &options, err);
    if (!cursor)
        return fail(err);
    while ((st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++)
            printf("sample %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %d %u %u %u\n", b->id[i], b->time[i],
                   b->weight[i], b->period[i], b->thread[i], b->comm[i], (int)b->cpu[i], b->event[i], b->stack[i],
                   b->mode[i]);
    pfr_samples_close(cursor);
    return st < 0 ? fail(err) : 0;
}

static int print_all(const pfr_model *m, pfr_error *err) {
    print_dictionaries(m);
    return print_every_sample(m, false, err) || print_every_sample(m, true, err);
}

/* --- calls --- */

static int print_calls(const pfr_model *m, pfr_error *err) {
    const uint32_t count = pfr_model_count(m, PFR_TABLE_SYMBOL);
    uint64_t *calls = calloc((size_t)count + 1, sizeof *calls), *open = calloc((size_t)count + 1, sizeof *open);
    uint64_t *most = calloc((size_t)count + 1, sizeof *most), *sum = calloc((size_t)count + 1, sizeof *sum);
    int64_t *self = calloc((size_t)count + 1, sizeof *self);
    const pfr_call_batch *b;
    pfr_status st;
    pfr_calls *cursor = pfr_calls_open(m, NULL, err);
    if (!cursor)
        return fail(err);
    while ((st = pfr_calls_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++) {
            const uint32_t at = b->symbol[i];
            if (b->flags[i] & PFR_CALL_OPEN) {
                open[at]++;
                continue;
            }
            calls[at]++;
            sum[at] += b->duration[i];
            self[at] += b->self[i];
            most[at] = b->duration[i] > most[at] ? b->duration[i] : most[at];
        }
    pfr_calls_close(cursor);
    for (uint32_t id = 1; id <= count; id++)
        if (calls[id] || open[id]) {
            put_symbol(m, id);
            printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\n", calls[id], open[id], sum[id],
                   most[id], self[id]);
        }
    return st < 0 ? fail(err) : 0;
}

/* --- marks --- */

static void put_hex(const char *text) {
    for (; text && *text; text++)
        printf("%02x", (unsigned char)*text);
    puts(text ? "" : "-");
}

static int print_marks(const pfr_model *m, pfr_error *err) {
    const pfr_mark *mark;
    (void)err;
    for (uint64_t i = 0; (mark = pfr_model_mark(m, i)); i++) {
        const pfr_model_thread *thread = pfr_model_get_thread(m, mark->thread);
        printf("%d\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t", (int)mark->kind, (int64_t)mark->time, mark->offset,
               mark->count);
        printf("%d\t%d\t%d\t%u\t", thread ? (int)pfr_model_get_process(m, thread->process)->pid : -1,
               thread ? (int)thread->tid : -1, (int)mark->cpu, mark->type);
        put_hex(mark->text);
    }
    return 0;
}

/* --- */

static const struct {
    const char *name;
    int (*print)(const pfr_model *m, pfr_error *err);
} forms[] = {{"sums", print_all_sums},
             {"samples", print_samples},
             {"all", print_all},
             {"calls", print_calls},
             {"marks", print_marks}};

int main(int argc, char **argv) {
    pfr_error err;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    const char *const sizes = getenv("PERFRAY_SIZES");
    const bool right = argc == 4 || argc == 5;
    if (sizes && pfr_debug_sizes(sizes, &err) != PFR_OK)
        return fail(&err);
    pfr_reader *reader = right ? pfr_open(argv[2], &how, &err) : NULL;
    pfr_reader *beside = reader && argc == 5 ? pfr_open(argv[4], &how, &err) : NULL;
    if (!reader || (argc == 5 && !beside))
        return right ? fail(&err) : 2;
    const pfr_model_options options = {.size = sizeof options, .jobs = (uint32_t)atoi(argv[3]), .beside = beside};
    pfr_model *model = pfr_model_open(reader, &options, &err);
    if (!model)
        return fail(&err);
    int result = 2;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, argv[1]) == 0)
            result = forms[i].print(model, &err);
    pfr_model_close(model);
    pfr_close(beside);
    pfr_close(reader);
    return result;
}
