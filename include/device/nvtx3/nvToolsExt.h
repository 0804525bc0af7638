// NVTX for programs: marks and ranges with names. Names, layouts and numbers are facts of its public interface. As there, nothing is
// linked: the functions look for a recorder, here Kudzu's libnvToolsExt.so.1, and do nothing where there is none.
#ifndef KUDZU_NVTOOLSEXT_H
#define KUDZU_NVTOOLSEXT_H

#include <dlfcn.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_NO_PUSH_POP_TRACKING (-2)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;

typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;

typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef union nvtxMessageValue_t {
  const char *ascii;
  const wchar_t *unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

// A function of the recorder, 0 where there is none.
static inline void *kudzu_nvtx(const char *name) {
  static void *library;
  static int looked;
  if (!looked) {
    library = dlopen("libnvToolsExt.so.1", RTLD_LAZY);
    looked = 1;
  }
  return library ? dlsym(library, name) : 0;
}

#define KUDZU_NVTX(result, none, name, params, args) \
  static inline result name params { \
    static result(*call) params; \
    static int looked; \
    if (!looked) { \
      call = (result(*) params)kudzu_nvtx(#name); \
      looked = 1; \
    } \
    if (call) return call args; \
    return none; \
  }

KUDZU_NVTX(void, (void)0, nvtxInitialize, (const void *reserved), (reserved))
KUDZU_NVTX(void, (void)0, nvtxMarkEx, (const nvtxEventAttributes_t *a), (a))
KUDZU_NVTX(void, (void)0, nvtxMarkA, (const char *text), (text))
KUDZU_NVTX(void, (void)0, nvtxMarkW, (const wchar_t *text), (text))
KUDZU_NVTX(nvtxRangeId_t, 0, nvtxRangeStartEx, (const nvtxEventAttributes_t *a), (a))
KUDZU_NVTX(nvtxRangeId_t, 0, nvtxRangeStartA, (const char *text), (text))
KUDZU_NVTX(nvtxRangeId_t, 0, nvtxRangeStartW, (const wchar_t *text), (text))
KUDZU_NVTX(void, (void)0, nvtxRangeEnd, (nvtxRangeId_t id), (id))
KUDZU_NVTX(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePushEx, (const nvtxEventAttributes_t *a), (a))
KUDZU_NVTX(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePushA, (const char *text), (text))
KUDZU_NVTX(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePushW, (const wchar_t *text), (text))
KUDZU_NVTX(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePop, (void), ())
KUDZU_NVTX(void, (void)0, nvtxNameOsThreadA, (uint32_t tid, const char *name), (tid, name))
KUDZU_NVTX(void, (void)0, nvtxNameOsThreadW, (uint32_t tid, const wchar_t *name), (tid, name))
KUDZU_NVTX(void, (void)0, nvtxDomainMarkEx, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
KUDZU_NVTX(nvtxRangeId_t, 0, nvtxDomainRangeStartEx, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
KUDZU_NVTX(void, (void)0, nvtxDomainRangeEnd, (nvtxDomainHandle_t d, nvtxRangeId_t id), (d, id))
KUDZU_NVTX(int, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainRangePushEx, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
KUDZU_NVTX(int, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainRangePop, (nvtxDomainHandle_t d), (d))
KUDZU_NVTX(nvtxStringHandle_t, 0, nvtxDomainRegisterStringA, (nvtxDomainHandle_t d, const char *text), (d, text))
KUDZU_NVTX(nvtxStringHandle_t, 0, nvtxDomainRegisterStringW, (nvtxDomainHandle_t d, const wchar_t *text), (d, text))
KUDZU_NVTX(nvtxDomainHandle_t, 0, nvtxDomainCreateA, (const char *name), (name))
KUDZU_NVTX(nvtxDomainHandle_t, 0, nvtxDomainCreateW, (const wchar_t *name), (name))
KUDZU_NVTX(void, (void)0, nvtxDomainDestroy, (nvtxDomainHandle_t d), (d))
KUDZU_NVTX(void, (void)0, nvtxDomainNameCategoryA, (nvtxDomainHandle_t d, uint32_t c, const char *n), (d, c, n))
KUDZU_NVTX(void, (void)0, nvtxDomainNameCategoryW, (nvtxDomainHandle_t d, uint32_t c, const wchar_t *n), (d, c, n))

static inline void nvtxNameCategoryA(uint32_t c, const char *n) { nvtxDomainNameCategoryA(0, c, n); }
static inline void nvtxNameCategoryW(uint32_t c, const wchar_t *n) { nvtxDomainNameCategoryW(0, c, n); }

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif

#endif
