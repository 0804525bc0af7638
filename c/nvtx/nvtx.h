// The part of NVTX's interface that becomes events: names, layouts and numbers are facts of its public headers.
#ifndef KZ_NVTX_H
#define KZ_NVTX_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

typedef struct {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	uint64_t payload;
	int32_t messageType;
	union {
		const char *ascii;
		const wchar_t *unicode;
		nvtxStringHandle_t registered;
	} message;
} nvtxEventAttributes_t;
_Static_assert(sizeof(nvtxEventAttributes_t) == 48 && offsetof(nvtxEventAttributes_t, message) == 40, "nvtxEventAttributes_t");

int kz_nvtx_on(void); // somebody records

void nvtxMarkEx(const nvtxEventAttributes_t *a);
void nvtxMarkA(const char *text);
void nvtxMarkW(const wchar_t *text);
nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *a);
nvtxRangeId_t nvtxRangeStartA(const char *text);
nvtxRangeId_t nvtxRangeStartW(const wchar_t *text);
void nvtxRangeEnd(nvtxRangeId_t id);
int nvtxRangePushEx(const nvtxEventAttributes_t *a);
int nvtxRangePushA(const char *text);
int nvtxRangePushW(const wchar_t *text);
int nvtxRangePop(void);
void nvtxNameOsThreadA(uint32_t tid, const char *name);
void nvtxNameOsThreadW(uint32_t tid, const wchar_t *name);
void nvtxNameCuStreamA(void *stream, const char *name);
void nvtxNameCuStreamW(void *stream, const wchar_t *name);
void nvtxNameCudaStreamA(void *stream, const char *name);
void nvtxNameCudaStreamW(void *stream, const wchar_t *name);
void nvtxDomainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a);
nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a);
void nvtxDomainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id);
int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a);
int nvtxDomainRangePop(nvtxDomainHandle_t d);
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t d, const char *text);
nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t d, const wchar_t *text);
nvtxDomainHandle_t nvtxDomainCreateA(const char *name);
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name);
void nvtxDomainDestroy(nvtxDomainHandle_t d);
void nvtxDomainNameCategoryA(nvtxDomainHandle_t d, uint32_t c, const char *n);
void nvtxDomainNameCategoryW(nvtxDomainHandle_t d, uint32_t c, const wchar_t *n);
void *nvtxDomainResourceCreate(nvtxDomainHandle_t d, void *attributes);
void nvtxDomainResourceDestroy(void *resource);
void nvtxInitialize(const void *reserved);
void *nvtxDomainSyncUserCreate(nvtxDomainHandle_t d, const void *attributes);
void nvtxDomainSyncUserDestroy(void *handle);
void nvtxDomainSyncUserAcquireStart(void *handle);
void nvtxDomainSyncUserAcquireFailed(void *handle);
void nvtxDomainSyncUserAcquireSuccess(void *handle);
void nvtxDomainSyncUserReleasing(void *handle);

#endif
