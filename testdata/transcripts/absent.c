// Calls about displays, video and other vendor interfaces on a machine that has none, with nothing behind their arguments. Each
// runs in a process of its own: a real driver crashes in some.
#include "transcript.h"

#include <dlfcn.h>
#include <sys/wait.h>

typedef int (*any_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

// Arguments: p a pointer to zeroes, n NULL, digits a number.
static void ask(const char *call) {
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		char copy[256], *save = 0;
		uintptr_t a[6] = {0};
		signal(SIGSEGV, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		alarm(10);
		signal(SIGALRM, SIG_DFL);
		snprintf(copy, sizeof copy, "%s", call);
		char *name = strtok_r(copy, " ", &save);
		any_fn f = (any_fn)dlsym(RTLD_DEFAULT, name);
		int n = 0;
		for (char *w; n < 6 && (w = strtok_r(0, " ", &save)); n++)
			a[n] = *w == 'p' ? (uintptr_t)calloc(1, 4096) : *w == 'n' ? 0 : strtoul(w, 0, 0);
		start();
		if (f) printf("%s = %d\n", call, f(a[0], a[1], a[2], a[3], a[4], a[5]));
		else printf("%s: not there\n", call);
		fflush(stdout);
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	if (status) printf("%s ends with a signal\n", call);
}

GROUP(absent_egl) {
	ask("cuGraphicsEGLRegisterImage p n 0");
	ask("cuGraphicsEGLRegisterImage n n 0");
	ask("cuEGLStreamConsumerConnect p n");
	ask("cuEGLStreamConsumerConnectWithFlags p n 0");
	ask("cuEGLStreamConsumerConnectWithFlags p n 9");
	ask("cuEGLStreamConsumerDisconnect p");
	ask("cuEGLStreamConsumerDisconnect n");
	ask("cuEGLStreamConsumerAcquireFrame p p p 0");
	ask("cuEGLStreamConsumerReleaseFrame p n p");
	ask("cuEGLStreamProducerConnect p n 16 16");
	ask("cuEGLStreamProducerDisconnect p");
	ask("cuEGLStreamProducerDisconnect n");
	ask("cuEGLStreamProducerReturnFrame p p p");
	ask("cuGraphicsResourceGetMappedEglFrame p n 0 0");
}

GROUP(absent_vdpau) {
	ask("cuVDPAUGetDevice p 1 n");
	ask("cuVDPAUGetDevice n 1 n");
	ask("cuVDPAUCtxCreate p 0 0 1 n");
	ask("cuGraphicsVDPAURegisterVideoSurface p 1 0");
	ask("cuGraphicsVDPAURegisterVideoSurface n 1 0");
	ask("cuGraphicsVDPAURegisterOutputSurface p 1 0");
	ask("cuGraphicsVDPAURegisterOutputSurface n 1 0");
}

GROUP(absent_other) {
	ask("cuProfilerInitialize p p 0");
	ask("cuDeviceGetLuid p p 0");
	ask("cuDeviceGetNvSciSyncAttributes p 0 1");
	ask("cuFlushGPUDirectRDMAWrites 0 100");
	ask("cuLibraryGetUnifiedFunction p n p");
	ask("cuGLInit");
	ask("cuGLGetDevices_v2 p p 1 1");
	ask("cuGraphicsUnregisterResource n");
}
