// Runs the jobs of a file (texels.Write) on the CUDA driver it is linked with and writes what they answered.
//   record JOBS RESULTS          all jobs; those that may fault in processes of their own
//   record JOBS RESULTS NUMBER   one job
//   record JOBS RESULTS -NUMBER  those from that one on, appended: how it goes on when a job ended the context
// A result is: status (CUresult), stage, then the threads' words (zero where nothing ran), then a surface's memory.
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint8_t *at;

static uint32_t word(void) {
	uint32_t v;
	memcpy(&v, at, 4);
	at += 4;
	return v;
}

static float number(void) {
	uint32_t w = word();
	float f;
	memcpy(&f, &w, 4);
	return f;
}

struct job {
	uint32_t text, surface, faults, res, w, h, d, format, channels, flags, levels;
	CUDA_TEXTURE_DESC tex;
	uint32_t has_view;
	CUDA_RESOURCE_VIEW_DESC view;
	uint32_t threads, in, out, elem, bytes;
	const uint8_t *data, *words;
};

static void read_job(struct job *j) {
	memset(j, 0, sizeof *j);
	uint32_t *p[] = {&j->text, &j->surface, &j->faults, &j->res, &j->w, &j->h, &j->d, &j->format, &j->channels, &j->flags, &j->levels};
	for (unsigned i = 0; i < sizeof p / sizeof *p; i++) *p[i] = word();
	for (int i = 0; i < 3; i++) j->tex.addressMode[i] = word();
	j->tex.filterMode = word();
	j->tex.flags = word();
	j->tex.maxAnisotropy = word();
	j->tex.mipmapFilterMode = word();
	j->tex.mipmapLevelBias = number();
	j->tex.minMipmapLevelClamp = number();
	j->tex.maxMipmapLevelClamp = number();
	for (int i = 0; i < 4; i++) j->tex.borderColor[i] = number();
	j->has_view = word();
	j->view.format = word();
	j->view.width = word();
	j->view.height = word();
	j->view.depth = word();
	j->view.firstMipmapLevel = word();
	j->view.lastMipmapLevel = word();
	j->view.firstLayer = word();
	j->view.lastLayer = word();
	j->threads = word();
	j->in = word();
	j->out = word();
	j->elem = word();
	j->bytes = word();
	j->data = at;
	at += j->bytes;
	j->words = at;
	at += (size_t)4 * j->in * (j->in ? j->threads : 0);
}

static const char **texts;
static CUmodule *modules;

static size_t result_size(const struct job *j) { return 8 + (size_t)4 * j->out * j->threads + (j->surface ? j->bytes : 0); }

static void copy(CUarray a, uint32_t w, uint32_t h, uint32_t d, uint32_t elem, uint8_t *host, int out, CUresult *r) {
	CUDA_MEMCPY3D c;
	memset(&c, 0, sizeof c);
	c.WidthInBytes = (size_t)w * elem;
	c.Height = h ? h : 1;
	c.Depth = d ? d : 1;
	if (out) {
		c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
		c.srcArray = a;
		c.dstMemoryType = CU_MEMORYTYPE_HOST;
		c.dstHost = host;
		c.dstPitch = c.WidthInBytes;
		c.dstHeight = c.Height;
	} else {
		c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
		c.dstArray = a;
		c.srcMemoryType = CU_MEMORYTYPE_HOST;
		c.srcHost = host;
		c.srcPitch = c.WidthInBytes;
		c.srcHeight = c.Height;
	}
	if (*r == 0) *r = cuMemcpy3D(&c);
}

// Runs one job; out has result_size bytes.
static void run(const struct job *j, uint8_t *out) {
	uint32_t *status = (uint32_t *)out;
	uint8_t *words = out + 8;
	CUresult r = 0;
	CUarray array = 0;
	CUmipmappedArray mip = 0;
	CUdeviceptr linear = 0, in = 0, res = 0;
	CUDA_RESOURCE_DESC rd;
	memset(&rd, 0, sizeof rd);
	memset(out, 0, result_size(j));
	rd.resType = j->res;
	CUDA_ARRAY3D_DESCRIPTOR ad;
	memset(&ad, 0, sizeof ad);
	ad.Width = j->w;
	ad.Height = j->h;
	ad.Depth = j->d;
	ad.Format = j->format;
	ad.NumChannels = j->channels;
	ad.Flags = j->flags;
	status[1] = 1;
	switch (j->res) {
	case CU_RESOURCE_TYPE_ARRAY:
		r = cuArray3DCreate(&array, &ad);
		copy(array, j->w, j->h, j->d, j->elem, (uint8_t *)j->data, 0, &r);
		rd.res.array.hArray = array;
		break;
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
		r = cuMipmappedArrayCreate(&mip, &ad, j->levels);
		uint32_t w = j->w, h = j->h, d = j->d;
		const uint8_t *p = j->data;
		for (uint32_t l = 0; l < j->levels && r == 0; l++) {
			CUarray a;
			r = cuMipmappedArrayGetLevel(&a, mip, l);
			copy(a, w, h, d, j->elem, (uint8_t *)p, 0, &r);
			p += (size_t)w * (h ? h : 1) * (d ? d : 1) * j->elem;
			w = w > 1 ? w / 2 : 1;
			h = h > 1 ? h / 2 : h;
			if (!(j->flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP))) d = d > 1 ? d / 2 : d;
		}
		rd.res.mipmap.hMipmappedArray = mip;
		break;
	}
	case CU_RESOURCE_TYPE_LINEAR:
		r = cuMemAlloc(&linear, j->bytes);
		if (r == 0) r = cuMemcpyHtoD(linear, j->data, j->bytes);
		rd.res.linear.devPtr = linear;
		rd.res.linear.format = j->format;
		rd.res.linear.numChannels = j->channels;
		rd.res.linear.sizeInBytes = j->bytes;
		break;
	case CU_RESOURCE_TYPE_PITCH2D: {
		size_t pitch = ((size_t)j->w * j->elem + 511) & ~(size_t)511;
		r = cuMemAlloc(&linear, pitch * j->h);
		for (uint32_t y = 0; y < j->h && r == 0; y++)
			r = cuMemcpyHtoD(linear + y * pitch, j->data + (size_t)y * j->w * j->elem, (size_t)j->w * j->elem);
		rd.res.pitch2D.devPtr = linear;
		rd.res.pitch2D.format = j->format;
		rd.res.pitch2D.numChannels = j->channels;
		rd.res.pitch2D.width = j->w;
		rd.res.pitch2D.height = j->h;
		rd.res.pitch2D.pitchInBytes = pitch;
		break;
	}
	}
	uint64_t object = 0;
	if (r == 0) {
		status[1] = 2;
		if (j->surface) r = cuSurfObjectCreate((CUsurfObject *)&object, &rd);
		else r = cuTexObjectCreate((CUtexObject *)&object, &rd, &j->tex, j->has_view ? &j->view : NULL);
	}
	if (r == 0) {
		status[1] = 3;
		if (!modules[j->text]) r = cuModuleLoadData(&modules[j->text], texts[j->text]);
	}
	CUfunction f = 0;
	if (r == 0) r = cuModuleGetFunction(&f, modules[j->text], "k");
	if (r == 0) {
		status[1] = 4;
		size_t ni = (size_t)4 * j->in * j->threads, no = (size_t)4 * j->out * j->threads;
		r = cuMemAlloc(&in, ni + 4);
		if (r == 0) r = cuMemAlloc(&res, no + 4);
		if (r == 0 && ni) r = cuMemcpyHtoD(in, j->words, ni);
		if (r == 0) r = cuMemsetD8(res, 0xcc, no + 4);
		uint32_t n = j->threads;
		void *params[] = {&object, &in, &res, &n};
		if (r == 0) r = cuLaunchKernel(f, (n + 63) / 64, 1, 1, 64, 1, 1, 0, 0, params, NULL);
		if (r == 0) r = cuCtxSynchronize();
		if (r == 0) r = cuMemcpyDtoH(words, res, no);
		if (r == 0 && j->surface) {
			if (array) copy(array, j->w, j->h, j->d, j->elem, words + no, 1, &r);
		}
	}
	status[0] = r;
	if (r == 0) status[1] = 0;
	if (object) {
		if (j->surface) cuSurfObjectDestroy(object);
		else cuTexObjectDestroy(object);
	}
	if (array) cuArrayDestroy(array);
	if (mip) cuMipmappedArrayDestroy(mip);
	if (linear) cuMemFree(linear);
	if (in) cuMemFree(in);
	if (res) cuMemFree(res);
}

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	FILE *f = fopen(argv[1], "rb");
	if (!f) return 2;
	fseek(f, 0, SEEK_END);
	long size = ftell(f);
	rewind(f);
	uint8_t *all = malloc(size);
	if (fread(all, 1, size, f) != (size_t)size) return 2;
	fclose(f);
	at = all;
	uint32_t ntexts = word(), njobs = word();
	texts = calloc(ntexts, sizeof *texts);
	modules = calloc(ntexts, sizeof *modules);
	for (uint32_t i = 0; i < ntexts; i++) {
		uint32_t n = word();
		texts[i] = (const char *)at;
		at += n;
	}
	long only = -1, from = 0;
	if (argc > 3 && argv[3][0] == '-') from = atol(argv[3] + 1);
	else if (argc > 3) only = atol(argv[3]);
	CUdevice dev;
	CUcontext ctx;
	if (cuInit(0) || cuDeviceGet(&dev, 0) || cuDevicePrimaryCtxRetain(&ctx, dev) || cuCtxSetCurrent(ctx)) {
		fprintf(stderr, "no device\n");
		return 2;
	}
	FILE *o = fopen(argv[2], from ? "ab" : "wb");
	if (!o) return 2;
	for (uint32_t i = 0; i < njobs; i++) {
		struct job j;
		read_job(&j);
		if ((only >= 0 && (long)i != only) || (long)i < from) continue;
		uint8_t *out = calloc(1, result_size(&j));
		if (j.faults && only < 0) {
			char cmd[4096], name[1024];
			snprintf(name, sizeof name, "%s.%u", argv[2], i);
			snprintf(cmd, sizeof cmd, "'%s' '%s' '%s' %u", argv[0], argv[1], name, i);
			if (system(cmd) != 0) fprintf(stderr, "job %u: process failed\n", i);
			FILE *g = fopen(name, "rb");
			if (!g || fread(out, 1, result_size(&j), g) != result_size(&j)) fprintf(stderr, "job %u: no result\n", i);
			if (g) fclose(g);
			remove(name);
		} else {
			run(&j, out);
			uint32_t *s = (uint32_t *)out;
			if (s[0] && only < 0) {
				fprintf(stderr, "job %u: status %u stage %u\n", i, s[0], s[1]);
				CUresult again = cuCtxSynchronize();
				if (again) {
					fprintf(stderr, "job %u: the context is lost: %d\n", i, again);
					fwrite(out, 1, result_size(&j), o);
					fclose(o);
					char next[32];
					snprintf(next, sizeof next, "-%u", i + 1);
					execl("/proc/self/exe", argv[0], argv[1], argv[2], next, (char *)NULL);
					return 1;
				}
			}
		}
		fwrite(out, 1, result_size(&j), o);
		free(out);
	}
	fclose(o);
	return 0;
}
