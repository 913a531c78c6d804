/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_NAMING_H
#define PFR_MODEL_NAMING_H
/* pfr_symbol_options as the caller gave them: NULL is allowed, and so is a struct of an older header. */
#include <perfray/symbol_options.h>

#include <string.h>

/* A complete copy: members unknown to the caller's header have their defaults. NULL: all defaults. */
static inline pfr_symbol_options naming_of(const pfr_symbol_options *given) {
    pfr_symbol_options all = {.size = sizeof all};
    if (given)
        memcpy(&all, given, given->size < sizeof all ? given->size : sizeof all);
    all.size = sizeof all;
    return all;
}

#endif
