/* SPDX-License-Identifier: Apache-2.0 */
/* Checks which choices of a request are compatible: see profile_request.h. */
#include "model/profile/result/profile_request.h"

#include "base/memory/fail.h"

#define PLACE_KEYS (PROFILE_BIT(PROFILE_ADDR) | PROFILE_BIT(PROFILE_FROM) | PROFILE_BIT(PROFILE_TO))
#define BRANCH_KEYS (PROFILE_BIT(PROFILE_FROM) | PROFILE_BIT(PROFILE_TO) | PROFILE_BIT(PROFILE_BRANCH_FLAGS))

/* The reason why the request is refused; NULL: it is valid. */
static const char *why_refused(const struct profile_request *r) {
    const bool branches = r->counted == PROFILE_BRANCHES;
    if (r->keys >> PROFILE_KEYS)
        return "there is no such key";
    if (branches && r->shape != PROFILE_ROOTS)
        return "branches have no frames but those of their keys";
    if (!branches && r->keys & BRANCH_KEYS)
        return "keys of branches need PROFILE_BRANCHES";
    if ((r->shape == PROFILE_SUMS) != (r->likeness != NULL))
        return "PROFILE_SUMS and likeness need each other";
    if (r->each && (r->shape != PROFILE_TREE || branches))
        return "samples are given with nodes of a tree";
    if (r->lines && !request_has_addresses(r))
        return "lines are those of addresses";
    if (r->lines == PROFILE_INLINED && r->shape != PROFILE_TREE)
        return "inlined functions are nodes of a tree";
    if (r->lines && r->shape == PROFILE_SUMS)
        return "sums are made before lines are known";
    if (r->unnamed == PROFILE_UNNAMED_TOGETHER && request_has_addresses(r))
        return "addresses are frames of their own, with a name or without";
    if (r->unit == PROFILE_NAMED_LAST && (r->unnamed == PROFILE_UNNAMED_APART || r->keys & PLACE_KEYS))
        return "what is named last cannot be told apart by its name before";
    return NULL;
}

pfr_status profile_request_check(const struct profile_request *request, pfr_error *err) {
    const char *const why = why_refused(request);
    return why ? pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "profile", "%s", why) : PFR_OK;
}
