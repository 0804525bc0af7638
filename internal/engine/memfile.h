// The arena's file: memory that other processes may map (kz_arena_share). A part of mem.c.

// Whether the descriptor is still ours: a program may close every file it has, and open others under the number.
static bool file_there(void) {
	struct stat st;
	return A.file.fd && fstat(A.file.fd, &st) == 0 && st.st_dev == A.file.dev && st.st_ino == A.file.ino;
}

int kz_arena_share(struct kz_arena_file *out) {
	int rc = KZ_SYSTEM;
	struct rlimit most;
	struct stat st;
	kz_acquire(&A.lock);
	// One file of the size of all addresses, at whose places memory is put when it is given out. It holds nothing before.
	if (!A.file.fd && A.v.base && getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur >= A.v.size) {
		int fd = memfd_create("kudzu-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (fd > 0 && ftruncate(fd, (off_t)A.v.size) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 && fstat(fd, &st) == 0)
			A.file = (struct kz_arena_file){.base = A.v.base, .size = A.v.size, .dev = st.st_dev, .ino = st.st_ino, .fd = fd};
		else if (fd >= 0) close(fd);
	}
	if (file_there()) {
		*out = A.file;
		rc = KZ_OK;
	}
	kz_release(&A.lock);
	return rc;
}

int kz_arena_shared(uint64_t addr, uint64_t n) {
	uint64_t off = addr - A.v.base;
	if (n == 0 || off >= A.v.size || n > A.v.size - off) return 0;
	for (uint64_t i = off >> SLAB_BITS; i <= (off + n - 1) >> SLAB_BITS; i++)
		if (!__atomic_load_n(&A.v.slabs[i].filed, __ATOMIC_RELAXED)) return 0;
	return 1;
}

void kz_arena_moved(uint64_t addr, uint64_t n) {
	kz_acquire(&A.lock);
	for (uint64_t i = (addr - A.v.base) >> SLAB_BITS; i < (addr + n - A.v.base) >> SLAB_BITS; i++) __atomic_store_n(&A.v.slabs[i].filed, 0, __ATOMIC_RELAXED);
	kz_release(&A.lock);
}

// The slabs from i on, of n, that are alike: in the file or not.
static uint64_t alike(uint32_t i, uint64_t n) {
	uint64_t k = 1;
	while (k < n && !A.v.slabs[i + k].filed == !A.v.slabs[i].filed) k++;
	return k;
}

// Puts slabs that nobody has into the file. What cannot be put there stays this process's own.
static void file_slabs(uint32_t i, uint64_t n) {
	if (!file_there()) return;
	for (uint64_t k; n; i += (uint32_t)k, n -= k) {
		k = alike(i, n);
		if (A.v.slabs[i].filed) continue;
		uint64_t at = slab_addr(i), bytes = k << SLAB_BITS;
		if (mmap((void *)at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, A.file.fd, (off_t)(at - A.v.base)) == MAP_FAILED) return;
		madvise((void *)at, bytes, MADV_HUGEPAGE);
		madvise((void *)at, bytes, MADV_DONTFORK);
		for (uint64_t j = 0; j < k; j++) __atomic_store_n(&A.v.slabs[i + j].filed, 1, __ATOMIC_RELAXED);
	}
}

// Gives the pages of slabs back to the system, those in the file for all processes.
static void drop_pages(uint32_t i, uint64_t n) {
	for (uint64_t k; n; i += (uint32_t)k, n -= k) {
		k = alike(i, n);
		uint64_t at = slab_addr(i), bytes = k << SLAB_BITS;
		if (!A.v.slabs[i].filed) madvise((void *)at, bytes, MADV_DONTNEED);
		else if (!file_there() || fallocate(A.file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(at - A.v.base), (off_t)bytes)) {
			mprotect((void *)at, bytes, PROT_READ | PROT_WRITE); // which older kernels want
			madvise((void *)at, bytes, MADV_REMOVE);
			mprotect((void *)at, bytes, PROT_NONE);
		}
	}
}
