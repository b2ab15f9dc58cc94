/* What a program of these tests calls of the real driver, declared by hand: no header of NVIDIA's is needed. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUdevice_;
typedef struct CUctx_st *CUcontext_;
extern CUresult cuInit(unsigned);
extern CUresult cuDeviceGet(CUdevice_ *, int);
extern CUresult cuDevicePrimaryCtxRetain(CUcontext_ *, CUdevice_);
extern CUresult cuCtxSetCurrent(CUcontext_);
extern CUresult cuCtxCreate_v2(CUcontext_ *, unsigned, CUdevice_);
extern CUresult cuCtxSynchronize(void);
extern CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
extern CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
extern CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
extern CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
extern CUresult cuStreamCreate(CUstream *, unsigned);
extern CUresult cuStreamBeginCapture_v2(CUstream, int);
extern CUresult cuStreamEndCapture(CUstream, void **graph);
extern CUresult cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long);
extern CUresult cuGraphLaunch(void *executable, CUstream);

#define OK(call) do { \
    int status_ = (int)(call); \
    if (status_) { \
      fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, status_); \
      exit(1); \
    } \
  } while (0)
#define EXPECT(what) do { \
    if (!(what)) { \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      exit(1); \
    } \
  } while (0)

static inline CUcontext_ begin(void) {
  CUcontext_ context;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
  return context;
}

/* Memory of the GPU with a copy of `data`, or filled with 0xff, which is NaN for floats. */
static inline CUdeviceptr put(const void *data, size_t size) {
  CUdeviceptr address = 0;
  OK(cuMemAlloc_v2(&address, size));
  if (data) OK(cuMemcpyHtoD_v2(address, data, size));
  else OK(cuMemsetD8_v2(address, 0xff, size));
  return address;
}

static inline void get(void *data, CUdeviceptr address, size_t size) {
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH_v2(data, address, size));
}
