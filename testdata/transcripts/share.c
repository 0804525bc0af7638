// Pools that processes share: a file stands for a pool, 64 bytes for an allocation of it.
#define _GNU_SOURCE
#include "transcript.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define FILES CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

static CUmemoryPool pool_(CUmemAllocationHandleType handles) {
	CUmemPoolProps p; CUmemoryPool pool = 0;
	memset(&p, 0, sizeof p);
	p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.handleTypes = handles;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	QUIET(cuMemPoolCreate(&pool, &p));
	return pool;
}

// give_ and have_ pass a file and some bytes along a socket.
static void give_(int to, int fd, const void *p, size_t n) {
	char room[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec v = {(void *)p, n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET; c->cmsg_type = SCM_RIGHTS; c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	QUIET(sendmsg(to, &m, 0) == (ssize_t)n ? 0 : 1);
}

static int have_(int from, void *p, size_t n) {
	int fd = -1; char room[CMSG_SPACE(sizeof fd)];
	struct iovec v = {p, n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	if (recvmsg(from, &m, 0) != (ssize_t)n) return -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

#define AS_HANDLE(fd) ((void *)(intptr_t)(fd))

struct parcel { CUmemPoolPtrExportData first, second, foreign; };

static void importer_(int s) {
	struct parcel m; CUdeviceptr p = 0, q = 0, r = 0; CUmemoryPool pool = 0, again = 0, own = 0; CUmemPoolPtrExportData zero, changed; int fd = have_(s, &m, sizeof m), number = 0, ok = 1, out = -1;
	cuuint64_t wide = 0; unsigned u = 0;
	start();
	memset(&zero, 0, sizeof zero);
	T(cuMemPoolImportFromShareableHandle(&pool, AS_HANDLE(fd), FILES, 0));
	T(cuMemPoolImportFromShareableHandle(&again, AS_HANDLE(fd), FILES, 0));
	B(again != 0); B(again == pool);
	T(cuMemPoolImportFromShareableHandle(&again, AS_HANDLE(fd), FILES, 1));
	T(cuMemPoolImportFromShareableHandle(0, AS_HANDLE(fd), FILES, 0));
	close(fd);
	NOTE("the pool");
	T(cuMemAllocFromPoolAsync(&p, 4096, pool, 0));
	T(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &wide));
	T(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &wide));
	N(wide);
	T(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &wide));
	N(wide);
	T(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &wide));
	T(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &number));
	N(number);
	T(cuMemPoolTrimTo(pool, 0));
	T(cuDeviceSetMemPool(dev, pool));
	T(cuMemPoolExportToShareableHandle(&out, pool, FILES, 0));
	CUmemAccess_flags flags = 99; CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
	T(cuMemPoolGetAccess(&flags, pool, &here));
	N(flags);
	CUmemAccessDesc access = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	T(cuMemPoolSetAccess(pool, &access, 1));
	NOTE("its memory");
	T(cuMemPoolImportPointer(&p, pool, &m.first));
	T(cuMemPoolImportPointer(&q, pool, &m.first));
	B(p == q);
	N(word(p));
	T(cuMemPoolImportPointer(&r, pool, &m.second));
	T(cuMemPoolImportPointer(&q, pool, &m.foreign));
	T(cuMemPoolImportPointer(&q, pool, &zero));
	T(cuMemPoolImportPointer(&q, pool, 0));
	T(cuMemPoolImportPointer(0, pool, &m.first));
	changed = m.second;
	for (unsigned i = 0; i < sizeof changed; i++) ((unsigned char *)&changed)[i] ^= 0x5a;
	T(cuMemPoolImportPointer(&q, pool, &changed));
	own = pool_(FILES);
	T(cuMemPoolImportPointer(&q, own, &m.second));
	CUmemoryPool of = 0; size_t range = 0; CUdeviceptr base = 0;
	T(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
	B(of == pool);
	T(cuPointerGetAttribute(&u, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p));
	N(u);
	T(cuPointerGetAttribute(&wide, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p));
	N(wide);
	T(cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p));
	N(range);
	T(cuMemGetAddressRange(&base, &range, p + 8));
	B(base == p);
	CUipcMemHandle ipc;
	T(cuIpcGetMemHandle(&ipc, p));
	T(cuMemPoolExportPointer(&changed, p));
	T(cuIpcCloseMemHandle(p));
	T(set_on(p, 99, 0));
	T(cuCtxSynchronize());
	T(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &wide));
	N(wide);
	NOTE("freed");
	T(cuMemFreeAsync(p, 0));
	T(cuMemFreeAsync(p, 0));
	T(cuCtxSynchronize());
	T(cuMemPoolImportPointer(&q, pool, &m.first));
	B(q != 0);
	T(cuMemFree(r));
	T(cuMemFree(r));
	T(cuMemPoolDestroy(pool));
	T(cuMemPoolImportPointer(&q, pool, &m.second));
	QUIET(send(s, &ok, sizeof ok, 0) == sizeof ok ? 0 : 1);
	_exit(0);
}

GROUP(pool_share) {
	int s[2], ok = 0, fd = -1, second = -1; struct parcel m; CUdeviceptr p = 0, q = 0, other = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s)) return;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(20);
		importer_(s[1]);
	}
	start();
	CUmemoryPool pool = pool_(FILES), foreign = pool_(FILES), plain = pool_(CU_MEM_HANDLE_TYPE_NONE), in = 0;
	T(cuMemAllocFromPoolAsync(&p, 4096, pool, 0));
	T(cuMemAllocFromPoolAsync(&q, 1 << 20, pool, 0));
	T(cuMemAllocFromPoolAsync(&other, 4096, foreign, 0));
	QUIET(cuMemsetD32(p, 1234, 16));
	QUIET(cuCtxSynchronize());
	T(cuMemPoolExportToShareableHandle(&fd, plain, FILES, 0));
	T(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_FABRIC, 0));
	T(cuMemPoolExportToShareableHandle(&fd, pool, FILES, 0));
	B(fd >= 0);
	B((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	T(cuMemPoolExportToShareableHandle(&second, pool, FILES, 0));
	B(second != fd);
	T(cuMemPoolExportPointer(&m.first, p));
	T(cuMemPoolExportPointer(&m.second, q));
	T(cuMemPoolExportPointer(&m.foreign, other));
	CUmemPoolPtrExportData x;
	T(cuMemPoolExportPointer(&x, p + 8));
	T(cuMemPoolExportPointer(0, p));
	CUipcMemHandle ipc;
	T(cuIpcGetMemHandle(&ipc, p));
	NOTE("in the process that made it");
	T(cuMemPoolImportFromShareableHandle(&in, AS_HANDLE(second), FILES, 0));
	if (in) {
		T(cuMemPoolImportPointer(&other, in, &m.first));
		B(other == p);
	}
	T(cuMemPoolImportPointer(&other, pool, &m.first));
	NOTE("files that are no pools");
	int null = open("/dev/null", O_RDWR), memory = memfd_create("m", 0);
	QUIET(ftruncate(memory, 1 << 21));
	T(cuMemPoolImportFromShareableHandle(&in, AS_HANDLE(null), FILES, 0));
	T(cuMemPoolImportFromShareableHandle(&in, AS_HANDLE(memory), FILES, 0));
	T(cuMemPoolImportFromShareableHandle(&in, AS_HANDLE(s[0]), FILES, 0));
	NOTE("in another process");
	fflush(stdout);
	give_(s[0], fd, &m, sizeof m);
	QUIET(recv(s[0], &ok, sizeof ok, 0) == sizeof ok ? 0 : 1);
	waitpid(pid, 0, 0);
	N(word(p));
	T(cuMemFreeAsync(p, 0));
	T(cuMemPoolExportPointer(&x, p));
	T(cuMemFreeAsync(q, 0));
	T(cuCtxSynchronize());
	T(cuMemPoolDestroy(pool));
}
