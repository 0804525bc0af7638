// A Java virtual machine as the host, by its foreign-function interface (Java 22 or newer). It uses the same signals for itself: a
// null pointer, a stack overflow and the collector's stops must go on working between kernels that fault.
import java.lang.foreign.*;
import java.lang.invoke.MethodHandle;
import static java.lang.foreign.ValueLayout.*;

public class Host {
	static final String PTX = """
		.version 7.0
		.target sm_70
		.address_size 64
		.visible .entry fill(.param .u64 p, .param .u32 v) { .reg .b32 %r<2>; .reg .b64 %a<3>; ld.param.u64 %a0, [p]; ld.param.u32 %r0, [v]; mov.u32 %r1, %tid.x;
		  mul.wide.u32 %a1, %r1, 4; add.u64 %a2, %a0, %a1; add.u32 %r0, %r0, %r1; st.global.u32 [%a2], %r0; ret; }
		.visible .entry poke(.param .u64 p, .param .u32 v) { .reg .b32 %r<2>; .reg .b64 %a<3>; ld.param.u64 %a0, [p]; ld.param.u32 %r0, [v]; st.global.u32 [%a0], %r0; ret; }
		""";
	static final Arena arena = Arena.global();
	static final SymbolLookup cuda = SymbolLookup.libraryLookup("libcuda.so.1", arena);
	static int[] nothing;
	static Object last;

	static int call(String name, Object... args) throws Throwable {
		MemoryLayout[] types = new MemoryLayout[args.length];
		for (int i = 0; i < args.length; i++)
			types[i] = args[i] instanceof Integer ? JAVA_INT : args[i] instanceof Long ? JAVA_LONG : ADDRESS;
		MethodHandle h = Linker.nativeLinker().downcallHandle(cuda.find(name).get(), FunctionDescriptor.of(JAVA_INT, types));
		return (int) h.invokeWithArguments(args);
	}

	static void ok(int want, String name, Object... args) throws Throwable {
		int got = call(name, args);
		if (got != want) throw new IllegalStateException(name + ": " + got + ", want " + want);
	}

	static MemorySegment word() { return arena.allocate(JAVA_LONG); }
	static MemorySegment pointer(MemorySegment at) { return at.get(ADDRESS, 0); }

	static MemorySegment kernel(MemorySegment module, String name) throws Throwable {
		MemorySegment f = word();
		ok(0, "cuModuleGetFunction", f, module, arena.allocateFrom(name));
		return pointer(f);
	}

	static void launch(MemorySegment f, long p, int v, int threads) throws Throwable {
		MemorySegment a = word(), b = arena.allocate(JAVA_INT), args = arena.allocate(ADDRESS, 2);
		a.set(JAVA_LONG, 0, p);
		b.set(JAVA_INT, 0, v);
		args.setAtIndex(ADDRESS, 0, a);
		args.setAtIndex(ADDRESS, 1, b);
		ok(0, "cuLaunchKernel", f, 1, 1, 1, threads, 1, 1, 0, MemorySegment.NULL, args, MemorySegment.NULL);
	}

	static void works(MemorySegment fill, int v) throws Throwable {
		MemorySegment p = word(), out = arena.allocate(JAVA_INT, 32);
		ok(0, "cuMemAlloc_v2", p, 128L);
		launch(fill, p.get(JAVA_LONG, 0), v, 32);
		ok(0, "cuMemcpyDtoH_v2", out, p.get(JAVA_LONG, 0), 128L);
		for (int i = 0; i < 32; i++)
			if (out.getAtIndex(JAVA_INT, i) != v + i) throw new IllegalStateException("wrong at " + i);
		ok(0, "cuMemFree_v2", p.get(JAVA_LONG, 0));
	}

	static int deep(int n) { return deep(n + 1) + 1; }
	static int length(int[] a) { return a.length; } // the compiled form tests for null by faulting

	static void virtualMachine() {
		int caught = 0;
		for (int i = 0; i < 20000; i++) {
			try {
				length(i % 100 == 0 ? nothing : new int[1]);
			} catch (NullPointerException e) {
				caught++;
			}
		}
		try {
			deep(0);
		} catch (StackOverflowError e) {
			caught++;
		}
		for (int i = 0; i < 200; i++) last = new byte[1 << 20];
		System.gc();
		if (caught != 201) throw new IllegalStateException("caught " + caught);
	}

	public static void main(String[] argv) throws Throwable {
		virtualMachine();
		ok(0, "cuInit", 0);
		for (int turn = 0; turn < 3; turn++) {
			MemorySegment ctx = word(), mod = word();
			ok(0, "cuDevicePrimaryCtxRetain", ctx, 0);
			ok(0, "cuCtxSetCurrent", pointer(ctx));
			ok(0, "cuModuleLoadData", mod, arena.allocateFrom(PTX));
			MemorySegment fill = kernel(pointer(mod), "fill"), poke = kernel(pointer(mod), "poke");
			for (int i = 0; i < 10; i++) works(fill, i);
			virtualMachine();
			Thread[] threads = new Thread[4];
			Throwable[] failed = new Throwable[threads.length];
			for (int i = 0; i < threads.length; i++) {
				int k = i;
				threads[i] = new Thread(() -> {
					try {
						ok(0, "cuCtxSetCurrent", pointer(ctx));
						for (int j = 0; j < 10; j++) works(fill, j + k);
						virtualMachine();
					} catch (Throwable e) {
						failed[k] = e;
					}
				});
				threads[i].start();
			}
			for (int i = 0; i < threads.length; i++) {
				threads[i].join();
				if (failed[i] != null) throw failed[i];
			}
			launch(poke, 0, 1, 1);
			ok(700, "cuCtxSynchronize");
			virtualMachine();
			ok(0, "cuDevicePrimaryCtxReset_v2", 0);
		}
		System.out.println("ok");
	}
}
