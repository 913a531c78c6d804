/* SPDX-License-Identifier: Apache-2.0 */
/* PERFRAY_DEBUG: see debug_hooks.h. */
#include "base/debug_hooks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "base/text.h"

struct sizes sizes_in_use = {
#define SIZE(type, name, normal, tiny, least, most, doc) .name = (normal),
#include "base/sizes.def"
};

static struct {
    bool has_hash_seed;
    uint64_t hash_seed;
} hooks;

uint64_t debug_hash_seed(uint64_t fallback) {
    return hooks.has_hash_seed ? hooks.hash_seed : fallback;
}

static void all_tiny(void) {
    sizes_in_use = (struct sizes){
#define SIZE(type, name, normal, tiny, least, most, doc) .name = (tiny),
#include "base/sizes.def"
    };
}

static bool set_size(const char *wanted, uint64_t value) {
#define SIZE(type, name, normal, tiny, least, most, doc)                                                               \
    if (strcmp(wanted, #name) == 0)                                                                                    \
        return value >= (least) && value <= (most) && (sizes_in_use.name = (type)value, true);
#include "base/sizes.def"
    return false;
}

/* One `key=value`; false: not understood. */
static bool take_word(const char *word) {
    const char *equals = strchr(word, '=');
    char key[64];
    uint64_t value;
    if (!equals || (size_t)(equals - word) >= sizeof key)
        return false;
    snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
    if (strcmp(word, "sizes=tiny") == 0)
        return all_tiny(), true;
    if (!parse_u64(equals + 1, &value))
        return false;
    if (strcmp(key, "hash-seed") == 0)
        return hooks.has_hash_seed = true, hooks.hash_seed = value, true;
    return strncmp(key, "size.", 5) == 0 && set_size(key + 5, value);
}

static void refuse(const char *word) {
    fprintf(stderr, "PERFRAY_DEBUG: no such word or value out of range: '%s'\n", word);
    abort();
}

__attribute__((constructor)) static void read_hooks(void) {
    const char *words = secure_getenv("PERFRAY_DEBUG");
    while (words && *words) {
        char word[128];
        const size_t length = strcspn(words, ",");
        snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, words);
        if (length >= sizeof word || !take_word(word))
            refuse(word);
        words += length + (words[length] == ',');
    }
}
