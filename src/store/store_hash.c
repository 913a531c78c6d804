/* SPDX-License-Identifier: Apache-2.0 */
/* Ids computed from content, piece by piece. A text is hashed with a seed: the hash of the pieces before plus the
   length of the text. A number is hashed together with the hash of the pieces before. So the id depends on the order
   and the boundaries of the pieces. */
#include "store/store_parts.h"

#include <xxhash.h>

void store_hash_begin(struct store_hash *h) {
    *h = (struct store_hash){0};
}

void store_hash_bytes(struct store_hash *h, const void *bytes, size_t length) {
    h->so_far = XXH3_64bits_withSeed(bytes, length, h->so_far + length);
}

void store_hash_number(struct store_hash *h, uint64_t number) {
    const uint64_t words[2] = {h->so_far, number};
    h->so_far = XXH3_64bits(words, sizeof words);
}

uint64_t store_hash_end(const struct store_hash *h) {
    return h->so_far ? h->so_far : 1;
}
