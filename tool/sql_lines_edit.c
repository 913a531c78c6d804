/* SPDX-License-Identifier: Apache-2.0 */
/* Line editing with libedit: see sql_lines.h. */
#include "sql_lines.h"

#include <dlfcn.h>
#include <editline/readline.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define HISTORY_LINES 1000
#define WORDS_MOST 8192u
#define PATH_ROOM 4200

#define EDIT_LIBRARY "libedit.so.2"

/* The list of the symbols in use, which is expanded to the members of the table and to the names to look up. */
#define EDIT_SYMBOLS(F)                                                                                                \
    F(readline)                                                                                                        \
    F(add_history)                                                                                                     \
    F(using_history)                                                                                                   \
    F(stifle_history)                                                                                                  \
    F(read_history)                                                                                                    \
    F(write_history)                                                                                                   \
    F(rl_completion_matches)                                                                                           \
    F(rl_readline_name)                                                                                                \
    F(rl_completer_word_break_characters)                                                                              \
    F(rl_attempted_completion_function)                                                                                \
    F(rl_attempted_completion_over)

static struct {
#define EDIT_MEMBER(name) __typeof__(name) *p_##name;
    EDIT_SYMBOLS(EDIT_MEMBER)
#undef EDIT_MEMBER
} edit;
static bool can_edit;

static char *words[WORDS_MOST];
static unsigned nr_words;
static char history_file[PATH_ROOM]; /* "": no history */

void sql_lines_word(const char *word) {
    char *const own = nr_words < WORDS_MOST ? strdup(word) : NULL;
    if (own)
        words[nr_words++] = own;
}

static void find(void *library, const char *name, void *to) {
    void *found = dlsym(library, name);
    can_edit = can_edit && found;
    memcpy(to, &found, sizeof found);
}

static void load(void) {
    void *library = dlopen(EDIT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    can_edit = library != NULL;
    if (!library)
        return;
#define EDIT_FIND(name) find(library, #name, &edit.p_##name);
    EDIT_SYMBOLS(EDIT_FIND)
#undef EDIT_FIND
}

/* libedit first calls this function with state 0, and then again until it returns NULL. */
static char *next_word(const char *begun, int state) {
    static unsigned at;
    if (!state)
        at = 0;
    while (at < nr_words) {
        const char *const word = words[at++];
        if (strncasecmp(word, begun, strlen(begun)) == 0)
            return strdup(word);
    }
    return NULL;
}

/* Completes words only, never file names. */
static char **complete(const char *begun, int from, int to) {
    (void)from, (void)to;
    *edit.p_rl_attempted_completion_over = 1;
    return edit.p_rl_completion_matches(begun, next_word);
}

/* Creates the file here with mode 0600, because libedit would make it readable for everyone. */
static void open_history(const char *folder) {
    const int length = snprintf(history_file, sizeof history_file, "%s/sql_history", folder);
    const bool fits = length > 0 && (size_t)length < sizeof history_file;
    if (fits)
        mkdir(folder, 0700);
    const int fd = fits ? open(history_file, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0) {
        *history_file = '\0';
        return;
    }
    close(fd);
    edit.p_read_history(history_file);
}

void sql_lines_begin(const char *folder) {
    static char program[] = "perfray", breaks[] = " \t\n\"'`@$><=;|&{(,)*+-/";
    load();
    if (!can_edit)
        return;
    *edit.p_rl_readline_name = program;
    *edit.p_rl_completer_word_break_characters = breaks;
    *edit.p_rl_attempted_completion_function = complete;
    edit.p_using_history();
    edit.p_stifle_history(HISTORY_LINES);
    if (folder)
        open_history(folder);
}

char *sql_lines_next(const char *prompt) {
    if (!can_edit)
        return sql_lines_unedited(prompt);
    char *const line = edit.p_readline(prompt);
    if (line && *line)
        edit.p_add_history(line);
    return line;
}

void sql_lines_end(void) {
    if (*history_file)
        edit.p_write_history(history_file);
    for (unsigned i = 0; i < nr_words; i++)
        free(words[i]);
    nr_words = 0;
}
