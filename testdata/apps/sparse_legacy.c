// Records the older functions of cuSPARSE on small matrices: conversions, sorts, products and solves of blocks, incomplete
// factors, tridiagonal and pentadiagonal systems, pruning.
#include "sparse_record.h"

// One call for the four types; arguments are void pointers, so that all four accept them.
#define FOUR(kind, name, ...)                                                                                                      \
    ((kind) == F32 ? cusparseS##name(__VA_ARGS__) : (kind) == F64 ? cusparseD##name(__VA_ARGS__) : (kind) == C32 ? cusparseC##name(__VA_ARGS__) : cusparseZ##name(__VA_ARGS__))

static cusparseMatDescr_t MD[2]; // zero- and one-based
static const void *S(int kind, double re, double im) { return scalar(kind, re, im); }

static void bsr(int kind, int dir, int op, int base, int bd) {
    struct M a = pattern(4, op ? 4 : 3, 3, 2);
    struct D d = lay_blocks(&a, bd, bd, dir, kind, 0, base);
    int mb = a.m, nb = a.n;
    cusparseDirection_t D = dir ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
    cusparseOperation_t O = (cusparseOperation_t)op;
    void *x = numbers(kind, 32, 21), *y = numbers(kind, 32, 22);
    begin("bsrmv %s dir %d op %d b%d block %d", kinds[kind].name, dir, op, base, bd);
    st(FOUR(kind, bsrmv, H, D, O, mb, nb, (int)d.nnz, S(kind, 2, 1), MD[base], d.val, d.off, d.ind, bd, x, S(kind, 3, 0), y));
    results(), show(y, kind, mb * bd);
    printf("\n");
    begin("bsrmm %s dir %d op %d b%d block %d", kinds[kind].name, dir, op, base, bd);
    void *B = numbers(kind, 3 * 32, 23), *C = numbers(kind, 3 * 32, 24);
    st(FOUR(kind, bsrmm, H, D, O, CUSPARSE_OPERATION_NON_TRANSPOSE, mb, 3, nb, (int)d.nnz, S(kind, 2, 1), MD[base], d.val, d.off, d.ind, bd, B, 32, S(kind, 3, 0), C, 32));
    results(), show(C, kind, 96);
    printf("\n");
    begin("bsrmm transposed %s dir %d op %d b%d block %d", kinds[kind].name, dir, op, base, bd);
    st(FOUR(kind, bsrmm, H, D, O, CUSPARSE_OPERATION_TRANSPOSE, mb, 3, nb, (int)d.nnz, S(kind, 1, 0), MD[base], d.val, d.off, d.ind, bd, B, 4, S(kind, 0, 0), C, 32));
    results(), show(C, kind, 96);
    printf("\n");
    int mask[] = {3 + base, 1 + base}, ends[4], offs[5];
    cudaMemcpy(offs, d.off, sizeof offs, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++) ends[i] = offs[i + 1];
    begin("bsrxmv %s dir %d op %d b%d block %d", kinds[kind].name, dir, op, base, bd);
    void *z = numbers(kind, 32, 22);
    st(FOUR(kind, bsrxmv, H, D, O, 2, mb, nb, (int)d.nnz, S(kind, 2, 1), MD[base], d.val, up(mask, sizeof mask), d.off, up(ends, sizeof ends), d.ind, bd, x, S(kind, 3, 0), z));
    results(), show(z, kind, mb * bd);
    end();
}

static void bsr_solve(int kind, int dir, int op, int base, int upper, int unit) {
    struct M a = pattern(4, 4, 3, 2);
    for (int i = 0; i < 4; i++) a.on[i * 33] = 1;
    a.diagonal = 1;
    int bd = 2;
    struct D d = lay_blocks(&a, bd, bd, dir, kind, 0, base);
    cusparseDirection_t D = dir ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
    cusparseOperation_t O = (cusparseOperation_t)op;
    cusparseSetMatFillMode(MD[base], upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER);
    cusparseSetMatDiagType(MD[base], unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT);
    cusparseSolvePolicy_t P = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
    void *x = dev(256), *f = numbers(kind, 8, 21);
    bsrsv2Info_t sv;
    bsrsm2Info_t sm;
    int size = 0, pivot = -7;
    begin("bsrsv2 %s dir %d op %d b%d upper %d unit %d", kinds[kind].name, dir, op, base, upper, unit);
    st(cusparseCreateBsrsv2Info(&sv));
    if (st(FOUR(kind, bsrsv2_bufferSize, H, D, O, 4, (int)d.nnz, MD[base], d.val, d.off, d.ind, bd, sv, &size))) {
        void *b = dev((size_t)size);
        st(FOUR(kind, bsrsv2_analysis, H, D, O, 4, (int)d.nnz, MD[base], d.val, d.off, d.ind, bd, sv, P, b));
        st(FOUR(kind, bsrsv2_solve, H, D, O, 4, (int)d.nnz, S(kind, 2, 0), MD[base], d.val, d.off, d.ind, bd, sv, f, x, P, b));
        st(cusparseXbsrsv2_zeroPivot(H, sv, &pivot));
        results(), printf(" %d", pivot), show(x, kind, 8);
    }
    cusparseDestroyBsrsv2Info(sv);
    printf("\n");
    for (int t = 0; t < 2; t++) {
        begin("bsrsm2 %s dir %d op %d %d b%d upper %d unit %d", kinds[kind].name, dir, op, t, base, upper, unit);
        st(cusparseCreateBsrsm2Info(&sm));
        void *B = numbers(kind, 64, 25), *X = dev(64 * 16);
        cusparseOperation_t T = t ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
        int ld = t ? 3 : 9;
        if (st(FOUR(kind, bsrsm2_bufferSize, H, D, O, T, 4, 3, (int)d.nnz, MD[base], d.val, d.off, d.ind, bd, sm, &size))) {
            void *b = dev((size_t)size);
            st(FOUR(kind, bsrsm2_analysis, H, D, O, T, 4, 3, (int)d.nnz, MD[base], d.val, d.off, d.ind, bd, sm, P, b));
            st(FOUR(kind, bsrsm2_solve, H, D, O, T, 4, 3, (int)d.nnz, S(kind, 2, 0), MD[base], d.val, d.off, d.ind, bd, sm, B, ld, X, ld, P, b));
            st(cusparseXbsrsm2_zeroPivot(H, sm, &pivot));
            results(), printf(" %d", pivot), show(X, kind, t ? 24 : 27);
        }
        cusparseDestroyBsrsm2Info(sm);
        if (!t) printf("\n");
    }
    cusparseSetMatFillMode(MD[base], CUSPARSE_FILL_MODE_LOWER);
    cusparseSetMatDiagType(MD[base], CUSPARSE_DIAG_TYPE_NON_UNIT);
    end();
}

static struct M symmetric(int n, uint64_t seed) {
    struct M a = pattern(n, n, seed, 3);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a.on[i * 32 + j] = i == j || a.on[(i > j ? i : j) * 32 + (i > j ? j : i)];
    a.diagonal = 1;
    return a;
}

static void factors(int kind, int base, int hole, int boost) {
    struct M a = symmetric(6, 7);
    if (hole) a.on[3 * 33] = 0;
    cusparseSolvePolicy_t P = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
    int size = 0, pivot = -7;
    double tol = 1e9;
    {
        struct D d = lay(&a, CSR, kind, 0, base);
        csrilu02Info_t i;
        begin("csrilu02 %s b%d hole %d boost %d", kinds[kind].name, base, hole, boost), st(cusparseCreateCsrilu02Info(&i));
        if (boost) st(FOUR(kind, csrilu02_numericBoost, H, i, 1, &tol, (void *)S(kind, 5, 0)));
        st(FOUR(kind, csrilu02_bufferSize, H, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, i, &size));
        void *b = dev((size_t)size);
        st(FOUR(kind, csrilu02_analysis, H, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, i, P, b));
        st(cusparseXcsrilu02_zeroPivot(H, i, &pivot)), printf(" at %d", pivot);
        st(FOUR(kind, csrilu02, H, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, i, P, b));
        st(cusparseXcsrilu02_zeroPivot(H, i, &pivot)), printf(" at %d", pivot);
        results();
        if (!hole) show(d.val, kind, d.nnz);
        cusparseDestroyCsrilu02Info(i), end();
    }
    {
        struct D d = lay(&a, CSR, kind, 0, base);
        csric02Info_t i;
        begin("csric02 %s b%d hole %d", kinds[kind].name, base, hole), st(cusparseCreateCsric02Info(&i));
        st(FOUR(kind, csric02_bufferSize, H, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, i, &size));
        void *b = dev((size_t)size);
        st(FOUR(kind, csric02_analysis, H, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, i, P, b));
        st(cusparseXcsric02_zeroPivot(H, i, &pivot)), printf(" at %d", pivot);
        st(FOUR(kind, csric02, H, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, i, P, b));
        st(cusparseXcsric02_zeroPivot(H, i, &pivot)), printf(" at %d", pivot);
        results();
        if (!hole) show(d.val, kind, d.nnz);
        cusparseDestroyCsric02Info(i), end();
    }
    struct M q = symmetric(3, 7);
    if (hole) q.on[33] = 0;
    for (int dir = 0; dir < 2; dir++) {
        cusparseDirection_t D = dir ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
        struct D d = lay_blocks(&q, 2, 2, dir, kind, 0, base);
        bsrilu02Info_t i;
        begin("bsrilu02 %s dir %d b%d hole %d boost %d", kinds[kind].name, dir, base, hole, boost), st(cusparseCreateBsrilu02Info(&i));
        if (boost) st(FOUR(kind, bsrilu02_numericBoost, H, i, 1, &tol, (void *)S(kind, 5, 0)));
        st(FOUR(kind, bsrilu02_bufferSize, H, D, 3, (int)d.nnz, MD[base], d.val, d.off, d.ind, 2, i, &size));
        void *b = dev((size_t)size);
        st(FOUR(kind, bsrilu02_analysis, H, D, 3, (int)d.nnz, MD[base], d.val, d.off, d.ind, 2, i, P, b));
        st(cusparseXbsrilu02_zeroPivot(H, i, &pivot)), printf(" at %d", pivot);
        st(FOUR(kind, bsrilu02, H, D, 3, (int)d.nnz, MD[base], d.val, d.off, d.ind, 2, i, P, b));
        st(cusparseXbsrilu02_zeroPivot(H, i, &pivot)), printf(" at %d", pivot);
        results();
        if (!hole) show(d.val, kind, d.nnz * 4);
        cusparseDestroyBsrilu02Info(i), end();
        d = lay_blocks(&q, 2, 2, dir, kind, 0, base);
        bsric02Info_t c;
        begin("bsric02 %s dir %d b%d hole %d", kinds[kind].name, dir, base, hole), st(cusparseCreateBsric02Info(&c));
        st(FOUR(kind, bsric02_bufferSize, H, D, 3, (int)d.nnz, MD[base], d.val, d.off, d.ind, 2, c, &size));
        b = dev((size_t)size);
        st(FOUR(kind, bsric02_analysis, H, D, 3, (int)d.nnz, MD[base], d.val, d.off, d.ind, 2, c, P, b));
        st(cusparseXbsric02_zeroPivot(H, c, &pivot)), printf(" at %d", pivot);
        st(FOUR(kind, bsric02, H, D, 3, (int)d.nnz, MD[base], d.val, d.off, d.ind, 2, c, P, b));
        st(cusparseXbsric02_zeroPivot(H, c, &pivot)), printf(" at %d", pivot);
        results();
        if (!hole) show(d.val, kind, d.nnz * 4);
        cusparseDestroyBsric02Info(c), end();
    }
}

// diagonal is numbers large enough that no pivoting is needed; edge is the index of an element that must be 0, or -1.
static void *diagonals(int kind, int n, int step, uint64_t seed, int large, int edge) {
    void *h = calloc((size_t)(n * step) + 1, 16);
    for (int i = 0; i < n; i++)
        for (int s = 0; s < step; s++) {
            int zero = edge >= 0 ? i < edge : i >= n + edge + 1 && edge < -1;
            put(h, kind, (long)i * step + s, zero ? 0 : number(seed, (uint64_t)(i * 7 + s)) + (large ? 20 : 0), zero || large ? 0 : number(seed + 3, (uint64_t)(i * 7 + s)));
        }
    void *p = up(h, (size_t)(n * step) * (size_t)kinds[kind].size);
    free(h);
    return p;
}

static void bands(int kind, int m, int n) {
    size_t size = 0;
    void *dl = diagonals(kind, m, 1, 1, 0, 1), *d = diagonals(kind, m, 1, 2, 1, -1), *du = diagonals(kind, m, 1, 3, 0, -2);
    for (int pivot = 0; pivot < 2; pivot++) {
        void *B = numbers(kind, (long)(m + 1) * n, 31);
        begin("gtsv2%s %s %d %d", pivot ? "" : "_nopivot", kinds[kind].name, m, n);
        int good = pivot ? st(FOUR(kind, gtsv2_bufferSizeExt, H, m, n, dl, d, du, B, m + 1, &size)) : st(FOUR(kind, gtsv2_nopivot_bufferSizeExt, H, m, n, dl, d, du, B, m + 1, &size));
        if (good) {
            void *b = dev(size);
            if (pivot) st(FOUR(kind, gtsv2, H, m, n, dl, d, du, B, m + 1, b));
            else st(FOUR(kind, gtsv2_nopivot, H, m, n, dl, d, du, B, m + 1, b));
            results(), show(B, kind, (long)(m + 1) * n);
        }
        printf("\n");
    }
    done();
    int batch = 3, stride = m + 2;
    dl = numbers(kind, stride * batch, 1), du = numbers(kind, stride * batch, 3);
    void *h = calloc(1024, 16), *zero = calloc(1, 16);
    for (int i = 0; i < stride * batch; i++) put(h, kind, i, 16 + i % 5, 0);
    d = up(h, (size_t)(stride * batch * kinds[kind].size));
    int es = kinds[kind].size;
    for (int b = 0; b < batch; b++) {
        cudaMemcpy((char *)dl + b * stride * es, zero, (size_t)es, cudaMemcpyHostToDevice);
        cudaMemcpy((char *)du + (b * stride + m - 1) * es, zero, (size_t)es, cudaMemcpyHostToDevice);
    }
    void *x = numbers(kind, stride * batch, 33);
    begin("gtsv2StridedBatch %s %d", kinds[kind].name, m);
    if (st(FOUR(kind, gtsv2StridedBatch_bufferSizeExt, H, m, dl, d, du, x, batch, stride, &size))) {
        st(FOUR(kind, gtsv2StridedBatch, H, m, dl, d, du, x, batch, stride, dev(size)));
        results(), show(x, kind, stride * batch);
    }
    end();
    free(h), free(zero);
    for (int algo = 0; algo < 4; algo++) {
        dl = diagonals(kind, m, batch, 1, 0, 1), d = diagonals(kind, m, batch, 2, 1, -1), du = diagonals(kind, m, batch, 3, 0, -2);
        x = numbers(kind, m * batch, 34);
        begin("gtsvInterleavedBatch %s %d algo %d", kinds[kind].name, m, algo);
        if (st(FOUR(kind, gtsvInterleavedBatch_bufferSizeExt, H, algo, m, dl, d, du, x, batch, &size))) {
            st(FOUR(kind, gtsvInterleavedBatch, H, algo, m, dl, d, du, x, batch, dev(size)));
            results(), show(x, kind, m * batch);
        }
        end();
    }
    for (int algo = 0; algo < 2; algo++) {
        void *ds = diagonals(kind, m, batch, 5, 0, 2), *dw = diagonals(kind, m, batch, 6, 0, -3);
        dl = diagonals(kind, m, batch, 1, 0, 1), d = diagonals(kind, m, batch, 2, 1, -1), du = diagonals(kind, m, batch, 3, 0, -2);
        x = numbers(kind, m * batch, 34);
        begin("gpsvInterleavedBatch %s %d algo %d", kinds[kind].name, m, algo);
        if (st(FOUR(kind, gpsvInterleavedBatch_bufferSizeExt, H, algo, m, ds, dl, d, du, dw, x, batch, &size))) {
            st(FOUR(kind, gpsvInterleavedBatch, H, algo, m, ds, dl, d, du, dw, x, batch, dev(size)));
            results(), show(x, kind, m * batch);
        }
        end();
    }
}

static void conversions(int kind, int base, int dir) {
    struct M a = pattern(7, 6, 3, 3), c = pattern(7, 6, 4, 3);
    struct D da = lay(&a, CSR, kind, 0, base), dc = lay(&c, CSR, kind, 0, base);
    cusparseDirection_t D = dir ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
    int nnz = 0, nnzb = 0, es = kinds[kind].size, isize = 0;
    size_t size = 0;
    void *off = dev(64), *ind = dev(64 * 4), *val = dev(256 * 16);
    // geam
    begin("csrgeam2 %s b%d", kinds[kind].name, base);
    st(FOUR(kind, csrgeam2_bufferSizeExt, H, 7, 6, S(kind, 2, 1), MD[base], (int)da.nnz, da.val, da.off, da.ind, S(kind, 3, 0), MD[base], (int)dc.nnz, dc.val, dc.off, dc.ind, MD[base], val, off, ind, &size));
    void *b = dev(size);
    st(cusparseXcsrgeam2Nnz(H, 7, 6, MD[base], (int)da.nnz, da.off, da.ind, MD[base], (int)dc.nnz, dc.off, dc.ind, MD[base], off, &nnz, b));
    st(FOUR(kind, csrgeam2, H, 7, 6, S(kind, 2, 1), MD[base], (int)da.nnz, da.val, da.off, da.ind, S(kind, 3, 0), MD[base], (int)dc.nnz, dc.val, dc.off, dc.ind, MD[base], val, off, ind, b));
    results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, kind, nnz), printf("\n");
    // csr2bsr and back
    begin("csr2bsr %s b%d dir %d", kinds[kind].name, base, dir);
    void *boff = dev(64), *bind = dev(256), *bval = dev(512 * 16);
    st(cusparseXcsr2bsrNnz(H, D, 7, 6, MD[base], da.off, da.ind, 2, MD[base], boff, &nnzb));
    st(FOUR(kind, csr2bsr, H, D, 7, 6, MD[base], da.val, da.off, da.ind, 2, MD[base], bval, boff, bind));
    results(), printf(" %d", nnzb), show(boff, S32, 5), show(bind, S32, nnzb), show(bval, kind, nnzb * 4), printf("\n");
    begin("bsr2csr %s b%d dir %d", kinds[kind].name, base, dir);
    st(FOUR(kind, bsr2csr, H, D, 4, 3, MD[base], bval, boff, bind, 2, MD[0], val, off, ind));
    results(), show(off, S32, 9), show(ind, S32, nnzb * 4), show(val, kind, nnzb * 4), printf("\n");
    // csr2gebsr, gebsr2csr, gebsr2gebsr, gebsr2gebsc
    begin("csr2gebsr %s b%d dir %d", kinds[kind].name, base, dir);
    st(FOUR(kind, csr2gebsr_bufferSize, H, D, 7, 6, MD[base], da.val, da.off, da.ind, 2, 3, &isize));
    b = dev((size_t)isize);
    st(cusparseXcsr2gebsrNnz(H, D, 7, 6, MD[base], da.off, da.ind, MD[base], boff, 2, 3, &nnzb, b));
    st(FOUR(kind, csr2gebsr, H, D, 7, 6, MD[base], da.val, da.off, da.ind, MD[base], bval, boff, bind, 2, 3, b));
    results(), printf(" %d", nnzb), show(boff, S32, 5), show(bind, S32, nnzb), show(bval, kind, nnzb * 6), printf("\n");
    begin("gebsr2csr %s b%d dir %d", kinds[kind].name, base, dir);
    st(FOUR(kind, gebsr2csr, H, D, 4, 2, MD[base], bval, boff, bind, 2, 3, MD[0], val, off, ind));
    results(), show(off, S32, 9), show(ind, S32, nnzb * 6), show(val, kind, nnzb * 6), printf("\n");
    begin("gebsr2gebsc %s b%d", kinds[kind].name, base);
    void *coff = dev(64), *cind = dev(256), *cval = dev(512 * 16);
    st(FOUR(kind, gebsr2gebsc_bufferSize, H, 4, 2, nnzb, bval, boff, bind, 2, 3, &isize));
    st(FOUR(kind, gebsr2gebsc, H, 4, 2, nnzb, bval, boff, bind, 2, 3, cval, cind, coff, CUSPARSE_ACTION_NUMERIC, ibase(base), dev((size_t)isize)));
    results(), show(coff, S32, 3), show(cind, S32, nnzb), show(cval, kind, nnzb * 6), printf("\n");
    begin("gebsr2gebsr %s b%d dir %d", kinds[kind].name, base, dir);
    int nnzc = 0;
    st(FOUR(kind, gebsr2gebsr_bufferSize, H, D, 4, 2, nnzb, MD[base], bval, boff, bind, 2, 3, 3, 2, &isize));
    b = dev((size_t)isize);
    st(cusparseXgebsr2gebsrNnz(H, D, 4, 2, nnzb, MD[base], boff, bind, 2, 3, MD[base], coff, 3, 2, &nnzc, b));
    st(FOUR(kind, gebsr2gebsr, H, D, 4, 2, nnzb, MD[base], bval, boff, bind, 2, 3, MD[base], cval, coff, cind, 3, 2, b));
    results(), printf(" %d", nnzc), show(coff, S32, 4), show(cind, S32, nnzc), show(cval, kind, nnzc * 6);
    end();
    // csr2csc
    da = lay(&a, CSR, kind, 0, base);
    off = dev(64), ind = dev(256), val = dev(64 * 16);
    for (int numeric = 0; numeric < 2; numeric++) {
        begin("csr2cscEx2 %s b%d numeric %d", kinds[kind].name, base, numeric);
        st(cusparseCsr2cscEx2_bufferSize(H, 7, 6, (int)da.nnz, da.val, da.off, da.ind, val, off, ind, kinds[kind].type, (cusparseAction_t)numeric, ibase(base), CUSPARSE_CSR2CSC_ALG1, &size));
        st(cusparseCsr2cscEx2(H, 7, 6, (int)da.nnz, da.val, da.off, da.ind, val, off, ind, kinds[kind].type, (cusparseAction_t)numeric, ibase(base), CUSPARSE_CSR2CSC_ALG1, dev(size)));
        results(), show(off, S32, 7), show(ind, S32, da.nnz);
        if (numeric) show(val, kind, da.nnz);
        printf("\n");
    }
    if (kind <= C64) {
        // nnz of a dense matrix
        void *A = dev(9 * 6 * 16), *per = dev(64);
        char *h = calloc(9 * 6, 16);
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 6; j++)
                if (a.on[i * 32 + j]) put(h, kind, j * 9 + i, 1 + i, j);
        cudaMemcpy(A, h, (size_t)(54 * es), cudaMemcpyHostToDevice);
        free(h);
        begin("nnz %s dir %d", kinds[kind].name, dir);
        st(FOUR(kind, nnz, H, D, 7, 6, MD[base], A, 9, per, &nnz));
        results(), printf(" %d", nnz), show(per, S32, dir ? 6 : 7), printf("\n");
        begin("csr2csr_compress %s b%d", kinds[kind].name, base);
        void *per2 = dev(64);
        int nc = 0;
        cuComplex tc = {2.5f, 0};
        cuDoubleComplex tz = {2.5, 0};
        if (kind == F32) st(cusparseSnnz_compress(H, 7, MD[base], da.val, da.off, per2, &nc, 2.5f));
        if (kind == F64) st(cusparseDnnz_compress(H, 7, MD[base], da.val, da.off, per2, &nc, 2.5));
        if (kind == C32) st(cusparseCnnz_compress(H, 7, MD[base], da.val, da.off, per2, &nc, tc));
        if (kind == C64) st(cusparseZnnz_compress(H, 7, MD[base], da.val, da.off, per2, &nc, tz));
        if (kind == F32) st(cusparseScsr2csr_compress(H, 7, 6, MD[base], da.val, da.ind, da.off, (int)da.nnz, per2, val, ind, off, 2.5f));
        if (kind == F64) st(cusparseDcsr2csr_compress(H, 7, 6, MD[base], da.val, da.ind, da.off, (int)da.nnz, per2, val, ind, off, 2.5));
        if (kind == C32) st(cusparseCcsr2csr_compress(H, 7, 6, MD[base], da.val, da.ind, da.off, (int)da.nnz, per2, val, ind, off, tc));
        if (kind == C64) st(cusparseZcsr2csr_compress(H, 7, 6, MD[base], da.val, da.ind, da.off, (int)da.nnz, per2, val, ind, off, tz));
        results(), printf(" %d", nc), show(per2, S32, 7), show(off, S32, 8), show(ind, S32, nc), show(val, kind, nc), printf("\n");
        // gemvi
        int at[] = {4 + base, 0 + base, 2 + base};
        for (int op = 0; op < 3; op++) {
            begin("gemvi %s op %d b%d", kinds[kind].name, op, base);
            void *y = numbers(kind, 8, 44);
            st(FOUR(kind, gemvi_bufferSize, H, (cusparseOperation_t)op, 7, 6, 3, &isize));
            st(FOUR(kind, gemvi, H, (cusparseOperation_t)op, 7, 6, S(kind, 2, 1), A, 9, 3, numbers(kind, 3, 43), up(at, sizeof at), S(kind, 3, 0), y, ibase(base), dev((size_t)isize)));
            results(), show(y, kind, op ? 6 : 7), printf("\n");
        }
    }
    end();
}

static void sorts(int base) {
    struct M a = pattern(7, 6, 3, 3);
    struct D d = lay(&a, CSR, F32, 0, base);
    size_t size = 0;
    void *off = dev(64), *row = dev(256), *P = dev(256);
    begin("csr2coo b%d", base), st(cusparseXcsr2coo(H, d.off, (int)d.nnz, 7, row, ibase(base))), results(), show(row, S32, d.nnz), printf("\n");
    begin("coo2csr b%d", base), st(cusparseXcoo2csr(H, row, (int)d.nnz, 7, off, ibase(base))), results(), show(off, S32, 8), printf("\n");
    begin("identity"), st(cusparseCreateIdentityPermutation(H, (int)d.nnz, P)), results(), show(P, S32, d.nnz), printf("\n");
    int n = (int)d.nnz, r[64], c[64], o[8];
    cudaMemcpy(r, row, (size_t)n * 4, cudaMemcpyDeviceToHost), cudaMemcpy(c, d.ind, (size_t)n * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(o, d.off, sizeof o, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 7; i++) // turn every row around
        for (int x = o[i] - base, y = o[i + 1] - base - 1; x < y; x++, y--) { int t = c[x]; c[x] = c[y], c[y] = t; }
    for (int with = 0; with < 2; with++) {
        void *ci = up(c, (size_t)n * 4);
        cusparseCreateIdentityPermutation(H, n, P);
        begin("csrsort b%d P %d", base, with), st(cusparseXcsrsort_bufferSizeExt(H, 7, 6, n, d.off, ci, &size));
        st(cusparseXcsrsort(H, 7, 6, n, MD[base], d.off, ci, with ? P : 0, dev(size))), results(), show(ci, S32, n), show(P, S32, n), printf("\n");
        ci = up(c, (size_t)n * 4);
        cusparseCreateIdentityPermutation(H, n, P);
        begin("cscsort b%d P %d", base, with), st(cusparseXcscsort_bufferSizeExt(H, 6, 7, n, d.off, ci, &size));
        st(cusparseXcscsort(H, 6, 7, n, MD[base], d.off, ci, with ? P : 0, dev(size))), results(), show(ci, S32, n), show(P, S32, n), printf("\n");
        for (int by = 0; by < 2; by++) {
            int rr[64], cc[64];
            for (int i = 0; i < n; i++) rr[i] = r[(i * 5) % n], cc[i] = c[(i * 5) % n];
            void *ri = up(rr, (size_t)n * 4);
            ci = up(cc, (size_t)n * 4);
            cusparseCreateIdentityPermutation(H, n, P);
            begin("coosort %s b%d P %d", by ? "column" : "row", base, with), st(cusparseXcoosort_bufferSizeExt(H, 7, 6, n, ri, ci, &size));
            void *b = dev(size);
            if (by) st(cusparseXcoosortByColumn(H, 7, 6, n, ri, ci, with ? P : 0, b));
            else st(cusparseXcoosortByRow(H, 7, 6, n, ri, ci, with ? P : 0, b));
            results(), show(ri, S32, n), show(ci, S32, n), show(P, S32, n), printf("\n");
        }
    }
    for (int kind = 0; kind < 4; kind++) {
        csru2csrInfo_t u;
        void *ci = up(c, (size_t)n * 4), *v = numbers(kind, n, 71);
        begin("csru2csr %s b%d", kinds[kind].name, base), st(cusparseCreateCsru2csrInfo(&u));
        st(FOUR(kind, csru2csr_bufferSizeExt, H, 7, 6, n, v, d.off, ci, u, &size));
        void *b = dev(size);
        st(FOUR(kind, csru2csr, H, 7, 6, n, MD[base], v, d.off, ci, u, b)), results(), show(ci, S32, n), show(v, kind, n), printf("\n");
        begin("csr2csru %s b%d", kinds[kind].name, base), st(FOUR(kind, csr2csru, H, 7, 6, n, MD[base], v, d.off, ci, u, b));
        results(), show(ci, S32, n), show(v, kind, n), printf("\n");
        cusparseDestroyCsru2csrInfo(u);
    }
    for (int kind = 0; kind < 4; kind++) {
        struct M s = symmetric(8, 7);
        struct D e = lay(&s, CSR, kind, 0, base);
        cusparseColorInfo_t info;
        cusparseCreateColorInfo(&info);
        int colors = 0, col[8], rowp[9], cols[64], bad = 0;
        void *co = dev(64), *re = dev(64);
        begin("csrcolor %s b%d", kinds[kind].name, base);
        st(FOUR(kind, csrcolor, H, 8, (int)e.nnz, MD[base], e.val, e.off, e.ind, S(kind == F64 || kind == C64 ? F64 : F32, 1, 0), &colors, co, re, info));
        cudaMemcpy(col, co, 32, cudaMemcpyDeviceToHost), cudaMemcpy(rowp, e.off, 36, cudaMemcpyDeviceToHost), cudaMemcpy(cols, e.ind, (size_t)e.nnz * 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 8; i++)
            for (int k = rowp[i] - base; k < rowp[i + 1] - base; k++) bad += cols[k] - base != i && col[i] == col[cols[k] - base];
        results(), printf(" %d", bad);
        if (getenv("VERBOSE")) printf(" %d", colors), show(co, S32, 8), show(re, S32, 8);
        printf("\n");
        cusparseDestroyColorInfo(info);
    }
    end();
}

// prune has the types S and D.
#define TWO(kind, name, ...) ((kind) == F32 ? cusparseS##name(__VA_ARGS__) : cusparseD##name(__VA_ARGS__))
static void prunes(int kind, int base) {
    struct M a = pattern(7, 6, 3, 2);
    struct D d = lay(&a, CSR, kind, 0, base);
    size_t size = 0;
    int nnz = 0;
    void *A = numbers(kind, 9 * 6, 81), *off = dev(64), *ind = dev(256), *val = dev(64 * 8);
    begin("pruneDense2csr %s b%d", kinds[kind].name, base);
    st(TWO(kind, pruneDense2csr_bufferSizeExt, H, 7, 6, A, 9, S(kind, 2, 0), MD[base], val, off, ind, &size));
    void *b = dev(size);
    st(TWO(kind, pruneDense2csrNnz, H, 7, 6, A, 9, S(kind, 2, 0), MD[base], off, &nnz, b));
    st(TWO(kind, pruneDense2csr, H, 7, 6, A, 9, S(kind, 2, 0), MD[base], val, off, ind, b));
    results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, kind, nnz), printf("\n");
    begin("pruneCsr2csr %s b%d", kinds[kind].name, base);
    st(TWO(kind, pruneCsr2csr_bufferSizeExt, H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, S(kind, 2, 0), MD[base], val, off, ind, &size));
    b = dev(size);
    st(TWO(kind, pruneCsr2csrNnz, H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, S(kind, 2, 0), MD[base], off, &nnz, b));
    st(TWO(kind, pruneCsr2csr, H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, S(kind, 2, 0), MD[base], val, off, ind, b));
    results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, kind, nnz), printf("\n");
    for (int p = 0; p <= 100; p += 20) {
        pruneInfo_t info;
        cusparseCreatePruneInfo(&info);
        begin("pruneDense2csrByPercentage %s b%d %d", kinds[kind].name, base, p);
        st(TWO(kind, pruneDense2csrByPercentage_bufferSizeExt, H, 7, 6, A, 9, (float)p, MD[base], val, off, ind, info, &size));
        b = dev(size);
        st(TWO(kind, pruneDense2csrNnzByPercentage, H, 7, 6, A, 9, (float)p, MD[base], off, &nnz, info, b));
        st(TWO(kind, pruneDense2csrByPercentage, H, 7, 6, A, 9, (float)p, MD[base], val, off, ind, info, b));
        results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, kind, nnz), printf("\n");
        begin("pruneCsr2csrByPercentage %s b%d %d", kinds[kind].name, base, p);
        st(TWO(kind, pruneCsr2csrByPercentage_bufferSizeExt, H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, (float)p, MD[base], val, off, ind, info, &size));
        b = dev(size);
        st(TWO(kind, pruneCsr2csrNnzByPercentage, H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, (float)p, MD[base], off, &nnz, info, b));
        st(TWO(kind, pruneCsr2csrByPercentage, H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, (float)p, MD[base], val, off, ind, info, b));
        results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, kind, nnz), printf("\n");
        cusparseDestroyPruneInfo(info);
    }
    end();
}

int main(void) {
    cusparseCreate(&H);
    cusparseCreateMatDescr(&MD[0]), cusparseCreateMatDescr(&MD[1]);
    cusparseSetMatIndexBase(MD[1], CUSPARSE_INDEX_BASE_ONE);
    for (int kind = 0; kind < 4; kind++)
        for (int base = 0; base < 2; base++) {
            for (int dir = 0; dir < 2; dir++)
                for (int op = 0; op < 3; op++) bsr(kind, dir, op, base, op == 0 ? 2 + dir : 2);
            for (int i = 0; i < 12; i++) bsr_solve(kind, i & 1, i % 3, base, i >> 1 & 1, i >> 2 & 1);
            factors(kind, base, 0, 0), factors(kind, base, 1, 0), factors(kind, base, 0, 1);
            conversions(kind, base, 0), conversions(kind, base, 1);
        }
    for (int kind = 0; kind < 4; kind++) bands(kind, 3, 1), bands(kind, 8, 2), bands(kind, 13, 3);
    for (int base = 0; base < 2; base++) sorts(base), prunes(F32, base), prunes(F64, base);
    cusparseDestroy(H);
    return 0;
}
