/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output: see screen.h. The pager gets the file with the buffered output as its standard input, so the output
   is not copied to it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "screen.h"

void hold_standard_descriptors(void) {
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY}; /* so that reading from 0 and writing to 1 still fail */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            _exit(ENDS_IO);
}

unsigned terminal_columns(void) {
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool screen_open(struct screen *screen, bool hold_back, bool pager) {
    pfr_error err;
    const bool is_held = hold_back && isatty(STDOUT_FILENO);
    *screen = (struct screen){.held_back = is_held ? memfd_create("perfray", MFD_CLOEXEC) : -1, .pager = pager};
    screen->out = pfr_output_open(screen->held_back >= 0 ? screen->held_back : STDOUT_FILENO, false, &err);
    if (!screen->out)
        complain_of(NULL, &err, NULL);
    else
        pfr_output_columns(screen->out, terminal_columns());
    return screen->out != NULL;
}

/* Whether standard output is a pipe or socket whose other end is closed. */
static bool reader_left(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* The number of lines of the file, counted up to `most`. */
static unsigned count_lines(int fd, unsigned most) {
    char bytes[4096];
    unsigned lines = 0;
    off_t at = 0;
    for (ssize_t n; lines < most && (n = pread(fd, bytes, sizeof bytes, at)) > 0; at += n)
        for (ssize_t i = 0; i < n; i++)
            lines += bytes[i] == '\n';
    return lines;
}

static bool is_higher_than_terminal(int fd) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
           count_lines(fd, size.ws_row) >= size.ws_row;
}

static void become_pager(int fd) {
    const char *const wanted = getenv("PAGER");
    if (lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0)
        _exit(127);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    setenv("LESS", "FRSX", 0);
    if (wanted && *wanted)
        execl("/bin/sh", "sh", "-c", wanted, (char *)NULL);
    else
        execlp("less", "less", (char *)NULL);
    _exit(127);
}

/* Returns false if no pager could be run; nothing was shown. */
static bool show_by_pager(int fd) {
    int status;
    const pid_t child = fork();
    if (child == 0)
        become_pager(fd);
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return true;
    return child > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) >= 126);
}

static bool write_fully(const char *bytes, size_t length) {
    while (length > 0) {
        const ssize_t n = write(STDOUT_FILENO, bytes, length);
        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool copy_to_terminal(int fd) {
    char bytes[4096];
    off_t at = 0;
    for (ssize_t n; (n = pread(fd, bytes, sizeof bytes, at)) > 0; at += n)
        if (!write_fully(bytes, (size_t)n))
            return false;
    return true;
}

static bool show_held_back(const struct screen *screen) {
    if (screen->held_back < 0)
        return true;
    if (screen->pager && is_higher_than_terminal(screen->held_back) && show_by_pager(screen->held_back))
        return true;
    return copy_to_terminal(screen->held_back);
}

enum exit_status screen_close(struct screen *screen) {
    pfr_error err;
    const pfr_status status = pfr_output_close(screen->out, &err);
    if (status < 0 && screen->held_back < 0 && reader_left())
        return ENDS_FINE;
    if (status < 0)
        return graver_of(complain_of(NULL, &err, NULL), ENDS_IO);
    if (show_held_back(screen) && (close(STDOUT_FILENO) == 0 || errno == EINTR)) /* after EINTR it is closed too
                                                                                    (close(2)) */
        return ENDS_FINE;
    complain("cannot write the output: %s", strerror(errno));
    return ENDS_IO;
}
