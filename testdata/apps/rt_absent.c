// What the runtime answers about things that a machine without a display, an embedded system's buffers and other processes'
// handles does not have: each call with nothing behind it, in a process of its own. The transcript was written on an H200.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *lib;
typedef int (*fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

// buffer gives zeroed memory that every pointer argument may be written to.
static uintptr_t buffer(void) { return (uintptr_t)calloc(1, 4096); }

// Arguments: p a pointer to zeroes, n NULL, digits a number, h a handle that is none, f a file descriptor that is none.
static const char *calls[] = {
	"cudaGraphicsUnregisterResource n",
	"cudaGraphicsUnregisterResource h",
	"cudaGraphicsResourceSetMapFlags n 0",
	"cudaGraphicsMapResources 0 n 0",
	"cudaGraphicsMapResources 1 n 0",
	"cudaGraphicsMapResources 1 p 0",
	"cudaGraphicsUnmapResources 0 n 0",
	"cudaGraphicsUnmapResources 1 p 0",
	"cudaGraphicsResourceGetMappedPointer p p n",
	"cudaGraphicsSubResourceGetMappedArray p n 0 0",
	"cudaGraphicsResourceGetMappedMipmappedArray p n",
	"cudaGLGetDevices p p 1 1",
	"cudaGLGetDevices p p 1 9",
	"cudaGraphicsGLRegisterImage p 1 3553 0",
	"cudaGraphicsGLRegisterBuffer p 1 0",
	"cudaGLSetGLDevice 0",
	"cudaGLSetGLDevice 99",
	"cudaGLRegisterBufferObject 1",
	"cudaGLMapBufferObject p 1",
	"cudaGLUnmapBufferObject 1",
	"cudaGLUnregisterBufferObject 1",
	"cudaGLSetBufferObjectMapFlags 1 0",
	"cudaGLMapBufferObjectAsync p 1 0",
	"cudaGLUnmapBufferObjectAsync 1 0",
	"cudaGraphicsEGLRegisterImage p n 0",
	"cudaEGLStreamConsumerConnect p n",
	"cudaEGLStreamConsumerConnectWithFlags p n 0",
	"cudaEGLStreamConsumerDisconnect p",
	"cudaEGLStreamConsumerDisconnect n",
	"cudaEGLStreamConsumerAcquireFrame p p p 0",
	"cudaEGLStreamConsumerReleaseFrame p n p",
	"cudaEGLStreamProducerConnect p n 16 16",
	"cudaEGLStreamProducerDisconnect p",
	"cudaGraphicsResourceGetMappedEglFrame p n 0 0",
	"cudaEventCreateFromEGLSync p n 0",
	"cudaVDPAUGetDevice p 1 n",
	"cudaVDPAUSetVDPAUDevice 0 1 n",
	"cudaGraphicsVDPAURegisterVideoSurface p 1 0",
	"cudaGraphicsVDPAURegisterOutputSurface p 1 0",
	"cudaImportExternalMemory p n",
	"cudaImportExternalMemory p p",
	"cudaExternalMemoryGetMappedBuffer p n p",
	"cudaExternalMemoryGetMappedMipmappedArray p n p",
	"cudaDestroyExternalMemory n",
	"cudaImportExternalSemaphore p n",
	"cudaImportExternalSemaphore p p",
	"cudaDestroyExternalSemaphore n",
	"cudaSignalExternalSemaphoresAsync p p 0 0",
	"cudaSignalExternalSemaphoresAsync p p 1 0",
	"cudaWaitExternalSemaphoresAsync p p 0 0",
	"cudaWaitExternalSemaphoresAsync p p 1 0",
	"cudaDeviceFlushGPUDirectRDMAWrites 0 100",
	"cudaDeviceFlushGPUDirectRDMAWrites 0 200",
	"cudaDeviceFlushGPUDirectRDMAWrites 5 100",
	"cudaDeviceRegisterAsyncNotification 0 n n p",
	"cudaDeviceRegisterAsyncNotification 99 h n p",
	"cudaDeviceUnregisterAsyncNotification 0 n",
	"cudaDeviceGetNvSciSyncAttributes n 0 1",
	"cudaDeviceGetNvSciSyncAttributes p 0 1",
	"cudaLibraryGetUnifiedFunction p n p",
	"cudaSetDoubleForDevice p",
	"cudaSetDoubleForHost p",
	"cudaSetDoubleForHost n",
	"cudaLaunchCooperativeKernelMultiDevice n 0 0",
	"cudaLaunchCooperativeKernelMultiDevice p 1 0",
	"cudaGraphExternalSemaphoresSignalNodeGetParams n p",
	"cudaGraphExternalSemaphoresWaitNodeGetParams n p",
	"cudaGraphExternalSemaphoresSignalNodeSetParams n p",
	"cudaGraphExternalSemaphoresWaitNodeSetParams n p",
	"cudaGraphExecExternalSemaphoresSignalNodeSetParams n n p",
	"cudaGraphExecExternalSemaphoresWaitNodeSetParams n n p",
	"cudaGraphAddExternalSemaphoresSignalNode p n n 0 p",
	"cudaGraphAddExternalSemaphoresWaitNode p n n 0 p",
	"cudaMemPoolExportToShareableHandle p n 1 0",
	"cudaMemPoolImportFromShareableHandle p n 1 0",
	"cudaMemPoolExportPointer p n",
	"cudaMemPoolImportPointer p n p",
	"cudaLogsUnregisterCallback n",
	"cudaLogsRegisterCallback n n p",
	"cudaLogsCurrent p 0",
	"cudaLogsCurrent p 1",
	"cudaLogsDumpToMemory n p p 0",
	"cudaDeviceGetHostAtomicCapabilities p p 1 0",
	"cudaDeviceGetHostAtomicCapabilities p p 0 0",
	"cudaDeviceGetHostAtomicCapabilities p p 1 99",
	"cudaDeviceGetP2PAtomicCapabilities p p 1 0 0",
};

static void one(const char *call) {
	char copy[256], *save, *name;
	uintptr_t a[8] = {0};
	snprintf(copy, sizeof copy, "%s", call);
	name = strtok_r(copy, " ", &save);
	fn f = (fn)dlsym(lib, name);
	if (!f) {
		printf("%s: not there\n", call);
		return;
	}
	int n = 0;
	for (char *w; n < 8 && (w = strtok_r(NULL, " ", &save)); n++)
		a[n] = *w == 'p' ? buffer() : *w == 'n' ? 0 : *w == 'h' ? 0x1234567890u : strtoul(w, NULL, 10);
	int (*free0)(void *) = (int (*)(void *))dlsym(lib, "cudaFree");
	if (!strstr(name, "SetGLDevice") && !strstr(name, "SetVDPAU"))
		free0(NULL);
	printf("%s: %d\n", call, f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]));
}

int main(int argc, char **argv) {
	lib = dlopen(argc > 1 ? argv[1] : "libcudart.so.13", RTLD_NOW);
	if (!lib) {
		printf("%s\n", dlerror());
		return 1;
	}
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		fflush(stdout);
		pid_t child = fork();
		if (!child) {
			one(calls[i]);
			fflush(stdout);
			_exit(0);
		}
		int status = 0;
		waitpid(child, &status, 0);
		if (status)
			printf("%s: ends with signal %d\n", calls[i], status & 127);
	}
	return 0;
}
