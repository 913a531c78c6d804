/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_OPTIONS_H
#define PERFRAY_TOOL_OPTIONS_H
/*
 * Options of a command: rows in a list. Parsing, -h, completion and (held together by a test) the manual's option list
 * come from the same rows.
 *
 *     static const struct opt dump_opts[] = {
 *         {"only", 0, OPT_STRING, offsetof(struct dump_options, only), "TYPE", "show records of this type"},
 *         {"hex", 'x', OPT_FLAG, offsetof(struct dump_options, hex), NULL, "show the bytes beside the fields"},
 *         {0},
 *     };
 *
 * Understood are `--hex`, `--only TYPE`, `--only=TYPE`, `-x`, letters together (`-xs KEYS`, `-xsKEYS`) and `--`, after
 * which everything is a file; `-` alone is a file too. Options and files may stand in any order.
 */
#include <perfray/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
    OPT_FLAG,     /* bool: becomes true */
    OPT_CLEAR,    /* bool: becomes false */
    OPT_STRING,   /* const char *: the word that follows */
    OPT_LAST,     /* the same, "" where nothing follows, another option does, or parse.takes refuses the word */
    OPT_ATTACHED, /* const char *: what follows "=" or the letter, "" where nothing does; never the next word */
    OPT_WORDS,    /* struct word_list: one word more each time */
    OPT_PAIR,     /* struct pair_list: one word more each time */
    OPT_WITH,     /* struct pair_list: goes with the last of its words */
    OPT_NUMBER,   /* uint32_t: decimal */
    OPT_COUNT,    /* the same, 1 or more: 0 stands for "not given" */
    OPT_SIZE,     /* uint64_t: bytes, 1 or more, with K, M or G or without */
    OPT_CHOICE,   /* unsigned: which of the words of `arg`, "text|json", it is */
    OPT_LINES,    /* OPT_CHOICE with a format of JSON lines: "json" and "jsonl" are one word */
    OPT_RANGE,    /* struct range: A-B, A- or -B, bytes (0x for hexadecimal), A before B */
    OPT_TIMES,    /* struct range: the same in seconds with a decimal point, kept in nanoseconds */
    OPT_LIMIT,    /* pfr_limits: NAME=VALUE, a member of it by name; may be given for each */
    OPT_PERCENT,  /* double: 0 to 100, with or without % */
    OPT_DECIMAL,  /* double: not below 0 */
    OPT_FILE,     /* none: one more operand */
    OPT_HELP,     /* none: ends the parsing, operands.wants_help */
    OPT_HABIT,    /* none: accepted because fingers know it, and without effect */
    OPT_HEADING,  /* none: `arg` is the heading, in -h, of the options that follow */
    OPT_REFUSED,  /* none: fingers know it, but it is not here; `arg` says why, and what to do instead */
};

/* An end that was left out, or an option that was not given, is 0. */
struct range {
    uint64_t from, to;
};

/* The words of an option that may be given several times; ends with NULL. */
#define WORD_LIST_MOST 32u
struct word_list {
    const char *at[WORD_LIST_MOST + 1];
    unsigned count;
};

/* Words, each with another that belongs to it, or NULL. */
struct pair_list {
    struct word_list words;
    const char *with[WORD_LIST_MOST + 1];
};

struct opt {
    const char *name; /* without "--" */
    char letter;      /* 0: none */
    enum opt_kind kind;
    size_t offset;    /* of the member in the options struct */
    const char *arg;  /* NULL: the option takes none */
    const char *help; /* NULL: not shown */
};

/* The row of a heading. It has no name that could be typed. */
#define HEADING(text)                                                                                                  \
    { "", 0, OPT_HEADING, 0, text, NULL }

/* Rows and the struct that they fill. */
struct opt_set {
    const struct opt *rows;
    void *values;
};

/* What is parsed: several sets at once, those of the command and those that all share. */
struct parse {
    const char *program; /* "perfray dump", for messages */
    const struct opt_set *sets;
    size_t nr_sets;
    bool stop_at_operand; /* what follows the first operand belongs to somebody else */
    bool (*takes)(const struct opt *row, const char *word); /* OPT_LAST: is this its argument? NULL: any word is */
};

struct operands {
    char **at;
    size_t count;
    bool wants_help; /* -h was met, and nothing read after it */
};

/*
 * Reads `argv`, which ends with NULL, and moves the operands to its front. With stop_at_operand, the first operand and
 * all that follows it are the operands. false: what is wrong was said.
 */
bool options_parse(const struct parse *parse, char **argv, struct operands *operands);

#endif
