/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight of samples with counter reads is the increase since the previous read in time order, wherever the samples
 * are in the file. The test generates the increases and computes the recorded values from them.
 */
#include "../file/recording_builder.h"

#include "file/read/next.h"
#include "model/profile/result/profile.h"

enum { COUNTERS = 2, READS = 400, PLACES = 5, READ_BIT = 1 << 4, READ_ID = 1 << 2, READ_GROUP = 1 << 3 };

struct read {
    uint64_t time, place, value[COUNTERS], grown[COUNTERS];
};

static uint64_t random_state;

static uint32_t pick(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/* Counters mostly increase, sometimes remain equal, and one of them decreases once. */
static void make_reads(struct read *reads) {
    for (uint32_t i = 0; i < READS; i++) {
        reads[i].time = 1000 + 10 * i;
        reads[i].place = pick(PLACES);
        for (uint32_t c = 0; c < COUNTERS; c++) {
            reads[i].grown[c] = i == 200 && c == 1 ? (uint64_t)-7 : pick(3) * 5;
            reads[i].value[c] = (i ? reads[i - 1].value[c] : 0) + reads[i].grown[c];
        }
    }
}

static void shuffle(struct read *reads) {
    for (uint32_t i = READS; i > 1; i--) {
        const uint32_t other = pick(i);
        const struct read one = reads[i - 1];
        reads[i - 1] = reads[other];
        reads[other] = one;
    }
}

static void put_read(struct builder *b, const struct read *read) {
    put_head(b, 9, 2, 40 + 8 + (16 * (COUNTERS + 1)));
    put_number(b, FIRST_ID, 8);
    put_number(b, 0x1000 + 16 * read->place, 8);
    put_number(b, 7, 4);
    put_number(b, 7, 4);
    put_number(b, read->time, 8);
    put_number(b, COUNTERS + 1, 8);
    for (uint32_t c = 0; c < COUNTERS; c++) {
        put_number(b, read->value[c], 8);
        put_number(b, FIRST_ID + c, 8);
    }
    put_number(b, read->time, 8); /* of an unknown counter */
    put_number(b, 77777, 8);
}

static void put_reads(struct builder *b, const struct read *reads) {
    begin_file(b, &(struct plan){.header_size = 104, .events = COUNTERS});
    for (uint32_t i = 0; i < COUNTERS; i++) {
        uint8_t *attr = b->bytes + 104 + 8 * COUNTERS + (BUILT_ATTR + 16) * i;
        set_number(b, attr + 24, SAMPLE_BITS | IDENTIFIER_BIT | READ_BIT, 8);
        set_number(b, attr + 32, READ_ID | READ_GROUP, 8);
    }
    for (uint32_t i = 0; i < READS; i++)
        put_read(b, &reads[i]);
    end_file(b);
}

static void count_wanted(const struct read *reads, struct profile_weight wanted[COUNTERS][PLACES]) {
    for (uint32_t i = 0; i < READS; i++)
        for (uint32_t c = 0; c < COUNTERS; c++) {
            wanted[c][reads[i].place].weight += reads[i].grown[c];
            wanted[c][reads[i].place].samples += reads[i].grown[c] != 0;
        }
}

static void assert_weights(struct profile *p, struct profile_weight wanted[COUNTERS][PLACES]) {
    uint32_t found = 0;
    for (uint32_t n = 0; n < p->nr_nodes; n++) {
        const struct profile_node *node = &p->nodes[n];
        if (node->parent == NO_NODE)
            continue;
        const uint32_t event = p->groups[p->nodes[node->parent].frame]->event;
        const struct profile_weight *w = &wanted[event][(p->frames[node_frame(node)].ip - 0x1000) / 16];
        assert_int_equal(node_weight(&p->self, n)->weight, w->weight);
        assert_int_equal(node_weight(&p->self, n)->samples, w->samples);
        found++;
    }
    assert_int_equal(found, COUNTERS * PLACES);
}

static void check(bool big, bool shuffled, unsigned jobs) {
    const struct profile_request request = {
        .shape = PROFILE_LEAVES, .unit = PROFILE_ADDRESSES, .jobs = jobs, .names = {.naming = {.no_symbols = true}}};
    struct profile_weight wanted[COUNTERS][PLACES] = {{{0, 0}}};
    struct builder b = {.big = big};
    struct read reads[READS];
    struct profile *p;
    pfr_error err;
    make_reads(reads);
    count_wanted(reads, wanted);
    if (shuffled)
        shuffle(reads);
    put_reads(&b, reads);
    pfr_reader *reader = open_built(&b, NULL);
    const uint64_t before = reader->memory.used;
    ASSERT_OK(profile_load(&p, reader, &request, &err), err);
    assert_weights(p, wanted);
    profile_close(p);
    assert_int_equal(reader->memory.used, before);
    pfr_close(reader);
    free(b.bytes);
}

TEST(profile_weights_are_counter_increments) {
    check(false, false, 1);
    check(true, false, 1);
}

TEST(profile_weighs_counters_in_the_order_of_time) {
    check(false, true, 1);
    check(false, true, 3);
}
