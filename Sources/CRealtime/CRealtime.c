#include "CRealtime.h"

#include <sys/ioctl.h>
#include <sys/prctl.h>

void name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int terminal_size(int descriptor, struct winsize *size) { return ioctl(descriptor, TIOCGWINSZ, size); }
