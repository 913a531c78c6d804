/* SPDX-License-Identifier: Apache-2.0 */
/* Names of frames, as used by tools that read the text of perf script. Code in anonymous memory is named as in perfray
   report. */
#include "export/sink.h"

static bool is_of_kernel(const struct exporting *e, const struct profile_frame *frame) {
    if (frame->object == NO_OBJECT)
        return frame->text == NO_TEXT && frame->cpumode == PFR_CPUMODE_KERNEL;
    const unsigned kind = e->profile->state.objects.at[frame->object].kind;
    return kind == OBJECT_KERNEL || kind == OBJECT_MODULE || kind == OBJECT_KSYMBOL;
}

enum frame_kind frame_kind_of(const struct exporting *e, const struct profile_frame *frame) {
    if (is_of_kernel(e, frame))
        return FRAME_KERNEL;
    return frame->text == NO_TEXT || frame->object == NO_OBJECT ? FRAME_UNNAMED : FRAME_USER;
}

static void write_last_part(struct output *to, const char *path, size_t length) {
    const char *slash = memrchr(path, '/', length);
    const size_t skip = slash ? (size_t)(slash + 1 - path) : 0;
    out_write(to, path + skip, length - skip);
}

void write_object_name(const struct exporting *e, uint32_t object, struct output *to) {
    if (object == NO_OBJECT)
        return;
    const struct state *state = &e->profile->state;
    const struct object *o = &state->objects.at[object];
    if (o->kind == OBJECT_ANONYMOUS) { /* "[JIT] tid 42", as in perfray report; not from the path */
        const struct intern_text made = intern_get(&state->names, o->short_name);
        out_write(to, made.bytes, made.length);
        return;
    }
    const bool is_short = o->kind == OBJECT_KERNEL || (o->kind == OBJECT_MODULE && !o->listed);
    const struct intern_text name = intern_get(&state->names, is_short ? o->short_name : o->path);
    write_last_part(to, (const char *)name.bytes, name.length);
}

/* "[libc.so.6]"; "[vdso]" stays as it is. */
static void write_in_brackets(const struct exporting *e, uint32_t object, struct output *to) {
    const size_t before = to->used;
    out_char(to, '[');
    write_object_name(e, object, to);
    if (to->status == PFR_OK && to->used > before + 1 && to->buffer[before + 1] == '[') {
        memmove(to->buffer + before, to->buffer + before + 1, to->used - before - 1);
        to->used--;
        return;
    }
    out_char(to, ']');
}

void write_frame_name(const struct exporting *e, const struct profile_frame *frame, struct output *to) {
    if (frame->text != NO_TEXT) {
        const struct intern_text text = intern_get(&e->profile->texts, frame->text);
        out_write(to, text.bytes, text.length);
    } else if (frame->object != NO_OBJECT) {
        write_in_brackets(e, frame->object, to);
    } else {
        out_text(to, "[unknown]");
    }
}
