"""The C template of a dispatcher; `link` substitutes `$name`."""

from __future__ import annotations

__all__ = ["DECLARATIONS", "DISPATCH", "HEADER", "LOAD", "LOAD_DECLARATIONS", "SOURCE"]

HEADER = """\
/* Written by tritium link. */
#ifndef $guard
#define $guard

#include <stdint.h>
$includes
#ifdef __cplusplus
extern "C" {
#endif

$parts
#ifdef __cplusplus
}
#endif
#endif
"""

SOURCE = """\
/* Written by tritium link: see the header. */
#ifndef TRITIUM_NO_CUDA_H
#define TRITIUM_NO_CUDA_H
#endif
#include "$out.h"

$parts"""

DECLARATIONS = """\
/* Launch $base by the algorithm of this number, with the first variant whose conditions hold:
$table * $invalid if there is no such algorithm, or no variant for the arguments. */
$result $base($numbered);

/* By algorithm 0. */
$result ${base}_default($taken);

/* How many algorithms there are. */
int ${base}_get_num_algos(void);

"""

LOAD_DECLARATIONS = """\
/* Load, or unload, all variants. All are tried; the status is the first that is no success. */
$result load_$base(void);
$result unload_$base(void);

"""

DISPATCH = """\
$result $base($numbered) {
  static $result (*const algorithms[])($taken) = {$names};
  if (algo_id < 0 || algo_id >= $count) return $invalid;
  return algorithms[algo_id]($passed);
}

$result ${base}_default($taken) { return $base($first); }

int ${base}_get_num_algos(void) { return $count; }
"""

LOAD = """
static $result ${base}_each(int unload) {
  static $result (*const functions[][2])(void) = {
$functions  };
  $result first = CUDA_SUCCESS;
  for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++) {
    $result status = functions[i][unload]();
    if (first == CUDA_SUCCESS) first = status;
  }
  return first;
}

$result load_$base(void) { return ${base}_each(0); }

$result unload_$base(void) { return ${base}_each(1); }
"""
