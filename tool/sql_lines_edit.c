/* SPDX-License-Identifier: Apache-2.0 */
/* Lines by libedit: see sql_lines.h. */
#include "sql_lines.h"

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

static char *words[WORDS_MOST];
static unsigned nr_words;
static char history_file[PATH_ROOM]; /* "": none */

void sql_lines_word(const char *word) {
    char *const own = nr_words < WORDS_MOST ? strdup(word) : NULL;
    if (own)
        words[nr_words++] = own;
}

/* Called with state 0 first, then until it returns NULL. */
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

/* Never the names of files. */
static char **complete(const char *begun, int from, int to) {
    (void)from, (void)to;
    rl_attempted_completion_over = 1;
    return rl_completion_matches(begun, next_word);
}

/* Made beforehand: libedit would make it readable for all. */
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
    read_history(history_file);
}

void sql_lines_begin(const char *folder) {
    static char program[] = "perfray", breaks[] = " \t\n\"'`@$><=;|&{(,)*+-/";
    rl_readline_name = program;
    rl_completer_word_break_characters = breaks;
    rl_attempted_completion_function = complete;
    using_history();
    stifle_history(HISTORY_LINES);
    if (folder)
        open_history(folder);
}

char *sql_lines_next(const char *prompt) {
    char *const line = readline(prompt);
    if (line && *line)
        add_history(line);
    return line;
}

void sql_lines_end(void) {
    if (*history_file)
        write_history(history_file);
    for (unsigned i = 0; i < nr_words; i++)
        free(words[i]);
    nr_words = 0;
}
