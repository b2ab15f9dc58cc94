/* A libcuda.so.1 that writes down what it is asked, a line a call, into the file that FAKE_CUDA_LOG names.
 *
 * FAKE_CUDA_PARAMS: the sizes of the kernel's parameters, "8,8,4"; FAKE_CUDA_DEVICES: how many GPUs there are;
 * FAKE_CUDA_FAIL: "cuLaunchKernelEx=700" has a function fail, "cuKernelSetAttribute@0=1" does so for device 0 only;
 * FAKE_CUDA_VERSION: the driver's. Declared by hand from the driver's documentation, apart from the code under test.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;

struct config {
  unsigned gx, gy, gz, bx, by, bz, shared;
  void *stream;
  struct attribute {
    int id;
    char pad[4];
    union {
      int numbers[16];
      void *aligned[8];
    } value;
  } * attributes;
  unsigned count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t handles = 0x1000;
static CUdeviceptr addresses = 0x7000000000;

static void write_line(const char *format, ...) {
  const char *path = getenv("FAKE_CUDA_LOG");
  FILE *file = path ? fopen(path, "a") : NULL;
  va_list values;
  if (!file) return;
  va_start(values, format);
  vfprintf(file, format, values);
  va_end(values);
  fclose(file);
}

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

/* What FAKE_CUDA_FAIL says of `name`. */
static CUresult failure(const char *name) {
  const char *text = getenv("FAKE_CUDA_FAIL");
  size_t length = strlen(name);
  return text && !strncmp(text, name, length) && text[length] == '=' ? atoi(text + length + 1) : 0;
}

#define BEGIN(name) \
  CUresult status = failure(name); \
  pthread_mutex_lock(&lock);
#define END pthread_mutex_unlock(&lock); \
  return status;

CUresult cuDeviceGetCount(int *count) {
  *count = (int)number("FAKE_CUDA_DEVICES", 1);
  return failure("cuDeviceGetCount");
}

CUresult cuDriverGetVersion(int *version) {
  *version = (int)number("FAKE_CUDA_VERSION", 13000);
  return failure("cuDriverGetVersion");
}

CUresult cuLibraryLoadData(void **library, const void *code, int *jit, void **jit_values, unsigned jit_count,
                           int *options, void **values, unsigned count) {
  BEGIN("cuLibraryLoadData")
  *library = (void *)++handles;
  write_line("load %d %d status %d\n", !memcmp(code, "\177ELF", 4) && (uintptr_t)code % 16 == 0,
             !jit && !jit_values && !jit_count && !options && !values && !count, status);
  END
}

CUresult cuLibraryUnload(void *library) {
  BEGIN("cuLibraryUnload")
  (void)library;
  write_line("unload\n");
  END
}

CUresult cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  BEGIN("cuLibraryGetKernel")
  *kernel = (void *)++handles;
  write_line("kernel %s%s status %d\n", name, library ? "" : " of nothing", status);
  END
}

CUresult cuKernelGetFunction(void **function, void *kernel) {
  BEGIN("cuKernelGetFunction")
  *function = kernel;
  write_line("function\n");
  END
}

CUresult cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
  char name[64];
  BEGIN("cuKernelSetAttribute")
  sprintf(name, "cuKernelSetAttribute@%d", device);
  if (!status) status = failure(name);
  write_line("attribute %d %d device %d%s\n", attribute, value, device, kernel ? "" : " of nothing");
  END
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, void *stream) {
  BEGIN("cuMemAllocAsync")
  if (!status) *address = addresses += 0x100;
  write_line("allocate %zu stream %p\n", size, stream);
  END
}

CUresult cuMemFreeAsync(CUdeviceptr address, void *stream) {
  BEGIN("cuMemFreeAsync")
  write_line("free %llx stream %p\n", address, stream);
  END
}

CUresult cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill) {
  uint32_t i;
  BEGIN("cuTensorMapEncodeTiled")
  memset(map, 0xff, 128);
  write_line("encode aligned %d type %d address %p interleave %d swizzle %d promotion %d fill %d dimensions",
             (uintptr_t)map % 64 == 0, type, address, interleave, swizzle, promotion, fill);
  for (i = 0; i < rank; i++)
    write_line(" %llu:%llu:%u:%u", (unsigned long long)sizes[i],
               i ? (unsigned long long)strides[i - 1] : 0, box[i], steps[i]);
  write_line("\n");
  END
}

CUresult cuLaunchKernelEx(const struct config *config, void *function, void **parameters, void **extra) {
  const char *sizes = getenv("FAKE_CUDA_PARAMS");
  unsigned i;
  int n;
  BEGIN("cuLaunchKernelEx")
  write_line("launch grid %u %u %u block %u %u %u shared %u stream %p%s%s\n", config->gx, config->gy, config->gz,
             config->bx, config->by, config->bz, config->shared, config->stream, function ? "" : " of nothing",
             extra ? " extra" : "");
  for (i = 0; i < config->count; i++)
    write_line("with %d: %d %d %d\n", config->attributes[i].id, config->attributes[i].value.numbers[0],
               config->attributes[i].value.numbers[1], config->attributes[i].value.numbers[2]);
  for (n = 0; sizes && *sizes; n++) {
    char *end;
    long size = strtol(sizes, &end, 10), k;
    write_line("parameter ");
    for (k = 0; k < size; k++) write_line("%02x", ((unsigned char *)parameters[n])[k]);
    write_line("\n");
    sizes = *end == ',' ? end + 1 : end;
  }
  END
}
