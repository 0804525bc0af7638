// MPI_Allreduce with the sizes and turns of NCCL's figures (scripts/nccl-bench.sh).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	static const struct { size_t size; int times; } rows[] = {{1 << 10, 1000}, {1 << 20, 50}, {64 << 20, 2}};
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	float *buf = calloc(64 << 20, 1);
	if (!buf) return 1;
	for (int r = 0; r < 3; r++) {
		double best = 1e9;
		for (int again = 0; again < 9; again++) {
			double start = MPI_Wtime();
			for (int k = 0; k < rows[r].times; k++)
				MPI_Allreduce(MPI_IN_PLACE, buf, (int)(rows[r].size / sizeof(float)), MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
			double t = (MPI_Wtime() - start) / rows[r].times;
			best = t < best ? t : best;
		}
		if (!rank) printf("%9zu bytes: %.1f µs, %.2f GB/s\n", rows[r].size, best * 1e6, rows[r].size / best * 1e-9);
	}
	MPI_Finalize();
}
