/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes inputs for the targets `layouts` and `records`: random instances of every layout, little-endian and big-endian.
 *
 *     seed_layouts OUTDIR      fills OUTDIR/layouts and OUTDIR/records, which must exist
 */
#include "fuzz_layout_key.h"
#include "wire/layout_random.h"
#include "wire/layout_write.h"

#include <stdio.h>

#define INSTANCES 4u
#define LONGEST 2000u
#define RECORD_TABLE(id) ((id) >> 24 == TABLE_PERF_RECORD)

struct seed {
    uint8_t bytes[2 + 2 + 8 * WORDS + 8 + LONGEST];
    size_t length;
};

static void put(struct seed *to, unsigned width, uint64_t v, bool swap) {
    for (unsigned i = 0; i < width; i++)
        to->bytes[to->length + (swap ? width - 1 - i : i)] = (uint8_t)(v >> 8 * i);
    to->length += width;
}

/* Writes a context in the form that fuzz_context reads. */
static void put_context(struct seed *to, const struct pfr_context *c) {
    uint64_t form = (c->swap ? FUZZ_SWAP : 0) | (c->mirrored ? FUZZ_MIRRORED : 0);
    for (unsigned word = 0; word < WORDS; word++)
        form |= (uint64_t)(c->word[word] != 0) << word;
    put(to, 2, form, false);
    for (unsigned word = 0; word < WORDS; word++)
        if (c->word[word])
            put(to, 8, c->word[word], false);
}

static void write_file(const char *folder, const char *target, const char *name, unsigned number,
                       const struct seed *seed) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/random-%s-%u", folder, target, name, number);
    FILE *file = fopen(path, "wb");
    LAW(file && fwrite(seed->bytes, 1, seed->length, file) == seed->length, "%s cannot be written", path);
    LAW(fclose(file) == 0, "%s cannot be written", path);
}

static void write_layout(const char *folder, const struct layout *l, const struct pfr_context *c, unsigned number,
                         const uint8_t *body, uint64_t length) {
    struct seed seed = {.length = 0};
    put(&seed, 2, key_of_layout(l), false);
    put_context(&seed, c);
    memcpy(seed.bytes + seed.length, body, length);
    seed.length += length;
    write_file(folder, "layouts", l->name, number, &seed);
}

static void write_record(const char *folder, const struct layout *l, const struct pfr_context *c, unsigned number,
                         const uint8_t *body, uint64_t length) {
    struct seed seed = {.length = 0};
    put_context(&seed, c);
    put(&seed, 1, 0, false);
    put(&seed, 4, LAYOUT_VALUE(l->id), c->swap);
    put(&seed, 2, c->word[WORD_MISC] & UINT16_MAX, c->swap);
    put(&seed, 2, 8 + length, c->swap);
    memcpy(seed.bytes + seed.length, body, length);
    seed.length += length;
    write_file(folder, "records", l->name, number, &seed);
}

static void write_instance(const char *folder, unsigned number, unsigned instance) {
    const struct layout *l = layout_at(number);
    const bool big = instance & 1;
    struct random_numbers random = {number * 1000003u + instance};
    const struct pfr_context c = random_context(&random, l, big, big);
    struct memory memory;
    struct arena arena;
    union any_layout rec;
    uint8_t body[LONGEST];
    struct writing to = writing_into(body, sizeof body);
    memory_init(&memory, NULL, 0);
    arena_init(&arena, &memory);
    if (layout_random(&random, l, &c, &arena, &rec, NULL) == PFR_OK && layout_write(l, &c, &rec, &to, NULL) == PFR_OK) {
        write_layout(folder, l, &c, instance, body, to.used);
        if (RECORD_TABLE(l->id))
            write_record(folder, l, &c, instance, body, to.used);
    }
    arena_free(&arena);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: seed_layouts OUTDIR\n");
        return 2;
    }
    for (unsigned number = L_NONE + 1; number < LAYOUTS; number++)
        for (unsigned instance = 0; instance < INSTANCES; instance++)
            write_instance(argv[1], number, instance);
    return 0;
}
