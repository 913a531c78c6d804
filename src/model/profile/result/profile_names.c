/* SPDX-License-Identifier: Apache-2.0 */
/* Names the frames that are addresses, when all is counted: object by object, in order of addresses. So each symbol is
   looked up once, and its data are still in the processor's caches. */
#include "model/profile/result/profile_names.h"
#include "file/read/next.h"
#include "model/profile/result/profile_frames.h"

#include "base/tables/radix.h"

bool profile_names_may_wait(const struct profile *p, const struct place *place) {
    if (place->object == NO_OBJECT || place->ksymbol)
        return !place->ksymbol;
    const uint8_t kind = p->state.objects.at[place->object].kind;
    return kind == OBJECT_FILE || kind == OBJECT_KERNEL || kind == OBJECT_ANONYMOUS;
}

/* Interns the texts of a name. The last name is remembered, because adjacent addresses mostly have the same symbol. */
pfr_status profile_names_put(struct intern_table *texts, const struct address_name *name, uint32_t *text,
                             pfr_error *err) {
    if (name->note && *name->note)
        return *text = *name->note - 1, PFR_OK;
    PFR_TRY(intern_put(texts, name->text, name->length, text, err));
    if (name->note)
        *name->note = *text + 1;
    return PFR_OK;
}

/* --- Naming frames one by one. */

struct naming {
    struct profile *profile;
    struct address_near near;
    const char *last; /* mangled name of the symbol to which `text` and `mangled` belong; NULL: none yet */
    uint32_t text, mangled;
};

static pfr_status put_texts(struct naming *n, const struct address_name *name, pfr_error *err) {
    struct profile *p = n->profile;
    if (n->last == name->mangled)
        return PFR_OK;
    n->last = NULL;
    n->mangled = NO_TEXT;
    PFR_TRY(profile_names_put(&p->texts, name, &n->text, err));
    if (p->request.mangled_names)
        PFR_TRY(intern_put(&p->texts, name->mangled, strlen(name->mangled), &n->mangled, err));
    n->last = name->mangled;
    return PFR_OK;
}

static pfr_status name_frame(struct naming *n, struct profile_frame *frame, pfr_error *err) {
    struct address_name name;
    frame->text = NO_TEXT;
    PFR_TRY(address_names_near(&n->profile->names, &n->near, frame->object, frame->ip, frame->address, &name, err));
    if (!name.text)
        return PFR_OK;
    PFR_TRY(put_texts(n, &name, err));
    frame->text = n->text;
    frame->mangled = n->mangled;
    frame->start = frame->address - name.ahead;
    frame->size = name.size;
    return PFR_OK;
}

/* Names frames in any order, without memory to sort them. */
static pfr_status name_as_they_come(struct naming *n, pfr_error *err) {
    struct profile *p = n->profile;
    for (uint32_t i = 0; i < p->nr_frames; i++)
        if (p->frames[i].text == NAMED_LAST)
            PFR_TRY(name_frame(n, &p->frames[i], err));
    return PFR_OK;
}

/* Names frames by object and address. `items` has room for twice `count`, as sorting requires. */
static pfr_status name_sorted(struct naming *n, struct radix_item *items, uint32_t count, pfr_error *err) {
    struct profile *p = n->profile;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < p->nr_frames; i++)
        if (p->frames[i].text == NAMED_LAST)
            items[waiting++] = (struct radix_item){p->frames[i].address, i};
    struct radix_item *at = radix_sort(items, items + count, waiting);
    for (uint32_t i = 0; i < waiting; i++)
        at[i].key = p->frames[at[i].value].object;
    at = radix_sort(at, at == items ? items + count : items, waiting);
    for (uint32_t i = 0; i < waiting; i++)
        PFR_TRY(name_frame(n, &p->frames[at[i].value], err));
    return PFR_OK;
}

static uint32_t count_waiting(const struct profile *p) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->nr_frames; i++)
        count += p->frames[i].text == NAMED_LAST;
    return count;
}

pfr_status profile_names_find(struct profile *p, pfr_error *err) {
    struct naming n = {.profile = p};
    const uint32_t count = count_waiting(p);
    struct radix_item *items = mem_alloc(p->memory, count, 2 * sizeof *items);
    if (!items)
        return mem_failure(p->memory) == PFR_ERR_LIMIT ? name_as_they_come(&n, err) : mem_fail(p->memory, err, "names");
    const pfr_status st = name_sorted(&n, items, count, err);
    mem_free(p->memory, items, count, 2 * sizeof *items);
    return st;
}
