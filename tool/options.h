/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_OPTIONS_H
#define PERFRAY_TOOL_OPTIONS_H
/*
 * Options of a command as rows in a list. Parsing, -h and completion use these rows, and a test compares the manual's
 * option list with them.
 *
 *     static const struct opt dump_opts[] = {
 *         {"only", 0, OPT_STRING, offsetof(struct dump_options, only), "TYPE", "show records of this type"},
 *         {"hex", 'x', OPT_FLAG, offsetof(struct dump_options, hex), NULL, "show the bytes beside the fields"},
 *         {0},
 *     };
 *
 * Accepted forms are `--hex`, `--only TYPE`, `--only=TYPE`, `-x`, grouped letters (`-xs KEYS`, `-xsKEYS`) and `--`,
 * after which every word is a file. A single `-` is a file, too. Options and files may be mixed in any order.
 */
#include <perfray/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
    OPT_FLAG,     /* bool: set to true */
    OPT_CLEAR,    /* bool: set to false */
    OPT_STRING,   /* const char *: the next word */
    OPT_LAST,     /* const char *: the next word; "" if there is none, it is an option, or parse.takes refuses it */
    OPT_ATTACHED, /* const char *: the text after "=" or the letter, "" if there is none; never the next word */
    OPT_WORDS,    /* struct word_list: adds a word each time */
    OPT_PAIR,     /* struct pair_list: adds a word each time */
    OPT_WITH,     /* struct pair_list: sets the companion of the last word in the list */
    OPT_NUMBER,   /* uint32_t: decimal */
    OPT_COUNT,    /* uint32_t: decimal, at least 1, because 0 means "not given" */
    OPT_SIZE,     /* uint64_t: bytes, at least 1, optionally with K, M or G */
    OPT_CHOICE,   /* unsigned: index among the words of `arg`, "text|json" */
    OPT_LINES,    /* OPT_CHOICE with a JSON lines format: "json" and "jsonl" are the same */
    OPT_RANGE,    /* struct range: A-B, A- or -B in bytes (0x for hexadecimal), A before B */
    OPT_TIMES,    /* struct range: A-B, A- or -B in seconds with decimals, stored in nanoseconds */
    OPT_LIMIT,    /* pfr_limits: NAME=VALUE sets a member; may be repeated */
    OPT_PERCENT,  /* double: 0 to 100, with or without % */
    OPT_DECIMAL,  /* double: at least 0 */
    OPT_FILE,     /* no member: an additional operand */
    OPT_HELP,     /* no member: ends parsing, sets operands.wants_help */
    OPT_HABIT,    /* no member: ignored, accepted for compatibility with other tools */
    OPT_HEADING,  /* no member: `arg` is the heading of the following options in -h */
    OPT_REFUSED,  /* no member: an unsupported option of other tools; `arg` tells why, and the alternative */
};

/* A bound that was not given is 0. Without a range, both bounds are 0. */
struct range {
    uint64_t from, to;
};

/* The arguments of an option that may be repeated; NULL-terminated. */
#define WORD_LIST_MOST 32u
struct word_list {
    const char *at[WORD_LIST_MOST + 1];
    unsigned count;
};

/* Arguments, each with a companion or NULL. */
struct pair_list {
    struct word_list words;
    const char *with[WORD_LIST_MOST + 1];
};

struct opt {
    const char *name; /* without "--" */
    char letter;      /* 0: no letter */
    enum opt_kind kind;
    size_t offset;    /* offset of the member in the options struct */
    const char *arg;  /* NULL: takes no argument */
    const char *help; /* NULL: not shown */
};

/* A heading row. Its name cannot be typed. */
#define HEADING(text)                                                                                                  \
    { "", 0, OPT_HEADING, 0, text, NULL }

/* Option rows and the struct that they fill. */
struct opt_set {
    const struct opt *rows;
    void *values;
};

/* Input of the parser: several sets of options, those of the command and the shared ones. */
struct parse {
    const char *program; /* "perfray dump", for messages */
    const struct opt_set *sets;
    size_t nr_sets;
    bool stop_at_operand; /* everything after the first operand belongs to another program */
    bool (*takes)(const struct opt *row,
                  const char *word); /* for OPT_LAST: whether the word is its argument; NULL: any word is */
};

struct operands {
    char **at;
    size_t count;
    bool wants_help; /* -h was given; nothing after it was parsed */
};

/*
 * Parses `argv`, which is NULL-terminated, and moves the operands to its front. With stop_at_operand, the first operand
 * and everything after it are the operands. On errors prints a message and returns false.
 */
bool options_parse(const struct parse *parse, char **argv, struct operands *operands);

#endif
