/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows records as recorded, before the lines that the script prints for them (perf script -D):
 *
 *     0x560@perf.data [0x30]: event: 9
 *     .
 *     . ... raw event: size 48 bytes
 *     .  0000:  09 00 00 00 01 00 30 00 2d 97 25 82 ff ff ff ff  ......0-.%.....
 *
 *     5899403467973 0x560 [0x30]: PERF_RECORD_SAMPLE(IP, 0x1): 32177/32177: 0xffffffff8225972d period: 1 addr: 0
 *      ... thread: sh:32177
 *      ...... dso: [kernel.kallsyms]
 *                   sh 32177  5899.403467:          1 page-faults:  ffffffff8225972d __put_user_8+0xd
 *
 * dump_perf.c prints the lines of the record; this file adds the thread and object of a sample.
 */
#include "view/dump/dump_perf.h"
#include "view/script/script_dump.h"
#include "view/script/script_frames.h"

/* Like perf, warns if the records of a file have no times to sort by. */
void script_dump_begin(struct script *s) {
    const pfr_event *first = pfr_event_count(s->shared->reader) ? pfr_get_event(s->shared->reader, 0) : NULL;
    if (first && !first->attr.flags.sample_id_all && !s->shared->options->unsorted &&
        pfr_get_header(s->shared->reader)->container != PFR_PIPE)
        out_text(s->out, "WARNING: No sample_id_all support, falling back to unordered processing\n");
}

void script_dump_record(struct script *s, const pfr_record *rec) {
    script_fail(s, dump_perf_record(s->lines, rec, s->err));
}

/* The object's name as in script lines, except that modules are shown by path. */
static void write_object(struct script *s, const struct object *o, uint32_t number) {
    if (o->kind != OBJECT_MODULE) {
        script_write_object_name(s, number, s->to);
        return;
    }
    const struct intern_text path = intern_get(&s->shared->state->names, o->path);
    print_name(s->to, path.bytes, path.length);
}

static void write_thread(struct script *s, const struct moment *m) {
    out_text(s->out, " ... thread: ");
    out_write(s->out, m->thread->comm, m->thread->comm_length);
    out_char(s->out, ':');
    out_i64(s->out, (int32_t)m->tid);
    out_text(s->out, "\n ...... dso: ");
}

void script_dump_left_out(struct script *s, const struct moment *m) {
    write_thread(s, m);
    out_text(s->out, "[hypervisor]\n");
}

void script_dump_sample(struct script *s, const struct moment *m) {
    struct place place;
    script_place(s, m, m->rec->misc & PFR_CPUMODE_MASK, m->sample->ip, &place);
    write_thread(s, m);
    const uint32_t object = place.ksymbol ? place.ksymbol->object : place.object;
    if (object == NO_OBJECT)
        out_text(s->out, "<not found>");
    else
        write_object(s, &s->shared->state->objects.at[object], object);
    out_char(s->out, '\n');
}
