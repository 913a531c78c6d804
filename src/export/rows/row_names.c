/* SPDX-License-Identifier: Apache-2.0 */
/* Names of things that a model refers to by id: see rows.h. */
#include "export/rows/rows.h"

#include "base/tables/intern.h"

static struct intern_text text_of(const char *text) {
    text = text ? text : "";
    return (struct intern_text){(const uint8_t *)text, (uint32_t)strlen(text)};
}

struct intern_text rows_symbol(struct rows *r, uint32_t id) {
    const pfr_model_symbol *symbol = pfr_model_get_symbol(r->model, id);
    if (!symbol)
        return text_of("[unknown]");
    const pfr_model_object *object = pfr_model_get_object(r->model, symbol->object);
    if (symbol->name || object->name[0] == '[')
        return text_of(symbol->name ? symbol->name : object->name);
    out_clear(&r->text);
    out_char(&r->text, '[');
    out_text(&r->text, object->name);
    out_char(&r->text, ']');
    return (struct intern_text){(const uint8_t *)r->text.buffer, (uint32_t)r->text.used};
}

struct intern_text rows_object_of(const struct rows *r, uint32_t id) {
    const pfr_model_symbol *symbol = pfr_model_get_symbol(r->model, id);
    return text_of(symbol ? pfr_model_get_object(r->model, symbol->object)->name : NULL);
}

struct intern_text rows_comm(const struct rows *r, uint32_t comm) {
    return text_of(pfr_model_get_comm(r->model, comm));
}

struct intern_text rows_thread_name(const struct rows *r, uint32_t thread) {
    const pfr_model_thread *t = pfr_model_get_thread(r->model, thread);
    return rows_comm(r, t ? t->comm : 0);
}

uint32_t rows_pid(const struct rows *r, uint32_t thread) {
    const pfr_model_thread *t = pfr_model_get_thread(r->model, thread);
    const pfr_model_process *p = t ? pfr_model_get_process(r->model, t->process) : NULL;
    return p ? p->pid : 0;
}

uint32_t rows_tid(const struct rows *r, uint32_t thread) {
    const pfr_model_thread *t = pfr_model_get_thread(r->model, thread);
    return t ? t->tid : 0;
}

uint32_t rows_leaf(const struct rows *r, uint32_t stack) {
    return pfr_model_stacks(r->model)[stack].symbol;
}

const char *rows_event_name(const struct rows *r, uint32_t event) {
    const pfr_model_event *e = pfr_model_get_event(r->model, event);
    return e && e->name ? e->name : "";
}

const char *rows_mark_name(const pfr_mark *mark) {
    switch (mark->kind) { /* no default: the compiler reports a missing kind */
    case PFR_MARK_LOST:
        return "lost";
    case PFR_MARK_LOST_SAMPLES:
        return "lost samples";
    case PFR_MARK_THROTTLE:
        return "throttle";
    case PFR_MARK_UNTHROTTLE:
        return "unthrottle";
    case PFR_MARK_HOLE:
        return "unreadable";
    case PFR_MARK_OTHER:
        return "mark";
    case PFR_MARK_CUSTOM:
        return "event";
    case PFR_MARK_TYPED:
        return "typed event";
    }
    return "mark"; /* not a number of the enum */
}

const char *rows_meta(const struct rows *r, const char *key) {
    const pfr_fact *fact;
    for (uint32_t i = 0; (fact = pfr_model_meta(r->model, i)); i++)
        if (strcmp(fact->key, key) == 0)
            return fact->text;
    return "";
}

void rows_note(const struct rows *r, const char *sentence) {
    if (r->of->note)
        r->of->note(r->of->context, sentence);
}
