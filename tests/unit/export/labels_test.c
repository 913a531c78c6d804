/* SPDX-License-Identifier: Apache-2.0 */
/* Labels stored as two numbers and a text have the same ranks and sources as the same labels stored as bytes. */
#include "../test.h"

#include "export/stacks/labels.h"

#include <string.h>

enum { THINGS = 500, ROUNDS = 40 };

static uint64_t random_state;

static uint64_t pick(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

struct thing {
    struct label_key key;
    char text[4];
};

static struct intern_text text_of(const void *things, uint32_t thing) {
    const char *text = ((const struct thing *)things)[thing].text;
    return (struct intern_text){(const uint8_t *)text, (uint32_t)strlen(text)};
}

static void make_things(struct thing *things, uint64_t variety) {
    static const uint64_t large[] = {0, 255, 256, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63};
    for (uint32_t i = 0; i < THINGS; i++) {
        things[i] = (struct thing){{pick(3) ? pick(variety) : large[pick(6)], pick(variety)}, ""};
        for (uint64_t k = pick(4); k > 0; k--)
            strcat(things[i].text, pick(2) ? "a" : "\xff");
    }
}

static void put_bytes(struct labels *l, const struct thing *thing, uint32_t number, uint32_t *label) {
    uint8_t bytes[20];
    pfr_error err;
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(thing->key.first >> (56 - 8 * i));
        bytes[8 + i] = (uint8_t)(thing->key.second >> (56 - 8 * i));
    }
    memcpy(bytes + 16, thing->text, strlen(thing->text));
    ASSERT_OK(labels_put(l, bytes, 16 + strlen(thing->text), number, label, &err), err);
}

static void compare(const struct thing *things, struct memory *memory) {
    struct labels keys, texts;
    uint32_t key[THINGS], text[THINGS];
    pfr_error err;
    labels_init(&keys, memory);
    labels_init(&texts, memory);
    keys.text_of = text_of;
    keys.context = things;
    for (uint32_t i = 0; i < THINGS; i++) {
        ASSERT_OK(labels_put_key(&keys, &things[i].key, i, &key[i], &err), err);
        put_bytes(&texts, &things[i], i, &text[i]);
    }
    ASSERT_OK(labels_sort(&keys, &err), err);
    ASSERT_OK(labels_sort(&texts, &err), err);
    assert_int_equal(keys.count, texts.count);
    for (uint32_t i = 0; i < THINGS; i++)
        assert_int_equal(keys.rank[key[i]], texts.rank[text[i]]);
    for (uint32_t i = 0; i < keys.count; i++)
        assert_int_equal(label_source(&keys, i), label_source(&texts, i));
    labels_free(&keys);
    labels_free(&texts);
}

TEST(labels_by_numbers_are_in_the_order_of_their_bytes) {
    static struct thing things[THINGS];
    struct memory memory;
    memory_init(&memory, NULL, 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        random_state = i;
        make_things(things, 1 + pick(300));
        compare(things, &memory);
    }
    assert_int_equal(memory.used, 0);
}
