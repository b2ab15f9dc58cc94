"""The C that every launcher of a cubin is made of; `$name` is what `cuda` fills in.

The source needs no header of NVIDIA's: it declares the dozen functions of the driver that it calls. The header takes
the types from <cuda.h> where the compiler finds it and otherwise declares what stands for them.
"""

from __future__ import annotations

__all__ = [
    "BF16",
    "FP16",
    "HEADER",
    "PREPARE",
    "PREPARE_FUNCTION",
    "SCRATCH_AFTER",
    "SCRATCH_BEFORE",
    "SOURCE",
    "TENSOR_MAP",
    "TENSOR_TYPE",
    "TYPES",
]

TYPES = """\
#ifndef TRITIUM_CUDA_TYPES
#define TRITIUM_CUDA_TYPES
/* The types of <cuda.h>, from there if it is found. TRITIUM_NO_CUDA_H: those declared here, which are passed alike. */
#if !defined(__cuda_cuda_h__) && !defined(TRITIUM_NO_CUDA_H) && defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#endif
#ifndef __cuda_cuda_h__
typedef int CUresult;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;
enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2 };
#endif
#endif
"""

TENSOR_TYPE = """\
#ifndef ${name}_DEFINED
#define ${name}_DEFINED
/* A tensor for a descriptor parameter: its address, shape and strides (in elements, the last is 1). The kernel says how
 * many dimensions there are. round_to_tf32: numbers of 32 bits lose the bits that tensor cores do not read. */
typedef struct $name {
  ${pointer}base;
  int64_t shape[5];
  int64_t strides[5];
  int32_t round_to_tf32;
} $name;
#endif
"""

HEADER = """\
/* $title
 *
 * Written by tritium compile. $how
 */
#ifndef $guard
#define $guard

#include <stdint.h>

$types
#ifdef __cplusplus
extern "C" {
#endif

// tt-linker-backend: cuda
$directive

/* Load the kernel, now rather than at its first launch, for all contexts. The status is the driver's. */
CUresult load_$function(void);

/* Unload it again; no launch of it may be under way in another thread. The next launch loads it anew. */
CUresult unload_$function(void);

/* Launch $kernel in a stream of the current context:
$told
 * An empty grid launches nothing and is no error. CUDA_ERROR_INVALID_VALUE: a grid that no GPU takes. */
// tt-linker: $function:$full:$algorithm
CUresult $function(CUstream stream$arguments);

#ifdef __cplusplus
}
#endif
#endif
"""

SOURCE = """\
/* $title: the loader and the launcher. See the header. C11; link with -lcuda, or with -DTRITIUM_DLOPEN and -ldl. */
#ifndef TRITIUM_NO_CUDA_H
#define TRITIUM_NO_CUDA_H /* everything needed of the driver is declared here */
#endif
#include "$header"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- the driver ---------------------------------------------------------------------------------------------- */

typedef struct CUlib_st *tt_library;
typedef struct CUkern_st *tt_kernel;

/* CUlaunchAttribute: a number, and 64 bytes of a value. */
typedef struct {
  _Alignas(8) int id;
  int unused;
  int value[16];
} tt_attribute;

/* CUlaunchConfig */
typedef struct {
  unsigned grid[3], block[3], shared;
  CUstream stream;
  tt_attribute *attributes;
  unsigned attribute_count;
} tt_config;

#define TT_DRIVER(X) \\
  X(cuLibraryLoadData, (tt_library *, const void *, int *, void **, unsigned, int *, void **, unsigned)) \\
  X(cuLibraryUnload, (tt_library)) \\
  X(cuLibraryGetKernel, (tt_kernel *, tt_library, const char *)) \\
  X(cuKernelGetFunction, (void **, tt_kernel)) \\
  X(cuLaunchKernelEx, (const tt_config *, void *, void **, void **))$more

#define TT_FIELD(name, types) CUresult(*name) types;
typedef struct {
  TT_DRIVER(TT_FIELD)
  tt_library library;
  tt_kernel kernel;
} tt_loaded;

#ifdef TRITIUM_DLOPEN
#include <dlfcn.h>
#define TT_FIND(name, types) \\
  if (!(*(void **)&made->name = dlsym(driver, #name))) return 500; /* CUDA_ERROR_NOT_FOUND: the driver is too old */
static CUresult tt_find_driver(tt_loaded *made) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return 3; /* CUDA_ERROR_NOT_INITIALIZED */
  TT_DRIVER(TT_FIND)
  return CUDA_SUCCESS;
}
#else
#define TT_DECLARE(name, types) extern CUresult name types;
#define TT_FIND(name, types) made->name = name;
TT_DRIVER(TT_DECLARE)
static CUresult tt_find_driver(tt_loaded *made) {
  TT_DRIVER(TT_FIND)
  return CUDA_SUCCESS;
}
#endif

/* ---- the kernel ---------------------------------------------------------------------------------------------- */

static const _Alignas(64) unsigned char tt_cubin[$cubin_bytes] = {
$cubin};
$prepare_function
static CUresult tt_make(tt_loaded *made) {
  CUresult status = tt_find_driver(made);
  if (status) return status;
  status = made->cuLibraryLoadData(&made->library, tt_cubin, NULL, NULL, 0, NULL, NULL, 0);
  if (status) return status;
  status = made->cuLibraryGetKernel(&made->kernel, made->library, "$symbol");
$prepare  if (status) made->cuLibraryUnload(made->library);
  return status;
}

static _Atomic(tt_loaded *) tt_current;

/* The loaded kernel. Threads that come at the same time may each load it; one of them wins, the others undo it. */
static CUresult tt_load(tt_loaded **found) {
  tt_loaded *made, *before = NULL;
  CUresult status;
  if ((*found = atomic_load_explicit(&tt_current, memory_order_acquire))) return CUDA_SUCCESS;
  if (!(made = malloc(sizeof *made))) return CUDA_ERROR_OUT_OF_MEMORY;
  status = tt_make(made);
  if (status) {
    free(made);
    return status;
  }
  if (!atomic_compare_exchange_strong(&tt_current, &before, made)) {
    made->cuLibraryUnload(made->library);
    free(made);
    made = before;
  }
  *found = made;
  return CUDA_SUCCESS;
}

CUresult load_$function(void) {
  tt_loaded *loaded;
  void *function;
  CUresult status = tt_load(&loaded);
  return status ? status : loaded->cuKernelGetFunction(&function, loaded->kernel);
}

CUresult unload_$function(void) {
  tt_loaded *loaded = atomic_exchange(&tt_current, NULL);
  CUresult status = CUDA_SUCCESS;
  if (loaded) {
    status = loaded->cuLibraryUnload(loaded->library);
    free(loaded);
  }
  return status;
}

/* ---- the launch ---------------------------------------------------------------------------------------------- */
$helpers
static CUresult tt_launch(const tt_loaded *loaded, CUstream stream, const int64_t *grid, void **parameters) {
  tt_config config;
$declarations  CUresult status = CUDA_SUCCESS;
  if (grid[0] > $max_x || grid[1] > $max_yz || grid[2] > $max_yz) return CUDA_ERROR_INVALID_VALUE;
  memset(&config, 0, sizeof config);
  config.grid[0] = (unsigned)grid[0]$times;
  config.grid[1] = (unsigned)grid[1];
  config.grid[2] = (unsigned)grid[2];
  config.block[0] = $threads;
  config.block[1] = config.block[2] = 1;
  config.shared = $shared;
  config.stream = stream;
$before  ${unless}status = loaded->cuLaunchKernelEx(&config, loaded->kernel, parameters, NULL);
$after  return status;
}

CUresult $function(CUstream stream$arguments) {
  tt_loaded *tt_it;
  int64_t tt_grid[3];
  CUresult tt_status;
$grid  if (tt_grid[0] < 0 || tt_grid[1] < 0 || tt_grid[2] < 0) return CUDA_ERROR_INVALID_VALUE;
  if (!tt_grid[0] || !tt_grid[1] || !tt_grid[2]) return CUDA_SUCCESS;
  tt_status = tt_load(&tt_it);
  if (tt_status) return tt_status;
  {
$values    return tt_launch(tt_it, stream, tt_grid, tt_parameters);
  }
}
"""

#: Attributes that the driver grants only on request, on every GPU that can run the kernel. `$rows` are pairs of
#: CUfunction_attribute and value.
PREPARE = """\
  if (!status) status = tt_prepare(made);
"""

PREPARE_FUNCTION = """
/* Ask every GPU for what the kernel needs beyond the usual; one that cannot run the kernel refuses, and says so at a
 * launch. */
static CUresult tt_prepare(const tt_loaded *made) {
  static const int wanted[][2] = {$rows};
  int count = 0, device, some = 0;
  CUresult status = made->cuDeviceGetCount(&count), first = CUDA_SUCCESS;
  for (device = 0; !status && device < count; device++) {
    CUresult refused = CUDA_SUCCESS;
    size_t i;
    for (i = 0; !refused && i < sizeof wanted / sizeof *wanted; i++)
      refused = made->cuKernelSetAttribute(wanted[i][0], wanted[i][1], made->kernel, device);
    some |= !refused;
    if (!first) first = refused;
  }
  return status || some ? status : first;
}
"""

#: Scratch memory for a launch, in the stream's own order: it is freed when the kernel has run.
SCRATCH_BEFORE = """\
  if (!status && programs > SIZE_MAX / UINT64_C($each)) status = CUDA_ERROR_OUT_OF_MEMORY;
  if (!status) status = loaded->cuMemAllocAsync(&$name, (size_t)(programs * UINT64_C($each)), stream);
  *(CUdeviceptr *)parameters[$index] = $name;
"""
SCRATCH_AFTER = """\
  if ($name) freed = loaded->cuMemFreeAsync($name, stream);
  if (!status) status = freed;
"""

BF16 = """
/* A number rounded to bf16, ties to even. */
static uint16_t tt_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
"""

FP16 = """
/* A number rounded to fp16, ties to even. */
static uint16_t tt_fp16(float value) {
  uint32_t bits, sign, size;
  memcpy(&bits, &value, sizeof bits);
  sign = bits >> 16 & 0x8000;
  size = bits & 0x7fffffff;
  if (size > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x3ff));
  if (size < 0x38800000) { /* below 2^-14: counted in 2^-24, which is the unit in the last place of 2^23 in fp32 */
    float counted;
    memcpy(&counted, &size, sizeof counted);
    counted = counted * 16777216.0f + 8388608.0f;
    memcpy(&bits, &counted, sizeof bits);
    return (uint16_t)(sign | (bits - 0x4b000000));
  }
  size += 0xfff + (size >> 13 & 1);
  if (size >= 0x47800000) return (uint16_t)(sign | 0x7c00);
  return (uint16_t)(sign | (size - 0x38000000) >> 13);
}
"""

TENSOR_MAP = """
typedef struct {
  _Alignas(64) unsigned char bytes[128];
} tt_map;

/* How a tensor is described to TMA. */
typedef struct {
  int rank, element, element_bytes, swizzle, fill, packed;
  unsigned box[5];
} tt_box;

static CUresult tt_describe(const tt_loaded *loaded, tt_map *map, const TritiumTensor *tensor, const tt_box *box) {
  uint64_t sizes[5], strides[5], last = 0;
  unsigned extent[5], ones[5] = {1, 1, 1, 1, 1};
  int i, version = 0, tf32 = tensor->round_to_tf32 && box->element == $float32;
  CUresult status;
  if (tensor->strides[box->rank - 1] != 1) return CUDA_ERROR_INVALID_VALUE;
  for (i = 0; i < box->rank; i++) { /* the driver counts from the innermost dimension */
    int axis = box->rank - 1 - i;
    if (tensor->shape[axis] <= 0 || tensor->strides[axis] <= 0) return CUDA_ERROR_INVALID_VALUE;
    sizes[i] = (uint64_t)tensor->shape[axis] * (i == 0 ? (unsigned)box->packed : 1);
    strides[i] = (uint64_t)tensor->strides[axis] * (unsigned)box->element_bytes; /* of dimension i */
    extent[i] = box->box[axis];
    last += (sizes[i] - 1) * strides[i];
  }
  status = loaded->cuTensorMapEncodeTiled(map, tf32 ? $tf32 : box->element, (unsigned)box->rank,
                                     (void *)(uintptr_t)tensor->base, sizes, strides + 1, extent, ones, 0,
                                     box->swizzle, $l2_promotion, box->fill);
  if (!status) status = loaded->cuDriverGetVersion(&version);
  if (!status && version <= $last_to_correct && last + 1 < $small) { /* these drivers slow down small tensors */
    uint64_t word;
    memcpy(&word, map->bytes + 8 * $word, sizeof word);
    word &= ~UINT64_C($bit);
    memcpy(map->bytes + 8 * $word, &word, sizeof word);
  }
  return status;
}
"""
