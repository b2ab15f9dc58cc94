"""The header template of a kernel for CPUs; `cpu` substitutes `$name`."""

from __future__ import annotations

__all__ = ["HEADER"]

HEADER = """\
/* $title
 *
 * Written by tritium compile. The code is in $object; link with -pthread.
 */
#ifndef $guard
#define $guard

#include <stdint.h>
$types
#ifdef __cplusplus
extern "C" {
#endif

#ifndef TRITIUM_CPU
#define TRITIUM_CPU
enum { TRITIUM_SUCCESS = 0, TRITIUM_INVALID_VALUE = 1, TRITIUM_STOPPED = 2 };

/* How many threads a launch may use from now on, the calling one included. It begins with one for each processor, or
 * what the environment variable TRITIUM_NUM_THREADS says. */
void tritium_set_num_threads(int32_t count);

/* Why the last launch of this thread that gave TRITIUM_STOPPED did so. */
const char *tritium_last_error(void);
#endif

$directive

/* Run $kernel; it has run when this returns:
$told
 * TRITIUM_INVALID_VALUE: a grid with more than 2^31 - 1 programs along an axis, or a division by zero in it;
 * TRITIUM_STOPPED: an assertion in the kernel did not hold. An empty grid runs nothing and is no error. Any thread may
 * call it; it is not for signal handlers. */
int $function($arguments);

#ifdef __cplusplus
}
#endif
#endif
"""
